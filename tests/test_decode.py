"""The short way of a single token, beside its slow twin: calling the model."""

from __future__ import annotations

import pytest
import torch
from stubs import FAMILIES, ROWS, fresh_tiny, pad_left, tiny
from torch import nn

from llm_gen import generate
from llm_gen.decode import Decoder
from llm_gen.generation import Predictor
from llm_gen.layers import RMSNorm
from llm_gen.model import LLaMA

X = torch.tensor([[3, 1, 4, 1, 5]])


def both_ways(model, ids, mask, steps: int):
    """Logits of the same random tokens through a Decoder and through the model, each with a cache of its own."""
    short, long = model.make_cache(len(ids)), model.make_cache(len(ids))
    model(ids, mask, short), model(ids, mask, long)
    decoder, generator = Decoder(model), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for _ in range(steps):
            token = torch.randint(0, model.vocab_size, (len(ids), 1), generator=generator)
            yield decoder(token, short), model(token, cache=long)[:, -1], short, long


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "more", [{}, {"window_size": 4}, {"qkv_bias": True, "attention_out_bias": True, "mlp_bias": True}]
)
@pytest.mark.parametrize("rows", [1, 3, 8], ids=["alone", "padded", "many"])
def test_logits_and_cache_are_those_of_the_model(family, more, rows):
    model = tiny(family, 16, **more)
    ids, mask = (X, None) if rows == 1 else pad_left(ROWS) if rows == 3 else (X.repeat(rows, 1), None)
    for logits, expected, short, long in both_ways(model, ids, mask, 16 - ids.shape[1]):
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)
        assert short.length == long.length
        for ours, theirs in ((short.keys, long.keys), (short.values, long.values)):
            torch.testing.assert_close(
                ours[:, :, :, : short.length], theirs[:, :, :, : short.length], rtol=1e-4, atol=1e-4
            )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("more", [{}, {"window_size": 4}, {"qkv_bias": True, "attention_out_bias": True}])
@pytest.mark.parametrize("padding", [0, 2])
def test_some_columns_of_one_row_are_read_as_the_model_reads_them(family, more, padding):
    model = tiny(family, 16, **more)
    mask = torch.tensor([[0] * padding + [1] * (5 - padding)])
    short, long = model.make_cache(1, rolling=False), model.make_cache(1, rolling=False)
    model(X, mask, short), model(X, mask, long)
    decoder, generator = Decoder(model), torch.Generator().manual_seed(0)
    for count in (2, 1, 5, 3):
        ids = torch.randint(0, model.vocab_size, (1, count), generator=generator)
        ours, theirs = decoder.read(ids, short), model(ids, cache=long)
        assert ours.shape == (1, count, model.vocab_size)
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
        for ours, theirs in ((short.keys, long.keys), (short.values, long.values)):
            used = slice(0, short.length)
            torch.testing.assert_close(ours[:, :, :, used], theirs[:, :, :, used], rtol=1e-4, atol=1e-4)
    assert short.length == long.length == 16


def test_columns_that_would_turn_a_ring_are_refused_before_anything_is_written():
    model = tiny("Mistral", 16, window_size=6)
    cache = model.make_cache(1)
    model(X, cache=cache)
    before = cache.keys.clone()
    with pytest.raises(ValueError, match="count must be <= the 1 free slots, got 2"):
        Decoder(model).read(X[:, :2], cache)
    assert cache.length == 5 and cache.keys.equal(before)
    assert Predictor(model).after_each(X[:, :2], cache).shape == (1, 2, model.vocab_size)


