"""The truth against brute force: on a miniature grammar every story can be listed, so every conditional is known."""

import math
import random
import re

import pytest
import torch
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from llm_gen.story import STORIES, NotInLanguage, Truth, filtering
from llm_gen.story.grammar import END, Grammar
from llm_gen.story.lexicon import parse_lexicon
from llm_gen.tokenizer import Tokenizer
from llm_gen.train_tiny import train_tokenizer

# Two derivations of one text, a choice that shows only later, a name that begins another, an alias, an empty phrase.
MINIATURE = Grammar(
    """
Story:
  2* <Open> {owner=hero} <End>
  <Open> <Give> <End>
Open:
  3* {hero:folk} had (a|one|a) {thing:thing}.
  Once there was {hero:folk.a}. {hero.He} had {thing:thing.a}(|| and {:thing.a}).
Give:
  {hero} gave it to {owner:folk}.
End:
  "My {thing}!" said {owner}.
  {owner} kept the {thing}<how>.
how:
  2* -
  , and {owner.he} ate it
""",
    parse_lexicon("[folk he]\nAn | she\nAnna | she\n[thing]\napple\napple pie"),
)


def every_story(state=MINIATURE.start):
    for p, piece, following in MINIATURE.expand(state):
        if piece == END:
            yield (), p
        else:
            for pieces, q in every_story(following):
                yield (piece, *pieces), p * q


def list_stories() -> dict[str, float]:
    stories = {}
    for pieces, p in every_story():
        text = "".join(pieces)
        stories[text] = stories.get(text, 0.0) + p
    return stories


def make_tokenizer(vocab_size: int, bos: str | None, pre_tokenizer) -> Tokenizer:
    backend = Backend(models.BPE())
    backend.pre_tokenizer, backend.decoder = pre_tokenizer, decoders.ByteLevel()
    special = ["<eos>"] + ([bos] if bos else [])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [MINIATURE.sample(random.Random(seed)) for seed in range(200)]
    backend.train_from_iterator(texts, trainer)
    return Tokenizer(backend, eos_token="<eos>", bos_token=bos)


BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)
FINER = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), BYTE_LEVEL])
TOKENIZERS = {
    "some merges": lambda: make_tokenizer(275, "<bos>", BYTE_LEVEL),
    "bytes alone, no bos": lambda: make_tokenizer(257, None, BYTE_LEVEL),
    "whole words": lambda: make_tokenizer(400, "<bos>", BYTE_LEVEL),
    "quotes apart": lambda: make_tokenizer(300, None, FINER),
}


@pytest.fixture(params=TOKENIZERS, scope="module")
def tokenizer(request):
    return TOKENIZERS[request.param]()


