"""The story language: its grammar format, what it writes, and the judge."""

import random
import re

import pytest

from llm_gen.story import STORIES, Judge, judge, split_pieces
from llm_gen.story.grammar import Grammar
from llm_gen.story.lexicon import parse_lexicon

STORY = (
    "Rosa was a kind girl who lived in a tent by the lake. Every day she met her friend Noah. "
    "Rosa had a golden boat and loved to sail it on the pond. "
    "One day Rosa played in the meadow. On the way home she saw that the golden boat was not there. "
    '"Where is my boat?" cried Rosa. At the door of the tent she met Noah. '
    '"Let us look for it in the meadow," said Noah. In the meadow, under a hedge, Noah saw something golden. '
    'It was the boat! "Thank you, Noah!" said Rosa. Rosa never lost the boat again. And Rosa still lives in the tent.'
)
WORDS = parse_lexicon("[folk he]\nAda | she\nBob | he\n[thing]\napple\nred hat ")


def sample(seed: object, grammar: Grammar = STORIES) -> str:
    return grammar.sample(random.Random(seed))


def test_a_seed_gives_one_story_and_seeds_give_different_ones():
    assert sample(1) == sample(1)
    assert len({sample(seed) for seed in range(200)}) == 200


def test_stories_have_the_size_and_the_vocabulary_that_the_model_card_promises():
    stories = [sample(seed) for seed in range(800)]
    lengths = [len(story.split()) for story in stories]
    words = {word.lower() for story in stories for word in re.findall(r"[A-Za-z]+", story)}
    assert min(lengths) >= 50
    assert max(lengths) <= 150
    assert 600 <= len(words) <= 1000


def test_stories_are_well_written():
    for seed in range(300):
        story = sample(seed)
        assert not re.search(r"\ba [aeiou]|\ban [^aeiouh]|  | [.,!?]|[{}<>|]", story), story
        assert re.match(r'["A-Z]', story), story
        assert story.count('"') % 2 == 0, story
        assert all(re.match(r'"?[A-Z]', after) for after in re.findall(r"[.!?] (.{2})", story)), story


def test_pieces_join_to_the_text_and_are_what_the_grammar_wrote():
    for seed in range(100):
        pieces = STORIES.sample_pieces(random.Random(seed))
        assert list(split_pieces("".join(pieces))) == pieces
    odd = "Tom's  ball\n\nwas_3 “blue”… it 's\t"
    assert "".join(split_pieces(odd)) == odd


def test_variables_keep_their_value_and_two_variables_never_share_one():
    grammar = Grammar("Story:\n  {x:folk} met {y:folk}. {x} and {y} ate {z:thing.a}. {y.He} liked the {z}.", WORDS)
    texts = {sample(seed, grammar) for seed in range(100)}
    assert texts == {
        f"{x} met {y}. {x} and {y} ate {a}. {he} liked the {thing}."
        for x, y, he in [("Ada", "Bob", "He"), ("Bob", "Ada", "She")]
        for a, thing in [("an apple", "apple"), ("a red hat", "red hat")]
    }


