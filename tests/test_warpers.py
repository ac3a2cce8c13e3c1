"""Cuts after top-p: kept sets against plain loops and against transformers, ties and borders as stated."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import examples, kept_ids
from transformers.generation import logits_process as theirs

from llm_gen import generate
from llm_gen.beyond import Mirostat, epsilon_cut, eta_cut, min_p, top_n_sigma, typical

IDS = torch.zeros((1, 1), dtype=torch.long)
rows = st.lists(st.floats(-8, 8), min_size=1, max_size=12)


def entropy(probs):
    return -sum(p * math.log(p) for p in probs if p > 0)


def oracle(name, logits, value):
    """Which ids stay, by the definition, in plain Python."""
    probs = torch.tensor([logits], dtype=torch.float64).softmax(-1)[0].tolist()
    best = max(range(len(probs)), key=lambda i: (logits[i], -i))
    if name == "typical":
        order = sorted(range(len(probs)), key=lambda i: (abs(-math.log(probs[i]) - entropy(probs)), i))
        kept, mass = [], 0.0
        for token in order:
            if mass < value:
                kept.append(token)
            mass += probs[token]
        return sorted(kept)
    if name == "top_n_sigma":
        mean = sum(logits) / len(logits)
        sigma = math.sqrt(sum((z - mean) ** 2 for z in logits) / len(logits))
        return [i for i, z in enumerate(logits) if z >= max(logits) - value * sigma or i == best]
    threshold = {
        "min_p": value * max(probs),
        "epsilon_cut": value,
        "eta_cut": min(value, math.sqrt(value) * math.exp(-entropy(probs))),
    }[name]
    return [i for i, p in enumerate(probs) if p >= threshold or i == best]


def near_a_border(name, logits, value):
    """Whether a value so little larger or smaller would keep another set: rounding may then decide."""
    return len({tuple(oracle(name, logits, value * factor)) for factor in (1 - 1e-6, 1, 1 + 1e-6)}) > 1


@pytest.mark.parametrize("warper", [min_p, typical, epsilon_cut, eta_cut, top_n_sigma], ids=lambda f: f.__name__)
@given(rows, st.floats(0.01, 0.95))
@examples(60)
def test_kept_sets_are_those_of_the_definition(warper, row, value):
    row = [float(torch.tensor(z)) for z in row]
    if near_a_border(warper.__name__, row, value) or len(set(row)) < len(row):
        return
    logits = torch.tensor([row])
    before = logits.clone()
    result = warper(IDS, logits, value)
    assert kept_ids(result) == [oracle(warper.__name__, row, value)]
    assert torch.equal(logits, before) and torch.equal(result[result.isfinite()], logits[result.isfinite()])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("ours", "other"),
    [
        (partial(min_p, share=0.07), theirs.MinPLogitsWarper(0.07)),
        (partial(typical, mass=0.6), theirs.TypicalLogitsWarper(0.6)),
        (partial(epsilon_cut, epsilon=0.02), theirs.EpsilonLogitsWarper(0.02)),
        (partial(eta_cut, epsilon=0.05), theirs.EtaLogitsWarper(0.05)),
    ],
    ids=lambda f: getattr(getattr(f, "func", None), "__name__", ""),
)
def test_transformers_keeps_the_same_tokens(ours, other, seed):
    logits = torch.randn(3, 60, generator=torch.Generator().manual_seed(seed)) * 2
    mine, yours = ours(IDS, logits), other(IDS, logits.clone())
    assert kept_ids(mine) == kept_ids(yours)
    torch.testing.assert_close(mine.softmax(-1), yours.softmax(-1))


def test_k15_min_p_is_relative_to_the_largest_probability():
    assert kept_ids(min_p(IDS, torch.tensor([[2.0, 1.0, -1.0]]), 0.1)) == [[0, 1]]


def test_ties_and_borders():
    equal = torch.zeros(1, 4)
    assert kept_ids(min_p(IDS, equal, 1.0)) == [[0, 1, 2, 3]]
    assert kept_ids(epsilon_cut(IDS, equal, 0.25)) == [[0, 1, 2, 3]]
    assert kept_ids(epsilon_cut(IDS, equal, 0.26)) == [[0]]
    assert kept_ids(typical(IDS, equal, 0.5)) == [[0, 1]]
    assert kept_ids(top_n_sigma(IDS, equal, 0.5)) == [[0, 1, 2, 3]]
    dropped = torch.tensor([[0.0, -torch.inf, 1.0]])
    for warper in (min_p, typical, epsilon_cut, eta_cut, top_n_sigma):
        assert 1 not in kept_ids(warper(IDS, dropped, 0.5))[0]


def test_a_border_that_sums_reach_only_nearly_is_reached():
    """0.05 / 0.5 is 0.1, and 0.7 + 0.1 is 0.8, but not in the last digit of float64."""
    probs = torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64)
    assert kept_ids(min_p(IDS, probs.log(), 0.1)) == [[0, 1, 2, 3]]
    for share in (0.15, 0.05, 0.3):
        assert (probs[0] == share).nonzero()[0, 0] in kept_ids(epsilon_cut(IDS, probs.log(), share))[0]
    eighths = torch.tensor([[0.7, 0.1, 0.1, 0.1]], dtype=torch.float64)
    assert kept_ids(typical(IDS, eighths.log(), 0.8)) == [[0, 1]]
    assert kept_ids(typical(IDS, eighths.log(), 1e-60)) == [[0]]


def test_top_n_sigma_does_not_change_with_the_temperature():
    logits = torch.randn(5, 40, generator=torch.Generator().manual_seed(0))
    for temperature in (0.3, 2.0, 7.0):
        assert kept_ids(top_n_sigma(IDS, logits, 1.3)) == kept_ids(top_n_sigma(IDS, logits / temperature, 1.3))


class Spread:
    """The same wide distribution at every step."""

    vocab_size, max_seq_len = 200, 10_000

    def __call__(self, ids, attention_mask=None, cache=None):
        return (-0.2 * torch.arange(200.0)).expand(*ids.shape, 200)

    def make_cache(self, batch_size):
        return None


@pytest.mark.parametrize("target", [2.8, 3.4])
def test_mirostat_brings_the_mean_surprise_to_its_target(target):
    model, x = Spread(), torch.zeros((1, 1), dtype=torch.long)
    text = generate(
        model, x, 600, True, warpers=[Mirostat(target, rate=0.2)], generator=torch.Generator().manual_seed(0)
    )
    surprise = -model(x).log_softmax(-1)[0, 0] / math.log(2)
    mean = surprise[text[0, 200:]].mean().item()
    assert mean == pytest.approx(target, abs=0.1)
    assert (-surprise * math.log(2)).softmax(-1) @ surprise > target, "without it the surprise would be higher"


def test_mirostat_moves_mu_by_the_rate_times_the_error():
    mirostat, logits = Mirostat(3.0, rate=0.5), torch.tensor([[0.0, 1.0, 2.0]])
    mirostat(IDS, logits)
    assert mirostat.mu.item() == 6.0
    mirostat(torch.tensor([[0, 1]]), logits)
    surprise = -logits.double().log_softmax(-1)[0, 1].item() / math.log(2)
    assert mirostat.mu.item() == pytest.approx(6.0 - 0.5 * (surprise - 3.0))


def test_mirostat_begins_anew_with_another_text():
    mirostat, logits = Mirostat(3.0, rate=0.5), torch.tensor([[0.0, 1.0, 2.0]])
    mirostat(IDS, logits)
    mirostat(torch.tensor([[0, 1]]), logits)
    for other in ([[2]], [[0, 1]], [[0, 2, 1]], [[0], [1]]):
        mirostat(torch.tensor(other), logits.expand(len(other), 3))
        assert mirostat.mu.tolist() == [[6.0]] * len(other), "neither mu nor the token drawn belong to this text"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda z: min_p(IDS, z, 0), r"share must lie in \(0, 1\], got 0"),
        (lambda z: min_p(IDS, z, 1.1), r"share must lie in \(0, 1\], got 1.1"),
        (lambda z: typical(IDS, z, 1.0), r"mass must lie in \(0, 1\), got 1"),
        (lambda z: epsilon_cut(IDS, z, -0.1), r"epsilon must lie in \(0, 1\)"),
        (lambda z: eta_cut(IDS, z, math.nan), "epsilon must be finite"),
        (lambda z: top_n_sigma(IDS, z, 0), "n must be > 0, got 0"),
        (lambda z: Mirostat(target=0), "target and rate must be > 0"),
        (lambda z: Mirostat(rate=-1), "target and rate must be > 0"),
    ],
)
def test_wrong_numbers_are_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call(torch.zeros(1, 3))
