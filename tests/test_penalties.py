"""Processors: against plain loops, and against transformers where it has the same one."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import Stub, examples
from transformers.generation import logits_process as theirs

from llm_gen import generate
from llm_gen.beyond import (
    ban_tokens,
    bias_logits,
    force_tokens,
    frequency_penalty,
    minimum_length,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
)

VOCAB = 7


def some_logits(rows=1, seed=0):
    return torch.randn(rows, VOCAB, generator=torch.Generator().manual_seed(seed)) * 2


texts = st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=20)


@given(texts, st.floats(0.1, 3), st.integers(0, 5))
@examples(60)
def test_penalties_equal_their_definitions_one_token_at_a_time(text, penalty, skip):
    logits, ids = some_logits(), torch.tensor([text])
    wanted = {function: logits[0].tolist() for function in (repetition_penalty, frequency_penalty, presence_penalty)}
    for token in range(VOCAB):
        count, value = text[skip:].count(token), logits[0, token].item()
        if count:
            wanted[repetition_penalty][token] = value / penalty if value > 0 else value * penalty
        wanted[frequency_penalty][token] = value - penalty * count
        wanted[presence_penalty][token] = value - penalty * bool(count)
    for function, row in wanted.items():
        torch.testing.assert_close(function(ids, logits, penalty, skip=skip), torch.tensor([row]))


@given(texts, st.integers(1, 4))
@examples(100)
def test_no_repeat_ngram_bans_what_would_complete_one(text, size):
    logits = some_logits()
    seen = {tuple(text[i : i + size]) for i in range(len(text) - size + 1)}
    banned = [token for token in range(VOCAB) if tuple([*text, token][-size:]) in seen]
    result = no_repeat_ngram(torch.tensor([text]), logits, size)
    assert (result[0] == -torch.inf).nonzero()[:, 0].tolist() == banned
    assert torch.equal(result[result.isfinite()], logits[result.isfinite()])


@given(st.lists(texts, min_size=2, max_size=3), st.integers(1, 3), st.floats(0.5, 2))
@examples(40)
def test_padding_counts_for_nothing(rows, size, penalty):
    width = max(map(len, rows))
    ids = torch.tensor([[-1] * (width - len(row)) + row for row in rows])
    logits = some_logits(len(rows))
    for function, value in ((no_repeat_ngram, size), (repetition_penalty, penalty), (frequency_penalty, penalty)):
        together = function(ids, logits, value)
        for index, row in enumerate(rows):
            alone = function(torch.tensor([row]), logits[index : index + 1], value)
            assert torch.equal(together[index : index + 1], alone)


@pytest.mark.parametrize("seed", range(5))
def test_transformers_agrees(seed):
    generator = torch.Generator().manual_seed(seed)
    ids, logits = torch.randint(0, VOCAB, (3, 12), generator=generator), some_logits(3, seed)
    for ours, other in (
        (repetition_penalty(ids, logits, 1.3), theirs.RepetitionPenaltyLogitsProcessor(1.3)),
        (no_repeat_ngram(ids, logits, 2), theirs.NoRepeatNGramLogitsProcessor(2)),
        (no_repeat_ngram(ids, logits, 3), theirs.NoRepeatNGramLogitsProcessor(3)),
        (bias_logits(ids, logits, {2: 1.5, 5: -3}), theirs.SequenceBiasLogitsProcessor([[[2], 1.5], [[5], -3.0]])),
        (ban_tokens(ids, logits, [1, 4]), theirs.SuppressTokensLogitsProcessor([1, 4])),
        (
            minimum_length(ids, logits, 5, eos=[3], skip=8),
            theirs.MinNewTokensLengthLogitsProcessor(8, 5, [3], device="cpu"),
        ),
    ):
        torch.testing.assert_close(ours, other(ids, logits.clone()))


def test_forced_tokens_come_first_and_then_nothing_is_forced():
    def forcing(ids, logits):
        return force_tokens(ids, logits, [5, 0], skip=2)

    assert generate(Stub("NEXT"), torch.tensor([[1, 2]]), 4, False, processors=[forcing]).tolist() == [
        [1, 2, 5, 0, 1, 2]
    ]


def test_what_is_forced_and_banned_is_refused_with_the_name_of_the_second():
    def forcing(ids, logits):
        return force_tokens(ids, logits, [5], skip=1)

    def banning(ids, logits):
        return ban_tokens(ids, logits, 5)

    for order in ([forcing, banning], [banning, forcing]):
        with pytest.raises(ValueError, match=f"{order[1].__name__} must return usable logits"):
            generate(Stub("NEXT"), torch.tensor([[1]]), 1, False, processors=order)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("penalise", [repetition_penalty, frequency_penalty, presence_penalty])
def test_the_logits_keep_their_dtype(penalise, dtype):
    assert penalise(torch.tensor([[1, 1, 2]]), some_logits().to(dtype), 1.5).dtype == dtype


def test_minimum_length_moves_the_end():
    def patient(ids, logits):
        return minimum_length(ids, logits, 5, eos=3, skip=1)

    settings = {"do_sample": False, "eos_token_id": 3}
    assert generate(Stub("NEXT"), torch.tensor([[1]]), 9, **settings).tolist() == [[1, 2, 3]]
    assert len(generate(Stub("NEXT"), torch.tensor([[1]]), 9, **settings, processors=[patient])[0]) > 6


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda ids, z: repetition_penalty(ids, z, 0), ValueError, "penalty must be > 0, got 0"),
        (lambda ids, z: repetition_penalty(ids, z, math.nan), ValueError, "penalty must be finite"),
        (lambda ids, z: repetition_penalty(ids, z, "a"), TypeError, "penalty must be a number"),
        (lambda ids, z: frequency_penalty(ids, z, math.inf), ValueError, "penalty must be finite"),
        (lambda ids, z: presence_penalty(ids, z, True), TypeError, "penalty must be a number"),
        (lambda ids, z: presence_penalty(ids, z, 1.0, skip=-1), ValueError, "skip must be an integer >= 0"),
        (lambda ids, z: no_repeat_ngram(ids, z, 0), ValueError, "size must be an integer >= 1"),
        (lambda ids, z: bias_logits(ids, z, {VOCAB: 1.0}), ValueError, "biases must lie in the vocabulary"),
        (lambda ids, z: bias_logits(ids, z, {0: math.inf}), ValueError, "biases must be finite"),
        (lambda ids, z: bias_logits(ids, z, [1]), TypeError, "biases must be a mapping"),
        (lambda ids, z: ban_tokens(ids, z, -1), ValueError, "tokens must be an integer >= 0"),
        (lambda ids, z: force_tokens(ids, z, [99], skip=0), ValueError, "tokens must lie in the vocabulary"),
        (lambda ids, z: minimum_length(ids, z, -1, eos=0, skip=0), ValueError, "length must be an integer >= 0"),
    ],
)
def test_wrong_numbers_are_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call(torch.tensor([[1, 2]]), some_logits())