def test_aliases_groups_weights_and_empty_alternatives():
    rules = "Story:\n  {x:folk}{y=x} (ran|sat)<how>.\nhow:\n  3* -\n  , and {y} sang"
    grammar = Grammar(rules, WORDS)
    texts = [sample(seed, grammar) for seed in range(400)]
    assert {"Ada ran.", "Bob sat.", "Bob ran, and Bob sang.", "Ada sat, and Ada sang."} <= set(texts)
    assert not any("Ada" in text and "Bob" in text for text in texts)
    assert 70 <= sum("sang" in text for text in texts) <= 130  # 100 expected; odds of missing are below 1e-3


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("Story:\n  {x:nobody}.", "class 'nobody' does not exist"),
        ("Story:\n  {x:folk} and {x:thing}.", "variable 'x' cannot be a thing, it is a folk"),
        ("Story:\n  {x} ran.", "variable 'x' is bound nowhere"),
        ("Story:\n  {x:folk.her} ran.", "'Ada' has no form 'her'"),
        ("Story:\n  <Nothing>", "rule 'Nothing' does not exist"),
    ],
)
def test_mistakes_in_a_grammar_are_named(rules, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Grammar(rules, WORDS)


def test_the_judge_accepts_what_the_grammar_writes():
    for seed in range(60):
        verdict = judge(sample(f"judge {seed}"))
        assert verdict.grammatical and verdict.consistent and verdict.character is None, verdict


def test_the_judge_accepts_every_beginning_of_a_story_and_only_the_whole_as_a_whole():
    for cut in range(len(STORY)):
        assert judge(STORY[:cut], partial=True).consistent, STORY[:cut]
    assert judge(STORY).consistent
    assert not any(judge(STORY[:cut]).consistent for cut in range(0, len(STORY), 7))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("golden boat was", "green boat was", "the look of this story is golden: expected 'golden', found 'green'"),
        ("cried Rosa", "cried Anna", "the hero of this story is Rosa: expected 'Rosa', found 'Anna'"),
        ("she saw", "he saw", "the hero of this story is Rosa: expected 'she', found 'he'"),
        ("her friend", "his friend", "the hero of this story is Rosa: expected 'her', found 'his'"),
        ("was the boat", "was the kite", "the thing of this story is boat: expected 'boat', found 'kite'"),
        ("you, Noah", "you, Peter", "the friend of this story is Noah: expected 'Noah', found 'Peter'"),
        ("you, Noah", "you, Rosa", "the friend of this story is Noah: expected 'Noah', found 'Rosa'"),
        ("in the meadow,", "in the forest,", "the place of this story is meadow: expected 'meadow', found 'forest'"),
        ("under a hedge", "under a bench", "the story cannot go on with 'bench' here; it could go on with 'hedge'"),
        ("lives in the tent", "lives in the tower", "the home of this story is tent: expected 'tent', found 'tower'"),
        (
            "Rosa had a golden boat and loved to sail it on the pond.",
            "And so Noah won the race.",
            "the story cannot go on with 'And' here; it could go on with ",
        ),
    ],
)
def test_inconsistent_but_grammatical(old, new, reason):
    assert STORY.count(old) == 1
    text = STORY.replace(old, new)
    verdict = judge(text)
    assert verdict.grammatical
    assert not verdict.consistent
    changed = next(i for i, (a, b) in enumerate(zip(text, STORY)) if a != b)
    assert verdict.character <= changed < verdict.character + 12
    assert verdict.word == len(re.findall(r"[A-Za-z]+", text[: verdict.character]))
    assert verdict.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        (STORY.replace("One day", "Oen day"), STORY.index(" One day"), "no sentence goes on with 'Oen' here"),
        (STORY.replace("Rosa had", "Rosa have"), STORY.index(" had"), "no sentence goes on with 'have' here"),
        (STORY.replace("met her", "met"), STORY.index(" her friend"), "no sentence goes on with 'friend' here"),
        (STORY + " x", len(STORY), "no sentence goes on with 'x' here"),
        ("Rosa was a", 10, "the text stops inside a sentence, which could go on with"),
        ("", 0, "the text stops inside a sentence"),
        ("Rosa était là.", 4, "no sentence goes on with 'était' here"),
    ],
)
def test_ungrammatical(text, character, reason):
    verdict = judge(text)
    assert (verdict.grammatical, verdict.consistent) == (False, False)
    assert verdict.character == character
    assert verdict.reason.startswith(reason)


def test_a_story_that_stops_early_or_goes_on_is_grammatical_but_not_consistent():
    early = judge(STORY[: STORY.index(" At the door")])
    assert early.grammatical and not early.consistent
    assert early.reason.startswith("the story stops before its end")
    late = judge(STORY + " Rosa never lost the boat again.")
    assert late.grammatical and not late.consistent
    assert late.character == len(STORY)
    assert late.reason == "the story is over, but the text goes on with 'Rosa'"


def test_a_name_of_the_wrong_kind_is_not_blamed_on_one_hero():
    verdict = judge("Once upon a time there was a kind girl named Tom", partial=True)
    assert verdict.reason == "the story cannot go on with 'Tom' here; it could go on with 'Anna', 'Lily', 'Mia'"


def test_a_second_person_must_be_another_one():
    judge_pairs = Judge(Grammar("Story:\n  {x:folk} met {y:folk}.", WORDS))
    assert judge_pairs("Ada met Bob.").consistent
    verdict = judge_pairs("Ada met Ada.")
    assert verdict.grammatical and not verdict.consistent
    assert verdict.reason == "'Ada' already is the x of this story"


def test_classes_that_differ_in_a_number_keep_apart_in_a_story_and_mix_in_a_loose_text():
    words = parse_lexicon("[folk he]\nAda, Eve | she\n[folk2 he]\nBob | he")
    grammar = Grammar("Story:\n  {x:folk} met {y:folk2}. {x} ran.", words)
    assert {sample(seed, grammar) for seed in range(50)} == {"Ada met Bob. Ada ran.", "Eve met Bob. Eve ran."}
    verdict = Judge(grammar)("Ada met Bob. Bob ran.")
    assert (verdict.grammatical, verdict.consistent) == (True, False)
    assert verdict.reason == "the x of this story is Ada: expected 'Ada', found 'Bob'"


def test_the_judge_takes_text_only():
    with pytest.raises(TypeError, match="text must be a str, got None"):
        judge(None)
