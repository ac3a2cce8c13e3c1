"""The nucleus found in bands, beside its slow twin: the rule written down as it is said."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import examples

from llm_gen import filter_logits
from llm_gen.nucleus import (
    FEW,
    SMALL_VOCABULARY,
    nucleus_by_bands,
    nucleus_by_shortlists,
    nucleus_by_sorting,
    shortlist,
    top_p_mask,
)
from llm_gen.scaling import scale_by_temperature

DTYPES = (torch.float64, torch.float32, torch.bfloat16)
TEMPERATURES = st.sampled_from([1e-30, 0.05, 0.7, 1.0, 1.3, 10.0, 1e30])
TOP_P = st.sampled_from([1e-300, 0.1, 0.5, 0.8, 0.9, 0.99, 1 - 1e-7, 1 - 1e-12]) | st.floats(0.001, 0.999)


def by_bands(logits, top_p, temperature=1.0):
    return torch.stack([nucleus_by_bands(row, top_p, temperature) for row in logits])


@st.composite
def batches(draw):
    """Rows from flat to certain in one batch, with entries that are out; coarse steps make ties."""
    size, seed = draw(st.sampled_from([1, 2, 17, 256, 1000])), draw(st.integers(0, 10_000))
    widths = draw(st.lists(st.sampled_from([0.0, 0.001, 0.1, 1.0, 3.0, 40.0]), min_size=1, max_size=4))
    generator = torch.Generator().manual_seed(seed)
    logits = torch.tensor(widths)[:, None] * torch.randn(len(widths), size, generator=generator)
    if step := draw(st.sampled_from([None, 0.125, 1.0])):
        logits = (logits / step).round() * step
    hidden = torch.rand(logits.shape, generator=generator) < draw(st.sampled_from([0.0, 0.5]))
    hidden[:, seed % size] = False
    return logits.masked_fill(hidden, -math.inf).to(draw(st.sampled_from(DTYPES)))


@given(batches(), TOP_P, TEMPERATURES)
@examples(400)
def test_bands_and_sorting_keep_the_same_tokens(logits, top_p, temperature):
    by_sorting = nucleus_by_sorting(logits, top_p, temperature)
    assert by_bands(logits, top_p, temperature).equal(by_sorting)
    assert nucleus_by_shortlists(logits, top_p, temperature).equal(by_sorting)
    assert top_p_mask(logits, top_p, temperature).equal(by_sorting)


@given(batches(), TOP_P)
@examples(300)
def test_a_shortlist_is_short_and_nothing_outside_of_it_stays(logits, top_p):
    for row in logits.float():
        if found := shortlist(row, top_p, torch.empty_like(row, dtype=torch.float64)):
            ids, total = found
            assert ids.tolist() == sorted(set(ids.tolist())) and len(ids) <= max(1, len(row) // FEW)
            stays = nucleus_by_sorting(row[None], top_p, 1.0)[0]
            assert stays.index_fill(0, ids, False).sum() == 0
            assert total == pytest.approx((row.double() - row.max()).exp().sum().item(), rel=1e-12)


@pytest.mark.parametrize(("likely", "short"), [(1, True), (61, True), (63, False), (500, False)])
def test_a_row_has_a_shortlist_only_if_its_mass_lies_on_few_tokens(likely, short):
    row = torch.full((1000,), -30.0)
    row[torch.arange(likely) * 2] = 0.0
    found = shortlist(row, 1e-9, torch.empty_like(row, dtype=torch.float64))
    assert (found is not None) == short
    assert found is None or found[0].tolist() == list(range(0, 2 * likely, 2))


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16])
@pytest.mark.parametrize("size", [SMALL_VOCABULARY + 1, 3 * SMALL_VOCABULARY + 5])
def test_rows_with_and_without_a_shortlist_in_one_batch(size, dtype):
    """Flat, certain, a few steps with many ties, nearly all hidden, and in between: each row by its own way."""
    logits = torch.randn(6, size, generator=torch.Generator().manual_seed(size))
    logits *= torch.tensor([[0.0], [1.0], [3.0], [4.0], [5.0], [40.0]])
    logits[4] = (logits[4] / 4).round() * 4
    logits[3, size // 50 :] = -math.inf
    logits = logits.to(dtype)
    ways = {shortlist(row, 0.9, torch.empty_like(row, dtype=torch.float64)) is None for row in logits.float()}
    assert ways == {True, False}
    for top_p in (1e-300, 1e-6, 0.3, 0.9, 0.999, 1 - 1e-7, 1 - 1e-12):
        for temperature in (0.01, 0.8, 1.0):
            expected = nucleus_by_sorting(logits, top_p, temperature)
            assert top_p_mask(logits, top_p, temperature).equal(expected)
    alone = torch.cat([top_p_mask(row[None], 0.9) for row in logits])
    assert top_p_mask(logits, 0.9).equal(alone)


@pytest.mark.parametrize("tied", [1, 2, 100, 300])
def test_ties_at_the_threshold_go_to_the_lower_ids(tied):
    """The token that crosses has equals on both sides of it, in the topmost band or below others."""
    logits = torch.zeros(2, 400)
    for row in logits:
        row[torch.randperm(400, generator=torch.Generator().manual_seed(tied))[:tied]] = 2.0
    logits[1, 7] = 4.0
    for top_p in torch.linspace(0.01, 0.99, 50).tolist():
        assert by_bands(logits, top_p).equal(nucleus_by_sorting(logits, top_p, 1.0))


@pytest.mark.parametrize("denominator", [7, 8, 10, 12])
def test_sums_that_hit_the_threshold_keep_no_token_more(denominator):
    """Shares 1 / n and 2 / n over tokens of one or two bands: each of their sums is a threshold."""
    for double in range(denominator // 2 + 1):
        parts = torch.tensor([[2.0] * double + [1.0] * (denominator - 2 * double)], dtype=torch.float64)
        for count in range(1, parts.shape[1]):
            top_p = float(parts[0, :count].sum()) / denominator
            for logits in (parts.log(), parts.log().float()):
                assert by_bands(logits, top_p).sum() == count
                among_many = torch.nn.functional.pad(logits, (0, 1000), value=-math.inf)
                assert shortlist(among_many[0].float(), top_p, torch.empty(among_many.shape[1]).double())
                assert nucleus_by_shortlists(among_many, top_p, 1.0).sum() == count


def test_logits_at_the_ends_of_their_range_fall_into_a_band():
    logits = torch.tensor([[3e38, -3e38, -math.inf, 3e38], [-3e38, -3.1e38, -math.inf, -math.inf]])
    for top_p in (0.4, 0.6):
        assert by_bands(logits, top_p).equal(nucleus_by_sorting(logits, top_p, 1.0))


def literal_filter(logits, temperature, top_k, top_p):
    """Temperature, then top-k by a stable sort, then top-p by sorting what is left."""
    order = logits.sort(dim=-1, descending=True, stable=True).indices[:, :top_k]
    left = torch.full_like(logits, -math.inf).scatter(-1, order, logits.gather(-1, order))
    stays = left > -math.inf if top_p == 1 else nucleus_by_sorting(left, top_p, temperature)
    return scale_by_temperature(logits, temperature).masked_fill(~(stays & (left > -math.inf)), -math.inf)


@given(batches(), TEMPERATURES, st.integers(1, 500), TOP_P | st.just(1))
@examples(200)
def test_top_k_and_top_p_together_are_the_two_rules_one_after_the_other(logits, temperature, top_k, top_p):
    wide = logits if logits.dtype == torch.float64 else logits.float()
    assert filter_logits(logits, temperature, top_k, top_p).equal(literal_filter(wide, temperature, top_k, top_p))


@pytest.mark.parametrize("size", [50_257, 128_256])
def test_whole_vocabularies_of_real_models_with_and_without_top_k(size):
    logits = torch.tensor([[1.0], [4.0]]) * torch.randn(2, size, generator=torch.Generator().manual_seed(size))
    assert size > SMALL_VOCABULARY
    for top_k, top_p in ((size, 0.5), (size, 0.99), (40, 0.9), (5000, 0.9)):
        assert filter_logits(logits, 1.3, top_k, top_p).equal(literal_filter(logits, 1.3, top_k, top_p))
