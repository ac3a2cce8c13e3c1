"""Speculative decoding: the target's own greedy text, token for token; test_parity_beyond.py proves its law."""

import itertools
import runpy
import sys
from pathlib import Path

import pytest
import torch
from stubs import FAMILIES, Stub, fresh_tiny, tiny, watch_caches

from llm_gen import generate
from llm_gen.beyond import (
    Round,
    SpeculativeResult,
    corpus_lookup,
    expected_tokens,
    prompt_lookup,
    residual,
    speculative_generate,
)


def test_s01_after_a_refusal_nothing_is_filtered_again():
    rest = residual(torch.tensor([0.2, 0.6, 0.2]), torch.tensor([0.6, 0.2, 0.2]))
    torch.testing.assert_close(rest, torch.tensor([0.0, 1.0, 0.0]))
    same = torch.tensor([0.5, 0.5])
    assert torch.equal(residual(same, same), same)
    torch.testing.assert_close(
        residual(torch.tensor([0.1, 0.5, 0.4]), torch.tensor([1.0, 0.0, 0.0])), torch.tensor([0.0, 5 / 9, 4 / 9])
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_s02_greedy_is_the_targets_own_text_past_window_and_context_too(family):
    target, near = tiny(family, max_len=24), fresh_tiny(family, max_len=24)
    with torch.no_grad():
        for parameter, original in zip(near.parameters(), target.parameters()):
            parameter.copy_(original * 1.05)
    x = torch.tensor([[3, 1, 4, 1, 5]])
    for draft, eos in ((near, None), (tiny(family, max_len=24, seed=5), 9), (prompt_lookup, None), (target, [2, 9])):
        for count in (1, 2, 30):
            found = speculative_generate(target, draft, x, count, False, guesses=3, eos_token_id=eos)
            assert torch.equal(found.sequences, generate(target, x, count, False, eos_token_id=eos))
            assert 0 <= found.accepted <= found.guessed
    assert found.acceptance_rate > 0.5


def test_a_draft_that_is_the_target_is_never_refused():
    target, x = tiny("LLaMA", max_len=64), torch.tensor([[3, 1, 4]])
    found = speculative_generate(
        target, target, x, 40, True, 0.9, top_p=0.9, guesses=4, generator=torch.Generator().manual_seed(0)
    )
    assert found.acceptance_rate == 1 and found.target_passes == 8 and found.sequences.shape == (1, 43)


def test_filters_bind_draft_and_target_alike():
    target, draft, x = tiny("GPT2"), tiny("GPT2", seed=3), torch.tensor([[3, 1]])
    text = speculative_generate(
        target, draft, x, 30, True, top_k=2, generator=torch.Generator().manual_seed(1)
    ).sequences
    for end in range(2, text.shape[1]):
        assert text[0, end] in target(text[:, :end])[0, -1].topk(2).indices


@pytest.mark.parametrize("family", ["LLaMA", "Mistral"])
def test_both_caches_are_cut_back_and_no_column_is_read_again(family, monkeypatch):
    """A pass of the target reads the newest token and the guesses; one of the draft what it has not read."""
    fed, dice = watch_caches(monkeypatch), torch.Generator().manual_seed(0)
    target, draft, x = tiny(family, max_len=99), tiny(family, max_len=99, seed=5), torch.tensor([[3, 1, 4, 1, 5]])
    found = speculative_generate(target, draft, x, 40, True, guesses=3, generator=dice)
    assert fed[:4] == [(1, 5), (1, 1), (1, 1), (1, 5 + 3)]
    place = 4
    for before, each in itertools.pairwise(found.rounds):
        sizes = [columns for _rows, columns in fed[place : place + len(each.guessed) + 1]]
        unread = 1 + (before.accepted == len(before.guessed))  # a last guess that stayed was never read by its author
        expected = [unread, *[1] * (len(each.guessed) - 1)] if each.guessed else []
        assert sizes == [*expected, len(each.guessed) + 1]
        place += len(sizes)
    assert place == len(fed) and 0 < found.acceptance_rate < 1


def test_greedy_takes_no_random_numbers():
    model, generator = Stub("NEXT"), torch.Generator().manual_seed(0)
    state, before = generator.get_state(), torch.get_rng_state()
    speculative_generate(model, prompt_lookup, torch.tensor([[1, 2]]), 5, False, generator=generator)
    assert torch.equal(state, generator.get_state()) and torch.equal(before, torch.get_rng_state())


def test_corpus_lookup_names_what_followed_there():
    guess = corpus_lookup([[1, 2, 3, 4, 5], [9, 3, 7], []], size=2, count=2)
    assert guess(torch.tensor([8, 2, 3])) == [4, 5]
    assert guess(torch.tensor([9, 3])) == [7]
    assert guess(torch.tensor([8, 3])) == [4, 5]  # the longer ending is new: the shorter one, at its first place
    assert guess(torch.tensor([4])) == [5]
    assert guess(torch.tensor([3, 5])) == [] and guess(torch.tensor([6])) == []
    assert corpus_lookup([[1, 2]], count=0)(torch.tensor([1])) == []
    assert corpus_lookup([])(torch.tensor([1])) == []
    assert corpus_lookup(torch.tensor([[1, 2], [2, 3]]))(torch.tensor([2])) == [3]


def test_corpus_lookup_guesses_a_text_that_it_has_read():
    model, x = tiny("LLaMA", max_len=40), torch.tensor([[1, 2]])
    text = generate(model, x, 30, False)
    found = speculative_generate(model, corpus_lookup([text[0].tolist()], size=32), x, 30, False, guesses=4)
    assert torch.equal(found.sequences, text)
    assert found.target_passes == 6 and found.acceptance_rate == 1


@pytest.mark.parametrize(
    "change, error, words",
    [
        ({"texts": [["1", 2]]}, TypeError, "token must be an integer"),
        ({"texts": [1, 2, 3]}, TypeError, "texts must hold rows of token ids, got 1"),
        ({"texts": torch.tensor([1, 2])}, TypeError, r"texts must hold rows of token ids, got tensor\(1\)"),
        ({"texts": torch.zeros(1, 1, 1).long()}, TypeError, "texts must hold rows of token ids"),
        ({"texts": None}, TypeError, "texts must hold rows of token ids, got None"),
        ({"texts": [[1, -2]]}, ValueError, "token must be an integer >= 0, got -2"),
        ({"size": 0}, ValueError, "size must be an integer >= 1, got 0"),
        ({"count": -1}, ValueError, "count must be an integer >= 0, got -1"),
    ],
)
def test_corpus_lookup_refuses_what_is_no_text(change, error, words):
    with pytest.raises(error, match=words):
        corpus_lookup(**{"texts": [[1, 2]], **change})


@pytest.mark.parametrize("text, error", [(torch.ones(2), TypeError), (torch.tensor([[1, 2]]), ValueError)])
def test_a_lookup_in_texts_refuses_what_is_no_row_of_ids(text, error):
    with pytest.raises(error, match="text must"):
        corpus_lookup([[1, 2]])(text)


def test_prompt_lookup_names_what_came_last_time():
    assert prompt_lookup(torch.tensor([1, 2, 3, 9, 1, 2]), size=2, count=3) == [3, 9, 1]
    assert prompt_lookup(torch.tensor([5, 1, 5, 2, 5]), count=1) == [2]
    assert prompt_lookup(torch.tensor([1, 2, 3])) == [] and prompt_lookup(torch.tensor([1])) == []
    assert prompt_lookup(torch.tensor([1, 2, 1]), count=0) == []


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((torch.tensor([[1, 2, 1]]),), ValueError, r"text must have shape \(S,\), one row of token ids, got \(1, 3\)"),
        ((torch.tensor(1),), ValueError, r"text must have shape \(S,\)"),
        (([1, 2, 1],), TypeError, "text must be a tensor of token ids, got list"),
        ((torch.tensor([1.0, 2.0, 1.0]),), TypeError, "text must be a tensor of token ids, got torch.float32"),
        ((torch.tensor([1, 2, 1]), 0), ValueError, "size must be an integer >= 1, got 0"),
        ((torch.tensor([1, 2, 1]), 3, -1), ValueError, "count must be an integer >= 0, got -1"),
    ],
)
def test_prompt_lookup_refuses_what_is_no_row_of_ids(arguments, error, words):
    with pytest.raises(error, match=words):
        prompt_lookup(*arguments)


