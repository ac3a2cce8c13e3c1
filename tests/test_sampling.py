"""Which tokens stay, and with what probability: against a loop that anyone can check by eye."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from stubs import examples, kept_ids

from llm_gen import filter_logits, sample_next_token
from llm_gen.sampling import drop_rest

INF = math.inf
P = torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64)
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
# Multiples of 1/8 up to 8: exact in every dtype, and ties are common.
EIGHTHS = st.integers(-64, 64).map(lambda n: n / 8)
ROW = st.lists(EIGHTHS | st.just(-INF), min_size=1, max_size=12).filter(lambda row: max(row) > -INF)
TEMPERATURES = st.sampled_from([0.05, 0.3, 0.5, 1.0, 1.7, 2.0, 10.0, 1000.0])
TOP_K = st.none() | st.integers(1, 14)
TOP_P = st.none() | st.floats(0.01, 1.0)


def ranked_ids(row):
    """Ids from the largest logit to the smallest; the lower id first among equals; no -inf."""
    return sorted((i for i, z in enumerate(row) if z > -INF), key=lambda i: (-row[i], i))


def nucleus(weights, top_p):
    """How many of the weights, given downwards, stay: each whose share of mass before it is below top_p."""
    total, before, count = sum(weights), 0, 0
    for weight in weights:
        if not before / total < top_p:
            break
        before, count = before + weight, count + 1
    return count


def softmax_weights(row, ids, temperature):
    return [math.exp((row[i] - row[ids[0]]) / temperature) for i in ids]


def kept_by_hand(row, temperature, top_k, top_p):
    ids = ranked_ids(row)[:top_k]
    if top_p is not None and top_p < 1:
        ids = ids[: nucleus(softmax_weights(row, ids, temperature), top_p)]
    return sorted(ids)


def at_a_boundary(row, temperature, top_k, top_p):
    """True where rounding decides: some mass before a token is top_p to six digits."""
    if top_p is None or top_p == 1:
        return False
    weights = softmax_weights(row, ranked_ids(row)[:top_k], temperature)
    sums = [math.fsum(weights[:n]) / math.fsum(weights) for n in range(len(weights) + 1)]
    return any(abs(mass - top_p) < 1e-6 for mass in sums)


@given(ROW, TEMPERATURES, TOP_K, TOP_P)
@examples(300)
def test_kept_set_and_probabilities_are_those_of_the_plain_loop_in_every_dtype(row, temperature, top_k, top_p):
    assume(not at_a_boundary(row, temperature, top_k, top_p))
    kept = kept_by_hand(row, temperature, top_k, top_p)
    weights = {i: math.exp((row[i] - max(row)) / temperature) for i in kept}
    expected = torch.tensor([[weights.get(i, 0.0) / sum(weights.values()) for i in range(len(row))]])
    for dtype in DTYPES:
        logits = torch.tensor([row], dtype=dtype)
        filtered = filter_logits(logits, temperature, top_k, top_p)
        assert kept_ids(filtered) == [kept]
        assert filtered.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        torch.testing.assert_close(filtered.softmax(-1).float(), expected, rtol=1e-4, atol=1e-7)
        assert logits.equal(torch.tensor([row], dtype=dtype)), "the caller's logits were written to"


@given(ROW, TEMPERATURES, st.floats(0.01, 0.999))
@examples(150)
def test_nucleus_reaches_the_mass_and_is_minimal(row, temperature, top_p):
    probs = (torch.tensor([row], dtype=torch.float64) / temperature).softmax(-1)[0]
    (kept,) = kept_ids(filter_logits(torch.tensor([row]), temperature, top_p=top_p))
    last = min(kept, key=lambda i: (probs[i], -i))
    assert probs[kept].sum() >= top_p - 1e-6
    assert probs[[i for i in kept if i != last]].sum() < top_p + 1e-6


@given(st.lists(ROW, min_size=1, max_size=5), TOP_K, TOP_P, TEMPERATURES)
@examples(80)
def test_rows_are_filtered_alone(rows, top_k, top_p, temperature):
    width = max(map(len, rows))
    logits = torch.tensor([row + [-INF] * (width - len(row)) for row in rows])
    together = filter_logits(logits, temperature, top_k, top_p)
    alone = torch.cat([filter_logits(row[None], temperature, top_k, top_p) for row in logits])
    assert together.equal(alone)


@given(ROW, st.integers(1, 14))
@examples(100)
def test_top_k_keeps_exactly_k_of_the_finite(row, top_k):
    assert len(kept_ids(filter_logits(torch.tensor([row]), top_k=top_k))[0]) == min(top_k, len(ranked_ids(row)))


@st.composite
def dyadic_probabilities(draw):
    """1 split in halves again and again, in random order: every sum of them is exact."""
    parts = [Fraction(1)]
    for _ in range(draw(st.integers(0, 7))):
        i = draw(st.integers(0, len(parts) - 1))
        parts[i : i + 1] = [parts[i] / 2] * 2
    return draw(st.permutations(parts))


@given(dyadic_probabilities(), st.integers(1, 128))
@examples(300)
def test_exact_hits_of_the_threshold_keep_no_token_more(probs, numerator):
    top_p = Fraction(numerator, 128)
    order = sorted(range(len(probs)), key=lambda i: (-probs[i], i))
    kept = sorted(order[: nucleus([probs[i] for i in order], top_p)])
    exact = torch.tensor([list(map(float, probs))], dtype=torch.float64).log()
    for logits in (exact, exact.float()):
        assert kept_ids(filter_logits(logits, top_p=float(top_p))) == [kept]


def partitions(total, largest):
    """All ways to write `total` as a sum of parts that do not grow."""
    if total == 0:
        yield ()
    for part in range(min(largest, total), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


@pytest.mark.parametrize("denominator", [8, 10])
def test_p05_sums_of_eighths_and_tenths_hit_the_threshold_in_every_dtype(denominator):
    """Every distribution of such shares, at each of its own sums: 0.5 + 0.3 reaches 0.8."""
    for parts in partitions(denominator, denominator):
        exact = (torch.tensor([parts], dtype=torch.float64) / denominator).log()
        for count in range(1, len(parts)):
            top_p = sum(parts[:count]) / denominator
            for logits in (exact, exact.float()):
                assert kept_ids(filter_logits(logits, top_p=top_p)) == [list(range(count))]


@pytest.mark.parametrize("size", [1, 2, 4, 8, 64, 1024])
def test_equal_logits_are_cut_by_rank_with_exact_boundaries(size):
    for eighth in range(1, 8):
        (kept,) = kept_ids(filter_logits(torch.full((1, size), 2.5), top_p=eighth / 8))
        assert kept == list(range(max(1, size * eighth // 8 + (size * eighth % 8 > 0))))


def test_zero_and_minus_zero_are_a_tie():
    logits = torch.tensor([[-0.0, 0.0] * 20])
    assert kept_ids(filter_logits(logits, top_k=3)) == [[0, 1, 2]]
    assert kept_ids(filter_logits(logits, top_p=0.5)) == [list(range(20))]
    assert sample_next_token(logits, False).item() == 0


def test_p08_top_p_of_one_is_a_no_op():
    logits = 3 * torch.randn(1, 131072, generator=torch.Generator().manual_seed(0))
    for top_p in (1, 1.0, np.float32(1)):
        assert filter_logits(logits, top_p=top_p).equal(logits)


@pytest.mark.parametrize("top_p", [1e-10, 1e-45, 1e-46, 1e-300, Fraction(1, 10**50)])
def test_the_likeliest_token_stays_however_small_top_p_is(top_p):
    assert kept_ids(filter_logits(P.log(), top_p=top_p)) == [[0]]
    assert sample_next_token(P.log(), True, top_p=top_p).item() == 0


def test_p18_flat_bfloat16_over_a_large_vocabulary():
    for dtype in DTYPES:
        (kept,) = kept_ids(filter_logits(torch.zeros(1, 131072, dtype=dtype), top_p=0.9))
        assert kept == list(range(117965))


@pytest.mark.parametrize(("top_p", "count"), [(0.9, 79943), (0.99, 118944)])
def test_p19_random_bfloat16_over_a_large_vocabulary(top_p, count):
    logits = torch.randn(1, 131072, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    kept = [kept_ids(filter_logits(logits.to(dtype), top_p=top_p))[0] for dtype in (torch.bfloat16, torch.float32)]
    assert len(kept[0]) == count
    assert kept[0] == kept[1]


def test_p16_p21_filters_combine_as_temperature_then_k_then_p():
    # At temperature 0.5 the shares are 25, 9, 2.25, 0.25; k = 3 makes them 0.69, 0.25, 0.06.
    filtered = filter_logits(P.log(), temperature=0.5, top_k=3, top_p=0.93)
    assert kept_ids(filtered) == [[0, 1]]
    torch.testing.assert_close(filtered.softmax(-1), torch.tensor([[25 / 34, 9 / 34, 0, 0]], dtype=torch.float64))


@pytest.mark.parametrize("temperature", [1e-6, 1e-30, 1e-38, 1e-45, 1e-300, 5e-324])
def test_t06_tiny_temperatures_give_a_one_hot_shared_by_ties(temperature):
    rows = [[2.0, 5.0, 4.9, -1.0], [5.0, 5.0, -INF, 1.0], [-3e38, -1e38, -INF, -2e38], [3e38, -3e38, 0.0, 0.0]]
    expected = torch.tensor([[0, 1, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    for dtype in (torch.float32, torch.float64):
        filtered = filter_logits(torch.tensor(rows, dtype=dtype), temperature)
        assert filtered.softmax(-1).float().equal(expected)
        assert not (filtered.isnan() | (filtered == INF)).any()
    # A sampler that has only ties left must still cut them by id.
    assert kept_ids(filter_logits(torch.tensor(rows[1:2]), temperature, top_p=0.5)) == [[0]]


@pytest.mark.parametrize("temperature", [1e37, 3.4e38, 1e39, 1e300])
def test_huge_temperatures_are_uniform_over_what_is_allowed(temperature):
    filtered = filter_logits(torch.tensor([[1.0, -INF, 3.0, 0.0] * 8]), temperature)
    torch.testing.assert_close(filtered.softmax(-1), torch.tensor([[1.0, 0.0, 1.0, 1.0] * 8]) / 24)


@pytest.mark.parametrize("kind", [int, float, np.float32, np.int64, Fraction, torch.tensor, np.array])
def test_t08_numbers_of_any_kind_are_welcome(kind):
    assert filter_logits(P.log(), temperature=kind(2)).equal(filter_logits(P.log(), temperature=2.0))
    assert filter_logits(P.log(), top_p=kind(1)).equal(P.log())


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64, torch.tensor, np.array])
def test_t08_integers_of_any_kind_are_welcome_as_top_k(kind):
    assert kept_ids(filter_logits(P.log(), top_k=kind(2))) == [[0, 1]]


def test_t10_small_temperatures_are_taken_as_they_are():
    probs = filter_logits(torch.tensor([[0.0, 0.01]], dtype=torch.float64), temperature=0.001).softmax(-1)
    assert probs[0, 1].item() == pytest.approx(1 / (1 + math.exp(-10)), abs=1e-12)


def test_float64_logits_beyond_float32_keep_their_order():
    logits = torch.tensor([[1e300, 2e300, -1e300], [1e-300, 2e-300, 3e-300]], dtype=torch.float64)
    assert sample_next_token(logits, False).tolist() == [[1], [2]]
    assert kept_ids(filter_logits(logits, top_k=2)) == [[0, 1], [1, 2]]
    assert kept_ids(filter_logits(logits, top_p=0.4)) == [[1], [1, 2]]
    assert sample_next_token(logits[:1], True, top_p=0.9).item() == 1


def test_the_result_is_new_and_gradients_pass_to_what_was_kept():
    logits = torch.tensor([[3.0, 2.0, 1.0]], requires_grad=True)
    assert filter_logits(logits).data_ptr() != logits.data_ptr()
    filter_logits(logits, temperature=2.0, top_k=2).log_softmax(-1)[0, 0].backward()
    share = 1 / (1 + math.exp(0.5))
    torch.testing.assert_close(logits.grad, torch.tensor([[0.5 * share, -0.5 * share, 0.0]]))


@given(st.lists(ROW, min_size=1, max_size=4), st.integers(0, 10_000), st.sampled_from([torch.float32, torch.float64]))
@examples(50)
def test_drop_rest_is_where_in_values_and_gradients(rows, seed, dtype):
    """The largest finite number and minus zero too, and a mask that need not be contiguous."""
    width = max(map(len, rows)) + 2
    filled = [[torch.finfo(dtype).max, -0.0, *row] + [-INF] * (width - 2 - len(row)) for row in rows]
    logits = torch.tensor(filled, dtype=dtype)
    stays = (torch.rand(logits.shape[::-1], generator=torch.Generator().manual_seed(seed)) < 0.5).T & (logits > -INF)
    gradients = []
    for drop in (drop_rest, lambda logits, stays: torch.where(stays, logits, -INF)):
        source = logits.clone().requires_grad_()
        result = drop(source, stays)
        result.masked_fill(~stays, 0).sum().backward()
        gradients.append((result.detach(), source.grad))
    (values, own), (expected, theirs) = gradients
    assert values.equal(expected) and values.signbit().equal(expected.signbit()) and values.dtype == dtype
    assert own.equal(theirs)


def test_the_source_may_be_a_view_or_not_contiguous():
    base = torch.randn(6, 4, generator=torch.Generator().manual_seed(3))
    for settings in ({"top_k": 2}, {"top_p": 0.6}, {"temperature": 0.5, "top_k": 3, "top_p": 0.5}):
        assert filter_logits(base.T, **settings).equal(filter_logits(base.T.contiguous(), **settings))
    expanded = base[:1].expand(5, 4)
    assert filter_logits(expanded, top_k=2).equal(filter_logits(base[:1], top_k=2).expand(5, 4))
