"""Metrics against values worked out by hand."""

import math

import pytest
import torch

from llm_gen import filter_logits
from llm_gen.model import DecoderLM
from llm_gen.story import Truth, judge
from llm_gen.story.metrics import (
    against_limit,
    compare,
    distinct_in_groups,
    distinct_n,
    entropy,
    kl_divergence,
    mean_of,
    model_along,
    nucleus_size,
    quality,
    repeated_phrases,
    share_of,
)
from llm_gen.story.report import held_out
from llm_gen.story.tell import tell
from llm_gen.train_tiny import train_tokenizer


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_means_and_their_errors():
    estimate = mean_of([1.0, 2.0, 6.0])
    assert estimate.value == 3.0
    assert math.isclose(estimate.error, math.sqrt(7.0 / 3))  # sample variance 7
    with pytest.raises(ValueError, match="values must be at least 2, got 1"):
        mean_of([1.0])


def test_a_share_of_all_or_none_is_not_called_certain():
    half = share_of([True, False] * 50)
    assert half.value == 0.5
    assert math.isclose(half.error, math.sqrt(0.25 / 104))
    everything = share_of([True] * 16)
    assert everything.value == 1.0
    assert math.isclose(everything.error, math.sqrt(0.9 * 0.1 / 20))
    with pytest.raises(ValueError, match="at least one, got none"):
        share_of([])


def test_distinct_and_repeated_phrases():
    assert distinct_n(["a b a b"], 2) == 2 / 3
    assert distinct_n(["a b", "a b"], 2) == 0.5
    assert distinct_n(["a"], 2) == 0.0
    assert repeated_phrases("a b c d e") == 0.0
    assert repeated_phrases("a b a b a b", n=2) == 1 - 2 / 5
    assert repeated_phrases(("round and round we go " * 50).strip()) > 0.97


def test_distinct_pairs_are_averaged_over_whole_groups():
    pairs = ["a b", "a b", "a b", "c d", "x y z"]
    estimate = distinct_in_groups(pairs, size=2)
    assert estimate.value == 0.75  # 1/2 and 2/2; the fifth text fills no group
    assert math.isclose(estimate.error, 0.25)
    with pytest.raises(ValueError, match="texts must fill two groups of 3, got 5"):
        distinct_in_groups(pairs, size=3)
    with pytest.raises(ValueError, match="size must be an integer >= 1, got 0"):
        distinct_in_groups(pairs, size=0)


def test_entropy_divergence_and_nucleus():
    p, q = tensor([0.5, 0.5, 0.0], [1.0, 0.0, 0.0]), tensor([0.25, 0.5, 0.25], [0.5, 0.5, 0.0])
    torch.testing.assert_close(entropy(p), tensor(math.log(2), 0.0))
    torch.testing.assert_close(kl_divergence(p, q), tensor(0.5 * math.log(2), math.log(2)))
    assert kl_divergence(q, p)[0] == math.inf
    assert nucleus_size(tensor([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 0.5).tolist() == [1, 1]
    assert nucleus_size(tensor(0.5, 0.3, 0.2), 0.51).item() == 2
    assert nucleus_size(tensor(0.5, 0.5, 0.0), 1.0).item() == 2


def test_compare_splits_the_model_into_inside_and_outside():
    model, truth = tensor([0.4, 0.4, 0.2], [0.9, 0.1, 0.0]), tensor([0.5, 0.5, 0.0], [0.9, 0.1, 0.0])
    found = compare(model, truth)
    torch.testing.assert_close(found.outside, tensor(0.2, 0.0))
    torch.testing.assert_close(found.inside, tensor(0.0, 0.0))
    torch.testing.assert_close(found.missed, tensor(math.log(0.5 / 0.4), 0.0))
    torch.testing.assert_close(found.true_entropy[0], torch.tensor(math.log(2), dtype=torch.float64))
    assert found.model_entropy[0] > found.true_entropy[0]


def test_quality_counts_verdicts():
    good = held_out(3)
    broken = good[0].replace(" was ", " is ")
    mixed = good[1].split(". ")[0] + "."
    found = quality([*good, broken, mixed])
    assert found.consistent.value == 0.6
    assert found.grammatical.value == sum(judge(text).grammatical for text in [*good, broken, mixed]) / 5


@pytest.fixture(scope="module")
def truth():
    return Truth(train_tokenizer(400, stories=50), checked=10)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"embed_dim": 16, "num_heads": 2, "num_layers": 1, "max_position_embeddings": 320}
    return DecoderLM({"vocab_size": 400, **sizes}).eval()


def test_an_untrained_model_is_as_far_above_the_limit_as_counting_says(model, truth):
    limit = against_limit(model, truth, held_out(4))
    assert abs(limit.model - math.log(400)) < 0.05  # near uniform over 400 tokens
    assert 0.1 < limit.truth < 0.6
    assert math.isclose(limit.above, limit.model / limit.truth - 1)
    assert limit.excess.value > 0


def test_missed_is_the_divergence_of_model_and_truth_position_by_position(model, truth):
    ids = truth.tokenizer.encode(held_out(1)[0])[:40]
    ours, true = model_along(model, ids), truth.along(ids)[1:]
    found = compare(ours, true)
    assert found.missed.shape == (39,)
    for t in range(39):
        by_hand = sum(p * math.log(p / q) for p, q in zip(true[t].tolist(), ours[t].tolist()) if p > 0)
        assert math.isclose(found.missed[t].item(), by_hand, rel_tol=1e-9)


def test_a_told_text_depends_on_its_seed_and_not_on_the_batch(model, truth):
    settings = {"prompt": "Once upon", "max_new_tokens": 12}
    together = tell(model, truth.tokenizer, 5, seed=3, **settings)
    assert together == tell(model, truth.tokenizer, 5, seed=3, batch=2, **settings)
    assert together != tell(model, truth.tokenizer, 5, seed=4, **settings)
    assert len(set(together)) == 5
    assert all(text.startswith("Once upon") for text in together)


def test_telling_stops_at_the_end_token_and_shows_other_control_tokens(truth):
    class Scripted:
        """Says <pad>, then " a", then <eos>, whatever it reads."""

        vocab_size, max_seq_len = 400, 64

        def __call__(self, ids, attention_mask=None, cache=None):
            logits = torch.full((*ids.shape, 400), -1e9)
            script = [0, truth.tokenizer.encode(" a", add_special_tokens=False)[0], 2]
            logits[:, -1, script[min(ids.shape[1] - 1, 2)]] = 0.0
            return logits

        def make_cache(self, batch_size):
            return None

    assert tell(Scripted(), truth.tokenizer, 2) == ["<pad> a"] * 2


def test_nucleus_sizes_are_those_of_the_rule():
    probs = tensor([0.7, 0.1, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25])
    for top_p in (0.1, 0.5, 0.8, 0.9, 1.0):
        assert nucleus_size(probs, top_p).equal((filter_logits(probs.log(), top_p=top_p) > -math.inf).sum(-1))
    assert nucleus_size(probs, 0.8).tolist() == [2, 4] and nucleus_size(probs[None], 0.8).shape == (1, 2)
    large = torch.randn(1, 131072, generator=torch.Generator().manual_seed(0)).softmax(-1)
    assert nucleus_size(large, 1.0).item() == 131072
    for top_p in (0, -1, math.nan):
        with pytest.raises(ValueError, match="top_p"):
            nucleus_size(probs, top_p)
