"""The loop itself, on stubs: stopping, EOS and pad, the window, and what it takes as ids."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import RULES, Scripted, Stub, TokenCache, examples, pad_left, refused, tiny

from llm_gen import generate, generate_steps, next_generation_input

X = torch.tensor([[1, 2], [5, 6]])


def by_hand(rule, rows, padding, count, max_seq_len, eos, pad):
    """What the contract says, for plain lists: each row sees its text in the last `max_seq_len` columns."""
    rows, ended = [list(row) for row in rows], [False] * len(rows)
    for _ in range(count):
        for i, row in enumerate(rows):
            columns = range(max(padding[i], len(row) - max_seq_len), len(row))
            token = RULES[rule]([row[c] for c in columns]) % 10
            row.append(pad if ended[i] else token)
        ended = [done or row[-1] in eos for done, row in zip(ended, rows)]
        if eos and all(ended):
            break
    return rows


@st.composite
def runs(draw):
    rule = draw(st.sampled_from(sorted(RULES)))
    rows = draw(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=4))
    eos = draw(st.lists(st.integers(0, 9), max_size=3))
    pad = draw(st.integers(0, 9) if not eos else st.none() | st.integers(0, 9))
    return rule, rows, eos, pad, draw(st.integers(0, 9)), draw(st.integers(1, 8)), draw(st.booleans())


@given(runs(), st.booleans())
@examples(150)
def test_text_is_that_of_the_plain_loop(run, use_cache):
    rule, rows, eos, pad, count, max_seq_len, single = run
    ids, mask = pad_left(rows)
    padding = [ids.shape[1] - len(row) for row in rows]
    model = Stub(rule, max_seq_len=max_seq_len, cached=True)
    out = generate(
        model,
        ids,
        count,
        False,
        use_cache=use_cache,
        attention_mask=mask,
        eos_token_id=eos[0] if single and len(eos) == 1 else eos,
        pad_token_id=pad,
    )
    expected = by_hand(rule, ids.tolist(), padding, count, max_seq_len, eos, eos[0] if pad is None else pad)
    assert out.tolist() == expected
    assert all(columns <= max_seq_len for _, columns in model.fed)


def test_e02_the_loop_ends_with_the_last_row():
    model = Stub("NEXT")
    out = generate(model, torch.tensor([[7], [8]]), 10, False, eos_token_id=9, pad_token_id=0)
    assert out.tolist() == [[7, 8, 9], [8, 9, 0]]
    assert len(model.fed) == 2


@pytest.mark.parametrize(
    "eos", [9, [9], (9,), {9}, [9, 9], torch.tensor(9), torch.tensor([9]), np.array(9), np.int64(9)]
)
def test_eos_of_any_kind_and_pad_defaults_to_it(eos):
    out = generate(Stub("NEXT"), X, 6, False, eos_token_id=eos)
    assert out.tolist() == [[1, 2, 3, 4, 5, 6, 7, 8], [5, 6, 7, 8, 9, 9, 9, 9]]


def test_pad_defaults_to_the_first_of_several_eos():
    out = generate(Stub("NEXT"), X, 9, False, eos_token_id=[7, 4])
    assert out.tolist() == [[1, 2, 3, 4], [5, 6, 7, 7]]


def test_no_eos_never_stops():
    for none in (None, [], ()):
        assert generate(Stub("NEXT"), X, 3, False, eos_token_id=none).tolist() == [[1, 2, 3, 4, 5], [5, 6, 7, 8, 9]]


def test_e13_pad_at_the_ends_of_the_vocabulary():
    for pad in (0, 9):
        out = generate(Stub("NEXT"), torch.tensor([[6], [2]]), 4, False, eos_token_id=7, pad_token_id=pad)
        assert out.tolist() == [[6, 7, pad, pad, pad], [2, 3, 4, 5, 6]]


def response_mask(model, x, count, **settings):
    return torch.stack([step.active for step in generate_steps(model, x, count, False, **settings)], dim=1).int()


def test_e05_e19_text_and_padding_are_told_apart_by_flags_not_by_ids():
    mask = response_mask(Stub("NEXT"), X, 6, eos_token_id=9, pad_token_id=9)
    assert mask.tolist() == [[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    model = Scripted([[5, 6, 7], [5, 2, 7]])
    assert response_mask(model, torch.tensor([[1], [1]]), 3, eos_token_id=2).tolist() == [[1, 1, 1], [1, 1, 0]]
    # A token equal to pad is text as long as the row is writing.
    model = Scripted([[0, 0, 9]])
    mask = response_mask(model, torch.tensor([[1]]), 3, eos_token_id=9, pad_token_id=0)
    assert mask.tolist() == [[1, 1, 1]]


def test_e21_the_limit_counts_new_columns():
    ids, mask = pad_left([[3, 4], [1, 2, 3, 4]], 0)
    assert generate(Stub("NEXT"), ids, 3, False, attention_mask=mask).shape == (2, 7)


def test_finished_rows_are_fed_pad_and_stay_unmasked():
    model = Stub("NEXT")
    ids, mask = pad_left([[8], [1, 2]], 5)
    generate(model, ids, 3, False, attention_mask=mask, eos_token_id=9, pad_token_id=4)
    assert [seen.int().tolist() for seen in model.masks] == [
        [[0, 1], [1, 1]],
        [[0, 1, 1], [1, 1, 1]],
        [[0, 1, 1, 1], [1, 1, 1, 1]],
    ]


def test_c09_c12_the_window_moves_by_columns_and_its_mask_with_it():
    for rule, x, expected in (
        ("LEN", [[1, 2]], [2, 3, 4, 4, 4]),
        ("FIRST", [[1, 2, 3]], [1, 1, 2, 3]),
        ("POS", [[1, 2, 3]], [2, 3, 3, 3]),
    ):
        out = generate(Stub(rule, max_seq_len=4, cached=True), torch.tensor(x), len(expected), False)
        assert out.tolist() == [x[0] + expected]
    model = Stub("LEN", max_seq_len=4)
    ids, mask = pad_left([[3, 4], [1, 2, 3, 4, 5, 6]])
    out = generate(model, ids, 3, False, attention_mask=mask)
    assert out[:, 6:].tolist() == [[2, 3, 4], [4, 4, 4]]
    assert [seen.int().sum(1).tolist() for seen in model.masks] == [[2, 4], [3, 4], [4, 4]]


def test_c22_next_generation_input():
    x, kv = torch.arange(6)[None], TokenCache(1)
    assert next_generation_input(x, None, True, 8) == (x, None)
    assert next_generation_input(x, kv, False, 8) == (x, None)
    kv.ids = x[:, :4]
    for limit in (6, 8):
        ids, same = next_generation_input(x, kv, True, limit)
        assert (ids.tolist(), same) == ([[4, 5]], kv)
    ids, gone = next_generation_input(x, kv, True, 5)
    assert (ids.tolist(), gone) == ([[1, 2, 3, 4, 5]], None)
    for read in (x, torch.cat([x, x], dim=1)):
        kv.ids = read
        refused(lambda: next_generation_input(x, kv, True, 20), ValueError, ["x", "not read", f"6 and {kv.length}"])


def test_i02_a_batch_of_no_rows():
    for model in (Stub("NEXT"), tiny("LLaMA")):
        for settings in ({}, {"eos_token_id": 3}, {"attention_mask": torch.ones(0, 3)}):
            out = generate(model, torch.zeros(0, 3, dtype=torch.int32), 2, False, **settings)
            assert (out.shape, out.dtype) == ((0, 5), torch.int64)
        assert list(generate_steps(model, torch.zeros(0, 3, dtype=torch.long), 2, True)) == []


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint16])
def test_i04_ids_of_any_integer_dtype(dtype):
    model = Scripted([[300, 299]], vocab_size=301)
    out = generate(model, torch.tensor([[5]]).to(dtype), 2, False)
    assert (out.tolist(), out.dtype) == ([[5, 300, 299]], torch.int64)


def nothing_after_the_end(ids, logits):
    return torch.where(ids[:, -1:] == 9, -torch.inf, logits)


@pytest.mark.parametrize("place", ["processors", "warpers"])
def test_what_becomes_of_a_finished_row_does_not_matter(place):
    """A grammar allows nothing after the end, and the other row goes on as it would alone."""
    x, settings = torch.tensor([[8], [5]]), {"eos_token_id": 9, "pad_token_id": 0, place: [nothing_after_the_end]}
    ids = generate(Stub("NEXT", cached=True), x, 6, place == "warpers", 1e-3, **settings)
    assert ids.tolist() == [[8, 9, 0, 0, 0], [5, 6, 7, 8, 9]]
    with pytest.raises(ValueError, match=r"nothing_after_the_end must return usable logits .* row 1 has no finite"):
        generate(Stub("NEXT"), torch.tensor([[8], [9]]), 6, True, **settings)


def test_a_model_may_say_nonsense_of_a_finished_row_only():
    class Broken(Stub):
        def __call__(self, ids, attention_mask=None, cache=None):
            logits = super().__call__(ids, attention_mask, cache)
            return logits.masked_fill((ids == 9)[..., None], torch.nan)

    ids = generate(Broken("NEXT"), torch.tensor([[8], [6]]), 6, False, eos_token_id=9, pad_token_id=9)
    assert ids.tolist() == [[8, 9, 9, 9], [6, 7, 8, 9]]
    with pytest.raises(ValueError, match="row 1 holds NaN"):
        generate(Broken("NEXT"), torch.tensor([[8], [9]]), 6, False)


def test_what_is_written_into_a_step_changes_nothing():
    x, settings = torch.tensor([[5], [7]]), {"eos_token_id": 9, "pad_token_id": 0}
    tokens = []
    for step in generate_steps(Stub("NEXT", cached=True), x, 6, False, **settings):
        tokens.append(step.tokens.clone())
        for part in (step.tokens, step.active, step.finished, step.logits, step.processed):
            part.fill_(1)
    assert torch.cat([x, *tokens], dim=1).equal(generate(Stub("NEXT"), x, 6, False, **settings))


@pytest.mark.parametrize("width", [8, 12])
def test_a_head_that_does_not_fit_the_vocabulary_is_refused(width):
    class Wide(Stub):
        def __call__(self, ids, attention_mask=None, cache=None):
            return torch.zeros(*ids.shape, width)

    with pytest.raises(ValueError, match=f"model must give logits for its 10 tokens, got {width}"):
        generate(Wide("NEXT"), torch.tensor([[1]]), 2, False)
