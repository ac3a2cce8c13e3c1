"""One text, many ways to make it: cached or not, alone or in a batch, in any order, before or after other calls.

Greedy tokens of random models whose logits are far apart, so that rounding decides nothing.
"""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import FAMILIES, ROWS, examples, new_tokens, pad_left, random_rows, tiny

from llm_gen import generate_steps


@st.composite
def situations(draw):
    """A context, a window, rows (ragged, as a rule) whose lengths lie around the boundaries of both, and steps."""
    max_len, window = draw(
        st.sampled_from([(5, None), (8, None), (8, 3), (9, 4), (64, None), (64, 4), (6, 6), (6, 20)])
    )
    around = [max(1, min(10, (window or max_len) + shift)) for shift in (-1, 0, 1)]
    lengths = draw(st.lists(st.sampled_from(around) | st.integers(1, 7), min_size=2, max_size=3))
    return max_len, window, random_rows(lengths, draw(st.integers(0, 99))), draw(st.integers(1, 8))


@pytest.mark.parametrize("family", FAMILIES)
@given(situations())
@examples(12)
def test_c14_c20_c26_cached_uncached_batched_and_single_write_the_same(family, situation):
    max_len, window, rows, count = situation
    model = tiny(family, max_len, window_size=window)
    ids, mask = pad_left(rows)
    alone = [new_tokens(model, row, count, use_cache=False) for row in rows]
    assert [new_tokens(model, row, count) for row in rows] == alone
    order = list(range(len(rows)))[::-1]
    for use_cache in (True, False):
        out = model.generate(ids, count, False, use_cache=use_cache, attention_mask=mask)
        assert out[:, ids.shape[1] :].tolist() == alone
        out = model.generate(ids[order], count, False, use_cache=use_cache, attention_mask=mask[order])
        assert out[:, ids.shape[1] :].tolist() == [alone[i] for i in order]


@pytest.mark.parametrize("family", FAMILIES)
def test_c01_c14_long_texts_agree_in_every_step(family):
    """Logits, not only tokens, through prefill, decode, the full context and far past it."""
    model, (ids, mask) = tiny(family, 12), pad_left(ROWS)
    runs = [
        list(generate_steps(model, ids, 20, False, attention_mask=mask, use_cache=use_cache))
        for use_cache in (True, False)
    ]
    for cached, uncached in zip(*runs, strict=True):
        torch.testing.assert_close(cached.logits, uncached.logits, rtol=1e-4, atol=1e-4)
        assert cached.tokens.equal(uncached.tokens)


@pytest.mark.parametrize("family", FAMILIES)
def test_m03_m14_rows_in_all_orders_write_what_they_write_alone(family):
    model = tiny(family)
    alone = {tuple(row): new_tokens(model, row, 12) for row in ROWS}
    assert len({tuple(text) for text in alone.values()}) == 3, "the model ignores its prompt; the test shows nothing"
    for rows in itertools.permutations(ROWS):
        ids, mask = pad_left(rows)
        out = model.generate(ids, 12, False, attention_mask=mask)
        assert out[:, 8:].tolist() == [alone[tuple(row)] for row in rows]


@pytest.mark.parametrize("family", FAMILIES)
def test_m03_w05_padded_logits_are_those_of_the_row_alone(family):
    model, (ids, mask) = tiny(family), pad_left(ROWS)
    logits = model(ids, mask)
    for row, own in zip(ROWS, logits):
        torch.testing.assert_close(own[-len(row) :], model(torch.tensor([row]))[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_m03_the_learned_positions_notice_what_rotary_ones_cannot(family):
    """Ids shifted by padding without a mask change GPT's logits: the padding tests do test positions there."""
    model, row = tiny(family), [3, 1, 4, 1, 5]
    shifted = model(torch.tensor([[7] * 3 + row]))[:, -1]
    assert (shifted - model(torch.tensor([row]))[:, -1]).abs().max() > 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_c20_lengths_around_the_window(family):
    model = tiny(family, window_size=4)
    for length in (1, 2, 3, 4, 5, 6, 9):
        row = list(range(3, 3 + length))
        assert new_tokens(model, row, 6) == new_tokens(model, row, 6, use_cache=False)


@pytest.mark.parametrize("family", ["GPT2", "LLaMA", "Mistral"])
def test_c10_c24_past_the_context_each_step_is_a_fresh_look_at_the_last_columns(family):
    model, text = tiny(family, 8), [3, 1, 4]
    for _ in range(10):
        text.append(model(torch.tensor([text[-8:]]))[0, -1].argmax().item())
    for use_cache in (True, False):
        assert new_tokens(model, text[:3], 10, use_cache=use_cache) == text[3:]
        # A prompt longer than the context is returned whole.
        out = model.generate(torch.tensor([text[:11]]), 2, False, use_cache=use_cache)
        assert out[0].tolist() == text


@pytest.mark.parametrize("family", FAMILIES)
def test_the_second_call_does_not_know_of_the_first(family):
    model = tiny(family, 12)
    first = new_tokens(model, ROWS[0], 15)
    new_tokens(model, ROWS[2], 9)
    model.generate(*pad_left(ROWS)[:1], 3, False, attention_mask=pad_left(ROWS)[1])
    running = generate_steps(model, torch.tensor([ROWS[1]]), 9, False)
    next(running)
    assert new_tokens(model, ROWS[0], 15) == first
    assert [step.tokens.item() for step in running] == new_tokens(model, ROWS[1], 9)[1:]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("settings", [{"top_k": 5}, {"temperature": 2.0, "top_p": 0.8}], ids=["k", "p"])
def test_r03_a_sampled_row_does_not_depend_on_its_batch(family, settings):
    model = tiny(family, 12)

    def sample(rows, seeds, **more):
        ids, mask = pad_left(rows)
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        out = model.generate(ids, 9, True, attention_mask=mask, generator=generators, **settings, **more)
        return out[:, ids.shape[1] :].tolist()

    alone = [sample([row], [seed])[0] for seed, row in enumerate(ROWS)]
    assert sample(ROWS, [0, 1, 2]) == alone
    assert sample(ROWS[::-1], [2, 1, 0], use_cache=False) == alone[::-1]
