"""What a step records, computed a second time by hand; and what the loop holds on to while it runs."""

from __future__ import annotations

import math
import weakref

import pytest
import torch
from stubs import ROWS, Stub, pad_left, tiny
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from llm_gen import LLaMA, filter_logits, generate, generate_steps


def chosen(log_probs, step):
    return log_probs.gather(-1, step.tokens)[:, 0]


@pytest.mark.parametrize(
    "settings",
    [{}, {"temperature": 0.6}, {"temperature": 1.5, "top_k": 4}, {"top_p": 0.7}, {"top_k": 1}, {"temperature": 1e-40}],
    ids=str,
)
@pytest.mark.parametrize("use_cache", [True, False])
def test_sampled_steps(settings, use_cache):
    model, (ids, mask) = tiny("LLaMA", 12), pad_left(ROWS)
    text, fed, read = ids, [], 0
    generator = torch.Generator().manual_seed(0)
    steps = generate_steps(
        model, ids, 8, True, **settings, use_cache=use_cache, attention_mask=mask, generator=generator
    )
    for step in steps:
        ones = torch.ones(3, text.shape[1] - 8, dtype=torch.long)
        logits = model(text[:, -12:], torch.cat([mask, ones], dim=1)[:, -12:])[:, -1]
        torch.testing.assert_close(step.logits, logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(step.model_probs, logits.softmax(-1), rtol=1e-3, atol=1e-6)
        filtered = filter_logits(step.logits, **settings)
        torch.testing.assert_close(step.probs, filtered.softmax(-1))
        torch.testing.assert_close(step.log_probs, chosen(filtered.log_softmax(-1), step))
        temperature = settings.get("temperature", 1.0)
        full = filter_logits(step.logits, temperature).log_softmax(-1)
        torch.testing.assert_close(step.full_log_probs, chosen(full, step))
        assert (step.probs.gather(-1, step.tokens) > 0).all()
        assert step.active.all() and not step.finished.any()
        within = text.shape[1] <= 12
        fed.append(text.shape[1] - read if use_cache and within else min(text.shape[1], 12))
        read = text.shape[1]
        assert step.tokens_fed == fed[-1]
        assert step.cache_length == (text.shape[1] if use_cache and within else 0)
        for record in (step.probs, step.model_probs, step.log_probs, step.full_log_probs):
            assert record.dtype == torch.float32
        text = torch.cat([text, step.tokens], dim=1)
    assert len(fed) == 8
    generator.manual_seed(0)
    again = generate(model, ids, 8, True, **settings, use_cache=use_cache, attention_mask=mask, generator=generator)
    assert again.equal(text), "generate is its steps"


def test_greedy_draws_from_a_one_hot_and_keeps_the_whole_softmax_beside_it():
    model, (ids, mask) = tiny("GPT2"), pad_left(ROWS)
    for step in generate_steps(model, ids, 4, False, temperature=3.0, top_k=7, attention_mask=mask):
        one_hot = torch.nn.functional.one_hot(step.logits.argmax(-1), 31).float()
        assert step.probs.equal(one_hot)
        assert step.log_probs.tolist() == [0, 0, 0]
        full = step.logits.log_softmax(-1).amax(-1)
        torch.testing.assert_close(step.full_log_probs, full)
        assert (full < -1e-4).any()


def test_finished_rows_are_inactive_from_the_next_step_on_and_their_log_probs_are_zero():
    steps = list(generate_steps(Stub("NEXT"), torch.tensor([[1], [6], [8]]), 9, False, eos_token_id=9, pad_token_id=5))
    assert [step.tokens[:, 0].tolist() for step in steps[:4]] == [[2, 7, 9], [3, 8, 5], [4, 9, 5], [5, 5, 5]]
    assert [step.active.tolist() for step in steps[:4]] == [[1, 1, 1], [1, 1, 0], [1, 1, 0], [1, 0, 0]]
    assert [step.finished.tolist() for step in steps[:4]] == [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]]
    assert len(steps) == 8
    full = -math.log1p(9 * math.exp(-20))
    for step in steps:
        torch.testing.assert_close(step.full_log_probs, torch.where(step.active, full, 0.0))
        assert (step.full_log_probs[~step.active] == 0).all()


def test_float64_logits_beyond_float32_are_recorded_without_nan():
    class Wide(Stub):
        def __call__(self, ids, attention_mask=None, cache=None):
            row = torch.tensor([1e39, 0.0, -1e39, 1e39] + [0.0] * 6, dtype=torch.float64)
            return row.expand(*ids.shape, 10)

    (step,) = generate_steps(Wide("NEXT"), torch.tensor([[1]]), 1, True)
    assert step.probs[0, :4].tolist() == step.model_probs[0, :4].tolist() == [0.5, 0, 0, 0.5]
    assert step.log_probs.item() == step.full_log_probs.item() == pytest.approx(math.log(0.5))


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_kept_step_holds_its_own_position_only(use_cache):
    x = torch.ones(2, 40, dtype=torch.long)
    for model in (Stub("NEXT", cached=True), tiny("LLaMA")):
        for step in generate_steps(model, x, 3, False, use_cache=use_cache):
            assert step.logits.untyped_storage().nbytes() == 2 * model.vocab_size * 4


class Alive(TorchDispatchMode):
    """Counts the bytes of what operations have made and is still referred to; `peak` is the most there ever was."""

    def __init__(self):
        super().__init__()
        self.sizes, self.peak = {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self.watch(tensor.untyped_storage())
        return out

    def watch(self, storage):
        if storage.data_ptr() not in self.sizes:
            self.sizes[storage.data_ptr()] = storage.nbytes()
            weakref.finalize(storage, self.sizes.pop, storage.data_ptr(), None)
            self.peak = max(self.peak, sum(self.sizes.values()))


@pytest.mark.parametrize(
    ("do_sample", "settings", "many"),
    [(False, {}, 200), (True, {"top_k": 50}, 40), (True, {"top_p": 0.9}, 25)],
    ids=["greedy", "k", "p"],
)
def test_i14_memory_does_not_grow_with_the_steps(do_sample, settings, many):
    sizes = {"vocab_size": 50257, "embed_dim": 8, "num_heads": 1, "num_layers": 1, "max_position_embeddings": 256}
    model, x = LLaMA(sizes).eval(), torch.ones(4, 2, dtype=torch.long)
    row_of_logits = 4 * 50257 * 4
    peaks = []
    for count in (10, many):
        with Alive() as alive:
            for step in generate_steps(model, x, count, do_sample, **settings):
                assert step.model_probs.shape == (4, 50257)
        peaks.append(alive.peak)
    assert peaks[0] > 3 * row_of_logits, "the count saw nothing"
    # Ids, masks and the cache of 200 columns are some 50 kB; one (B, V) kept a step would be 150 MB.
    assert peaks[1] - peaks[0] < row_of_logits / 4


def test_steps_are_equal_to_themselves_only():
    one, other = (next(generate_steps(Stub("NEXT"), torch.tensor([[1]]), 1, False)) for _ in range(2))
    assert one == one and one != other and len({one, other}) == 2