def test_repeating_text_needs_few_passes():
    model = Stub("NEXT", vocab_size=5)
    x = torch.tensor([[0, 1, 2, 3, 4, 0, 1]])
    found = speculative_generate(model, prompt_lookup, x, 20, False, guesses=4)
    assert found.sequences.tolist() == generate(model, x, 20, False).tolist()
    assert found.target_passes == 4
    assert found.rounds[0] == Round((2, 3, 4, 0), 4, (2, 3, 4, 0, 1))
    assert found.tokens_per_pass == 5 and found.acceptance_rate == 1


def test_a_guess_after_a_refused_one_is_not_judged():
    rounds = (
        Round((1, 2, 3), 1, (1, 9)),
        Round((1, 2, 3), 3, (1, 2, 3, 4)),
        Round((7, 7, 7), 0, (5,)),
        Round((), 0, (6,)),
    )
    found = SpeculativeResult(torch.zeros((1, 9)), rounds)
    assert (found.guessed, found.accepted, found.target_passes) == (9, 4, 4)
    assert found.acceptance_rate == pytest.approx(4 / 6)
    assert found.tokens_per_pass == pytest.approx(8 / 4)
    nothing = SpeculativeResult(torch.zeros((1, 1)), ())
    assert nothing.acceptance_rate == nothing.tokens_per_pass == 0


