"""Who sees whom: the mask as a table, the shortcuts that need no mask, and real models probed token by token."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import FAMILIES, ROWS, examples, pad_left, tiny

from llm_gen import check_generation_mask
from llm_gen.attention import attend, build_mask, plan_mask


def sees(query, key, padding, window):
    """The rule, said once more: a text column sees text up to itself inside the window; padding sees itself."""
    return key == query or (padding <= key <= query and (window is None or key > query - window))


def table(queries, keys, padding, window):
    return torch.tensor([[[[sees(q, k, p, window) for k in keys] for q in queries]] for p in padding])


def test_c04_window_of_four():
    mask = build_mask(torch.arange(6), torch.arange(6), None, 4)
    assert mask.int().tolist() == [
        [
            [
                [1, 0, 0, 0, 0, 0],
                [1, 1, 0, 0, 0, 0],
                [1, 1, 1, 0, 0, 0],
                [1, 1, 1, 1, 0, 0],
                [0, 1, 1, 1, 1, 0],
                [0, 0, 1, 1, 1, 1],
            ]
        ]
    ]


PASSES = st.tuples(
    st.integers(0, 8),
    st.integers(1, 6),
    st.none() | st.integers(1, 6),
    st.none() | st.lists(st.integers(0, 8), min_size=1, max_size=3),
)


@given(PASSES)
@examples(200)
def test_mask_and_its_shortcuts_equal_the_rule(reading):
    start, count, window, padding = reading
    end = start + count
    oldest = 0 if window is None else max(0, start - window + 1)
    queries, keys = range(start, end), range(oldest, end)
    expected = table(queries, keys, padding or [0], window)
    columns = torch.arange(oldest, end)
    rows = None if padding is None else torch.tensor(padding)
    assert build_mask(torch.arange(start, end), columns, rows, window).equal(expected)
    mask, causal = plan_mask(count, start, columns, rows, window)
    if mask is None:
        triangle = torch.ones(count, len(columns), dtype=torch.bool)
        mask = (triangle.tril() if causal else triangle)[None, None]
        assert not causal or count == len(columns), "is_causal means the triangle of a square"
    assert mask.equal(expected)


def test_keys_in_the_order_of_a_ring_are_masked_by_their_columns():
    keys = torch.tensor([8, 9, 6, 7])
    mask = build_mask(torch.tensor([9]), keys, torch.tensor([0, 7]), 3)
    assert mask.tolist() == [[[[True, True, False, True]]], [[[True, True, False, True]]]]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("count", [1, 3])
def test_each_group_of_heads_reads_its_own_keys(groups, count):
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(2, 4, count, 8, generator=generator)
    k, v = torch.randn(2, 2, groups, 5, 8, generator=generator)
    mask = torch.rand(2, 1, count, 5, generator=generator) < 0.7
    mask[..., 0] = True
    out = attend(q, k, v, mask, causal=False, dropout=0.0)
    for row in range(2):
        for head in range(4):
            group = head // (4 // groups)
            scores = (q[row, head] @ k[row, group].T / 8**0.5).masked_fill(~mask[row, 0], -torch.inf)
            expected = scores.softmax(-1) @ v[row, group]
            torch.testing.assert_close(out[row, head], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_one_layer_sees_exactly_the_tokens_of_the_rule(family, window):
    """A changed token changes the logits of those columns that see it, and not one bit more than rounding of others."""
    model = tiny(family, num_layers=1, window_size=window)
    ids = torch.tensor([[7, 7, 1, 4, 9, 2, 6, 5]])
    for padding in (0, 2):
        mask = (torch.arange(8) >= padding).long()[None]
        before = model(ids, mask)
        for changed in range(8):
            other = ids.clone()
            other[0, changed] = 30
            moved = (model(other, mask) - before).abs().amax(-1)[0] > 1e-4
            assert moved.tolist() == [sees(query, changed, padding, window) for query in range(8)]


@pytest.mark.parametrize("family", FAMILIES)
def test_m12_padding_makes_no_nan_and_its_content_changes_nothing(family):
    model = tiny(family)
    logits = []
    for pad in (7, 0, 30):
        ids, mask = pad_left(ROWS, pad)
        kv = model.make_cache(3)
        logits.append(model(ids, mask, kv)[mask.bool()])
        assert model(ids, mask).isfinite().all()
        written = min(kv.length, kv.slots)
        assert kv.keys[:, :, :, :written].isfinite().all()
        assert kv.values[:, :, :, :written].isfinite().all()
    assert logits[0].equal(logits[1])
    assert logits[0].equal(logits[2])


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool, torch.float32, torch.float16])
def test_check_generation_mask_counts_the_padding(dtype):
    ids, mask = pad_left(ROWS)
    padding = check_generation_mask(mask.to(dtype), ids)
    assert padding.tolist() == [6, 3, 0]
    assert padding.dtype == torch.int64
    assert check_generation_mask(mask[:0], ids[:0]).tolist() == []


def test_ids_of_another_shape_have_no_mask():
    with pytest.raises(ValueError, match=r"x must have shape \(B, T\), got \(3,\)"):
        check_generation_mask(torch.ones(3), torch.ones(3))