@pytest.mark.parametrize("family", FAMILIES)
def test_half_precision_keeps_its_dtypes(family):
    model = fresh_tiny(family).bfloat16()
    for logits, expected, *_ in both_ways(model, X, None, 4):
        assert logits.dtype == torch.bfloat16
        torch.testing.assert_close(logits, expected, rtol=0.1, atol=0.3)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_float64_model_computes_in_float64_all_the_way(family):
    """Norms and rotations too: in float32 the two ways would part in the eighth digit."""
    for logits, expected, short, long in both_ways(tiny(family, 16).double(), X, None, 8):
        torch.testing.assert_close(logits, expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(short.values, long.values, rtol=1e-12, atol=1e-12)


def test_a_full_cache_is_refused_before_anything_is_written():
    model = tiny("LLaMA", 8)
    *_, (_, _, cache, _) = both_ways(model, X, None, 3)
    before = cache.keys.clone()
    with pytest.raises(ValueError, match="max_seq_len 8, got 8"):
        Decoder(model)(X[:, :1], cache)
    assert cache.length == 8 and cache.keys.equal(before)


def test_a_step_that_failed_can_be_repeated():
    model, token = fresh_tiny("LLaMA"), X[:, :1]
    *_, (_, _, cache, twin) = both_ways(model, X, None, 3)
    with pytest.raises(RuntimeError):
        Decoder(model)(token.double(), cache)
    assert cache.length == twin.length
    torch.testing.assert_close(Decoder(model)(token, cache), model(token, cache=twin)[:, -1], rtol=1e-4, atol=1e-4)


def counted(model, monkeypatch) -> int:
    """How many tokens of six go through a Decoder; the text must be the same without one."""
    calls, short = [], Decoder.__call__
    with monkeypatch.context() as patch:
        patch.setattr(Decoder, "__call__", lambda self, *args: calls.append(1) or short(self, *args))
        text = generate(model, X, 6, False)
        patch.setattr(Decoder, "fits", staticmethod(lambda model: False))
        assert generate(model, X, 6, False).equal(text)
    return len(calls)


def test_it_is_used_for_every_token_but_the_first(monkeypatch):
    assert counted(fresh_tiny("LLaMA"), monkeypatch) == 5


class Twice(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class OwnLogits(LLaMA):
    def logits(self, hidden):
        return super().logits(hidden).flip(-1)


def hooked(model):
    model.blocks[1].mlp.down.register_forward_hook(lambda module, args, result: 2 * result)


def prehooked(model):
    model.blocks[0].register_forward_pre_hook(lambda module, args: (args[0] + 1, *args[1:]))


def with_another_part(model):
    model.blocks[0].mlp.up = Twice(32, model.config.mlp_dim * 2, bias=False).requires_grad_(False)


def with_a_forward_of_its_own(model):
    plain = model.final_norm.forward
    model.final_norm.forward = lambda x: plain(x).flip(-1)


def with_logits_of_its_own(model):
    plain = model.logits
    model.logits = lambda hidden: plain(hidden).flip(-1)


def with_embeddings_of_its_own(model):
    plain = model.embed_at
    model.embed_at = lambda ids, positions: plain(ids, positions) + 1


def with_a_wider_norm(model):
    model.bfloat16().final_norm.float()


def with_wider_norms(model):
    model.bfloat16()
    for part in model.modules():
        if isinstance(part, RMSNorm):
            part.float()


CHANGES = [
    hooked,
    prehooked,
    with_another_part,
    with_a_forward_of_its_own,
    with_logits_of_its_own,
    with_embeddings_of_its_own,
    with_a_wider_norm,
    with_wider_norms,
]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_the_model_is_not_passed_over(change, monkeypatch):
    model = fresh_tiny("LLaMA")
    change(model)
    assert counted(model, monkeypatch) == 0


def test_a_family_with_other_logits_is_called(monkeypatch):
    model = OwnLogits(tiny("LLaMA").config).eval()
    assert counted(model, monkeypatch) == 0


def test_dropout_in_train_mode_is_not_passed_over():
    model = fresh_tiny("GPT2", dropout=0.5)
    assert Decoder.fits(model) and not Decoder.fits(model.train())
    model.eval().blocks[1].attn.train()
    assert not Decoder.fits(model)


def test_hooks_of_all_modules_count():
    handle = nn.modules.module.register_module_forward_hook(lambda *call: None)
    try:
        assert not Decoder.fits(tiny("LLaMA"))
    finally:
        handle.remove()