def test_the_benchmark_prints_a_line_for_each_number_of_guesses_and_setting(monkeypatch, capsys):
    path = Path(__file__).parent.parent / "benchmarks" / "speculation.py"
    monkeypatch.setattr(sys, "argv", [str(path), "--only", "tiny", "--tokens", "6", "--seeds", "1"])
    runpy.run_path(str(path), run_name="__main__")
    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [(line[2], line[3]) for line in lines] == [
        (settings, guesses) for guesses in "248" for settings in ("greedy", "temperature 1, top-p 0.9")
    ]
    for _target, _draft, _settings, guesses, rate, measured, expected, _speed in lines:
        assert 0 <= float(rate) <= 1 <= float(measured) <= 1 + int(guesses)
        assert float(expected) == pytest.approx(expected_tokens(float(rate), int(guesses)), abs=0.2)


@pytest.mark.parametrize(("rate", "guesses"), [(0.0, 4), (0.5, 0), (0.5, 1), (0.8, 4), (1.0, 6)])
def test_expected_tokens_are_those_of_the_tree_of_all_cases(rate, guesses):
    """A round that keeps k guesses gives k + 1 tokens; it keeps k < guesses with rate^k (1 - rate)."""
    kept = [rate**k * (1 - rate) for k in range(guesses)] + [rate**guesses]
    assert sum(kept) == pytest.approx(1)
    assert expected_tokens(rate, guesses) == pytest.approx(sum((k + 1) * chance for k, chance in enumerate(kept)))
    if rate < 1:
        assert expected_tokens(rate, guesses) == pytest.approx((1 - rate ** (guesses + 1)) / (1 - rate))