def encode(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    bos = [] if tokenizer.bos_id is None else [tokenizer.bos_id]
    return (*bos, *tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_id)


def test_the_listed_stories_are_all_and_the_grammar_is_ambiguous():
    assert math.isclose(sum(list_stories().values()), 1.0, abs_tol=1e-12)
    assert len(list_stories()) < len(list(every_story()))
    assert {MINIATURE.sample(random.Random(seed)) for seed in range(2000)} <= set(list_stories())


def test_every_conditional_equals_the_one_counted_from_all_stories(tokenizer):
    table: dict[tuple[int, ...], dict[int, float]] = {}
    for text, p in list_stories().items():
        ids = encode(tokenizer, text)
        for cut in range(len(ids)):
            following = table.setdefault(ids[:cut], {})
            following[ids[cut]] = following.get(ids[cut], 0.0) + p
    beliefs = [((), Truth(tokenizer, MINIATURE).start())]
    while beliefs:
        prefix, belief = beliefs.pop()
        counted = table.pop(prefix, {})
        total = sum(counted.values())
        assert belief.next() == pytest.approx({token: p / total for token, p in counted.items()}, rel=1e-12)
        beliefs += [((*prefix, token), belief.read(token)) for token in counted]
    assert not table


def test_the_product_of_conditionals_is_the_probability_of_the_story(tokenizer):
    truth = Truth(tokenizer, MINIATURE)
    for text, p in list_stories().items():
        ids = encode(tokenizer, text)
        rows = truth.along(ids)
        product = rows[torch.arange(len(ids)), list(ids)].prod().item()
        assert math.isclose(product, p, rel_tol=1e-12)
        assert math.isclose(truth.log_prob(ids), math.log(p), rel_tol=1e-12)


def test_nothing_lies_along_no_tokens(tokenizer):
    rows = Truth(tokenizer, MINIATURE).along([])
    assert rows.shape == (0, tokenizer.vocab_size) and rows.dtype == torch.float64


def test_samples_follow_the_listed_probabilities():
    drawn = 8_000
    rng = random.Random(0)
    stories = list_stories()
    counts = dict.fromkeys(stories, 0)
    for _ in range(drawn):
        counts[MINIATURE.sample(rng)] += 1
    chi_square = sum((counts[text] - drawn * p) ** 2 / (drawn * p) for text, p in stories.items())
    freedom = len(stories) - 1
    assert abs(chi_square - freedom) < 4 * math.sqrt(2 * freedom)  # false alarm below 1e-4; the seed is fixed


@pytest.fixture(scope="module")
def story_truth():
    return Truth(train_tokenizer(700, stories=300))


def test_moves_that_were_forgotten_are_found_anew(story_truth, monkeypatch):
    ids = [*story_truth.tokenizer.encode(STORIES.sample(random.Random(5))), story_truth.tokenizer.eos_id]
    expected = story_truth.along(ids)
    monkeypatch.setattr(filtering, "KNOWN_STATES", 3)
    forgetful = Truth(story_truth.tokenizer, checked=1)
    assert torch.equal(forgetful.along(ids), expected)
    assert len(forgetful.language._moves) <= 3


def test_the_distributions_along_real_stories_sum_to_one_and_multiply_to_the_story(story_truth):
    for seed in range(8):
        text = STORIES.sample(random.Random(f"truth {seed}"))
        ids = [*story_truth.tokenizer.encode(text), story_truth.tokenizer.eos_id]
        rows = story_truth.along(ids)
        torch.testing.assert_close(rows.sum(-1), torch.ones(len(ids), dtype=torch.float64), rtol=0, atol=1e-12)
        chosen = rows[torch.arange(len(ids)), ids]
        assert (chosen > 0).all()
        assert math.isclose(chosen.log().sum().item(), story_truth.log_prob(ids), rel_tol=1e-12)


def test_some_places_are_sure_and_some_are_wide_open(story_truth):
    ids = story_truth.tokenizer.encode("Once upon a time there was")
    assert story_truth.probs(ids[:-1]).max() == 1.0
    has = " a kind girl named Anna, who lived in a tent by the sea. Her best friend was Emma. Anna had a"
    sizes = [
        (story_truth.probs(ids + story_truth.tokenizer.encode(more, add_special_tokens=False)) > 0).sum()
        for more in ("", " a", has)
    ]
    assert sizes[0] == 2  # a, an
    assert sizes[1] >= 10
    assert sizes[2] >= 8


def refusal(truth, ids) -> NotInLanguage:
    with pytest.raises(NotInLanguage) as caught:
        truth.probs(ids)
    return caught.value


def test_a_prefix_of_no_story_is_refused_where_it_leaves_the_language(story_truth):
    tokenizer = story_truth.tokenizer
    ids = tokenizer.encode("Once upon a time the moon")
    at = len(tokenizer.encode("Once upon a time"))
    error = refusal(story_truth, ids)
    assert error.position == at
    assert error.found == tokenizer.token_text(ids[at])
    assert error.expected == {" there": 1.0}
    assert "one of ' there'" in str(error)
    assert story_truth.log_prob(ids) == -math.inf


def test_nothing_follows_the_end_of_a_story(story_truth):
    text = STORIES.sample(random.Random(5))
    ids = [*story_truth.tokenizer.encode(text), story_truth.tokenizer.eos_id]
    assert refusal(story_truth, ids).position == len(ids)
    assert "the story is over" in str(refusal(story_truth, ids))
    assert refusal(story_truth, [*ids, ids[1]]).position == len(ids)
    assert refusal(story_truth, ids[:20] + ids[-1:]).found == "<eos>"


def test_another_spelling_of_a_story_is_not_in_the_language_and_the_error_says_why(story_truth):
    tokenizer = story_truth.tokenizer
    letters = [tokenizer.bos_id, *map(tokenizer.backend.token_to_id, "Once")]
    error = refusal(story_truth, letters)
    assert error.position <= 4
    assert "the tokenizer spells it otherwise" in str(error)


@pytest.mark.parametrize("ids", [[2], [0], [5], [1, 1]])
def test_control_tokens_in_odd_places_are_refused(story_truth, ids):
    assert refusal(story_truth, ids).position == len(ids) - 1


@pytest.mark.parametrize(
    ("ids", "kind"), [([True], TypeError), ([1.5], TypeError), ([-1], ValueError), (["a"], TypeError)]
)
def test_ids_must_be_integers(story_truth, ids, kind):
    with pytest.raises(kind, match="token must be an integer"):
        story_truth.probs(ids)


def test_ids_must_lie_in_the_vocabulary(story_truth):
    for ask in (story_truth.read, story_truth.along, story_truth.log_prob):
        with pytest.raises(ValueError, match="token must lie in the vocabulary"):
            ask([1, 99999])


def test_tensors_are_welcome_and_a_belief_can_branch(story_truth):
    ids = story_truth.tokenizer.encode("Once upon a time there was a")
    assert torch.equal(story_truth.probs(torch.tensor(ids)), story_truth.probs(ids))
    belief = story_truth.read(ids)
    before = belief.next()
    ends = [belief.read(token) for token in before]
    assert belief.next() == before
    assert len({re.sub(r"\s", "", str(sorted(end.next()))) for end in ends}) > 1


def test_a_tokenizer_that_merges_across_pieces_is_refused():
    merging = make_tokenizer(400, None, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    with pytest.raises(ValueError, match="tokenizer must encode a story piece by piece"):
        Truth(merging, MINIATURE)


def test_a_tokenizer_without_an_end_is_refused():
    endless = Tokenizer(make_tokenizer(300, None, BYTE_LEVEL).backend)
    with pytest.raises(ValueError, match="tokenizer must have an <eos>"):
        Truth(endless, MINIATURE)