@pytest.mark.parametrize(
    ("rate", "guesses", "words"),
    [
        (1.1, 2, r"rate must lie in \[0, 1\], got 1.1"),
        (-0.1, 2, r"rate must lie in \[0, 1\]"),
        (float("nan"), 2, "rate must be finite"),
        (0.5, -1, "guesses must be an integer >= 0"),
    ],
)
def test_expected_tokens_refuse_wrong_numbers_by_name(rate, guesses, words):
    with pytest.raises(ValueError, match=words):
        expected_tokens(rate, guesses)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"x": torch.tensor([[1], [2]])}, ValueError, "x must have one row, got 2"),
        ({"draft": Stub("NEXT", vocab_size=9)}, ValueError, "draft must have the target's vocabulary of 10, got 9"),
        ({"draft": 3}, TypeError, "draft must be a model or a function"),
        ({"draft": lambda text: None}, TypeError, "draft must give a list of token ids, got None"),
        ({"draft": lambda text: text[-1]}, TypeError, "draft must give a list of token ids, got tensor"),
        ({"draft": lambda text: text[None]}, TypeError, "draft must give a list of token ids, got tensor"),
        ({"draft": lambda text: [77]}, ValueError, "guess must lie in the vocabulary"),
        ({"guesses": 0}, ValueError, "guesses must be an integer >= 1"),
        ({"eos_token_id": 10}, ValueError, "eos_token_id must lie in the vocabulary"),
        ({"temperature": 0, "do_sample": True}, ValueError, "temperature must be > 0"),
    ],
)
def test_wrong_arguments_are_refused_by_name(change, error, words):
    arguments = {"draft": prompt_lookup, "x": torch.tensor([[1, 2, 1]]), "do_sample": False, **change}
    with pytest.raises(error, match=words):
        speculative_generate(Stub("NEXT"), max_new_tokens=4, **arguments)


def test_a_guess_can_neither_write_into_the_text_nor_go_on_for_ever():
    def careless(text):
        text.fill_(0)
        return itertools.repeat(1)

    target, x = tiny("GPT2"), torch.tensor([[3, 1, 4]])
    found = speculative_generate(target, careless, x, 6, False)
    assert torch.equal(found.sequences, generate(target, x, 6, False)) and x.tolist() == [[3, 1, 4]]
    copy = speculative_generate(target, careless, x, 0, False).sequences
    assert torch.equal(copy, x) and copy.data_ptr() != x.data_ptr()


class Wrapped:
    """A model that shows what `generate` asks for, and its caches roll."""

    def __init__(self, model):
        self.model, self.vocab_size, self.max_seq_len = model, model.vocab_size, model.max_seq_len

    def make_cache(self, batch_size):
        return self.model.make_cache(batch_size)

    def __call__(self, ids, attention_mask=None, cache=None):
        return self.model(ids, attention_mask, cache)


@pytest.mark.parametrize(
    "target",
    [Wrapped(tiny("Mistral")), Wrapped(tiny("LLaMA")), Stub("SUM", vocab_size=31, cached=True)],
    ids=["a ring", "no ring", "no truncate"],
)
def test_a_cache_that_cannot_always_be_cut_back_is_done_without(target):
    """Guesses are refused long after the ring of 4 has turned."""
    x = torch.tensor([[3, 1, 4, 1, 5]])
    target.config = {"of": "another library"}
    for draft in (prompt_lookup, lambda text: [text[-1].item(), 7]):
        found = speculative_generate(target, draft, x, 20, False, guesses=3)
        assert found.sequences.equal(generate(target, x, 20, False))
    assert found.accepted < found.guessed


def test_a_list_of_one_generator_is_that_generator():
    target, x = tiny("GPT2"), torch.tensor([[3, 1, 4]])
    dice = lambda: torch.Generator().manual_seed(3)  # noqa: E731
    one = speculative_generate(target, target, x, 8, True, generator=dice())
    assert torch.equal(speculative_generate(target, target, x, 8, True, generator=[dice()]).sequences, one.sequences)


@pytest.mark.parametrize("do_sample", [True, False])
def test_broken_logits_are_refused_as_generate_refuses_them(do_sample):
    class Broken(Stub):
        def __call__(self, *arguments, **more):
            return super().__call__(*arguments, **more) * torch.nan

    with pytest.raises(ValueError, match="row 0 holds NaN"):
        speculative_generate(Broken("NEXT"), prompt_lookup, torch.tensor([[1, 2]]), 4, do_sample)
