"""Weights in few bits: each kernel beside the product with the expanded weights, and whole models beside float32."""

from __future__ import annotations

import math
from pathlib import Path

import gguf
import pytest
import torch
from gguf_files import FIELDS, make_model, tensors_of, write
from stubs import FAMILIES, fresh_tiny
from torch import nn

from llm_gen import generate, load_model, load_tokenizer
from llm_gen.decode import Decoder
from llm_gen.quantized import MANY_ROWS, Int8Linear, Quantized, to_int8
from llm_gen.weights import gguf_native
from llm_gen.weights.gguf_native import Q4_1, Q8_0, BlockLinear
from llm_gen.weights.native import save_checkpoint

HELD_TEXT = Path(__file__).with_name("held_text.txt")
KINDS = {Q4_1: gguf.GGMLQuantizationType.Q4_1, Q8_0: gguf.GGMLQuantizationType.Q8_0}


def random(*shape, seed: int = 0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def block_linear(kind: int, weight, bias=None) -> BlockLinear:
    return BlockLinear(torch.from_numpy(gguf.quantize(weight.numpy(), KINDS[kind])), kind, bias)


MAKERS = {
    "int8": Int8Linear,
    "Q4_1": lambda weight, bias=None: block_linear(Q4_1, weight, bias),
    "Q8_0": lambda weight, bias=None: block_linear(Q8_0, weight, bias),
}
SMALLEST_ERROR = {"int8": 1 / 127, "Q4_1": 1 / 7, "Q8_0": 1 / 127}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("count", [1, 2, 8, MANY_ROWS - 1, MANY_ROWS, 70])
@pytest.mark.parametrize("bias", [False, True])
def test_a_product_is_that_of_the_expanded_weights(make, count, bias):
    added = nn.Parameter(random(48, seed=3)) if bias else None
    layer, x = make(random(48, 96), added), random(2, count, 96, seed=1)[:, :, :]
    with torch.no_grad():
        expected = x @ layer.rows(slice(None)).T + (added if bias else 0)
        for given in (x, x[0], x[0, 0], x.bfloat16()):
            result = layer(given)
            assert result.dtype == given.dtype
            wanted = expected[(0,) * (3 - given.ndim)]
            # bfloat16 has 8 bits: products of 96 numbers of size 1 are off by some hundredths.
            torch.testing.assert_close(result.float(), wanted, rtol=0.02, atol=0.15)
        assert ((layer(x) - expected).abs().mean() / expected.abs().mean()).item() < 0.01


@pytest.mark.parametrize("name", MAKERS)
def test_expanded_weights_are_the_weights_to_half_a_step(name):
    weight = random(32, 64) * torch.logspace(-3, 2, 32)[:, None]
    rows = MAKERS[name](weight).rows(slice(None))
    step = weight.abs().amax(dim=1, keepdim=True) * SMALLEST_ERROR[name]
    # The scale itself is rounded too, to 8 or 11 bits.
    assert ((rows - weight).abs() <= 0.6 * step + 1e-6).all()
    ids = torch.tensor([[3, 0], [31, 3]])
    assert MAKERS[name](weight).rows(ids).equal(rows[ids])


@pytest.mark.parametrize("shape", [(31, 64), (33, 170), (1, 40), (7, 1)])
def test_int8_of_any_shape(shape):
    """The kernel reads past the end of a row that is no multiple of 16 wide."""
    layer, x = Int8Linear(random(*shape)), random(3, shape[1], seed=1)
    torch.testing.assert_close(layer(x), x @ layer.rows(slice(None)).T, rtol=0.02, atol=0.15)


def test_rows_of_zeros_and_of_one_value_are_exact():
    weight = torch.zeros(16, 32)
    weight[1:] = torch.arange(1.0, 16.0)[:, None]
    rows = Int8Linear(weight).rows(slice(None))
    torch.testing.assert_close(rows, weight, rtol=1 / 128, atol=0)
    assert Int8Linear(weight)(torch.ones(1, 32))[0, 0] == 0


@pytest.mark.parametrize("name", MAKERS)
def test_without_a_kernel_the_result_is_that_of_the_expanded_weights(name, monkeypatch):
    layer, x = MAKERS[name](random(48, 96)), random(3, 96, seed=1)
    with_kernel = layer(x)
    monkeypatch.setattr(type(layer), "multiply", lambda self, x: None)
    torch.testing.assert_close(layer(x), x @ layer.rows(slice(None)).T)
    torch.testing.assert_close(layer(x), with_kernel, rtol=0.02, atol=0.15)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("rows", [1, 3, MANY_ROWS + 1])
@pytest.mark.parametrize("bias", [True, False])
def test_the_short_way_to_a_product_is_forward_and_a_sum(name, rows, bias):
    layer, x, added = MAKERS[name](random(48, 96)), random(rows, 96, seed=1), random(rows, 48, seed=2)
    layer.bias = torch.nn.Parameter(random(48, 1)[:, 0]) if bias else None
    torch.testing.assert_close(layer.product(x), layer(x), rtol=0, atol=0)
    torch.testing.assert_close(layer.product(x, added), added + layer(x), rtol=0, atol=0)
    assert layer.product(x.bfloat16()).dtype == torch.bfloat16


def test_a_build_without_the_kernel_can_load_blocks(monkeypatch):
    monkeypatch.setattr(gguf_native, "HAS_KERNEL", False)
    layer, x = block_linear(Q4_1, random(48, 96)), random(3, 96, seed=1)
    torch.testing.assert_close(layer(x), x @ layer.rows(slice(None)).T)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_expand_as_the_package_expands_them(kind):
    stored = gguf.quantize(random(32, 96).numpy(), KINDS[kind])
    expected = torch.from_numpy(gguf.dequantize(stored, KINDS[kind]))
    assert BlockLinear(torch.from_numpy(stored), kind).rows(slice(None)).equal(expected)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_native_model_is_the_expanded_one_but_for_bfloat16(tmp_path, tied, kind):
    model = make_model(tie_embeddings=tied, qkv_bias=True, vocab_size=272)
    path = write(tmp_path / "m.gguf", tensors_of(model), FIELDS | {"llama.vocab_size": 272}, kind=KINDS[kind])
    expanded, native = load_model(path), load_model(path, dtype="native")
    assert sum(isinstance(part, BlockLinear) for part in set(native.modules())) >= 4 * model.config.num_layers + 1
    assert not any(type(part) in (nn.Linear, nn.Embedding) for part in native.modules())
    assert not native.training and not any(parameter.requires_grad for parameter in native.parameters())
    ids = torch.arange(12)[None]
    with torch.no_grad():
        wanted, got = expanded(ids), native(ids)
    assert ((got - wanted).abs().mean() / wanted.abs().mean()).item() < 0.05


def test_native_keeps_in_float32_what_does_not_fit(tmp_path):
    """Another format; a vocabulary of 261 rows, which the kernel cannot divide."""
    path = write(tmp_path / "q.gguf", tensors_of(make_model()), kind=gguf.GGMLQuantizationType.Q4_1)
    assert type(load_model(path, dtype="native").embed) is nn.Embedding
    path = write(tmp_path / "m.gguf", tensors_of(make_model()), kind=gguf.GGMLQuantizationType.F16)
    native = load_model(path, dtype="native")
    assert not any(isinstance(part, Quantized) for part in native.modules())
    assert native(torch.arange(9)[None]).equal(load_model(path)(torch.arange(9)[None]))


@pytest.mark.parametrize("family", FAMILIES)
def test_int8_changes_the_logits_a_little_and_uses_no_plain_matrix(family):
    model, ids = fresh_tiny(family, embed_dim=64).requires_grad_(False), torch.arange(20)[None]
    wanted = model(ids)
    quantized = to_int8(model)
    assert quantized is model
    # Only routers stay: they are small, and choose.
    assert all("router" in name for name, part in model.named_modules() if type(part) is nn.Linear)
    error = (model(ids) - wanted).pow(2).mean().sqrt() / wanted.std()
    assert 0 < error.item() < 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_int8_steps_with_a_cache_follow_the_pass_without(family):
    model = to_int8(fresh_tiny(family, embed_dim=64))
    text = generate(model, torch.tensor([[3, 1, 4], [1, 5, 9]]), 12, False)
    logits = model(text[:, :-1])[:, 2:]
    chosen = logits.gather(-1, text[:, 3:, None])[..., 0]
    # The chosen token is the likeliest up to the rounding of bfloat16.
    assert (chosen >= logits.amax(dim=-1) - 0.05 * logits.abs().amax()).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("converted", ["before", "after"])
def test_int8_of_a_model_in_another_dtype(family, dtype, converted):
    """With and without a cache: activations stay in the dtype that the norms and the cache have."""
    model = fresh_tiny(family, embed_dim=64)
    wide, ids = to_int8(fresh_tiny(family, embed_dim=64)), torch.tensor([[3, 1, 4], [1, 5, 9]])
    model = to_int8(model.to(dtype)) if converted == "before" else to_int8(model).to(dtype)
    logits, wanted = model(ids), wide(ids)
    assert logits.dtype == dtype
    assert (logits - wanted).abs().mean() / wanted.abs().mean() < 0.2
    cache = model.make_cache(2)
    model(ids, cache=cache)
    assert Decoder(model)(ids[:, :1], cache).dtype == dtype


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_product_stays_in_the_dtype_of_its_input(name, dtype):
    layer, x, added = MAKERS[name](random(48, 96)), random(3, 96).to(dtype), random(3, 48).to(dtype)
    assert layer.product(x, added).dtype == layer.product(x).dtype == layer(x).dtype == dtype


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_stored_stays_as_it_is_in_every_dtype(name):
    layer, x = MAKERS[name](random(48, 96) * 1e-6), random(3, 96, seed=1)
    before, rows = layer(x), layer.rows(slice(None))
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert layer.to(dtype) is layer and layer(x).equal(before)
        assert layer.rows(slice(None)).equal(rows)
    assert layer.to("meta").rows(slice(None)).device.type == "meta"


def test_int8_once_more_changes_nothing():
    model = to_int8(fresh_tiny("LLaMA"))
    parts, wanted = list(model.modules()), model(torch.arange(9)[None])
    assert to_int8(model) is model and list(model.modules()) == parts
    assert model(torch.arange(9)[None]).equal(wanted)


def test_a_quarter_of_the_memory():
    model = fresh_tiny("LLaMA", embed_dim=256, num_layers=3)
    before = sum(parameter.nbytes for parameter in model.parameters())
    to_int8(model)
    held = sum(part.nbytes for part in {id(p): p for p in model.modules() if isinstance(p, Quantized)}.values())
    assert before / 4 < held + sum(parameter.nbytes for parameter in model.parameters()) < before / 4 * 1.05


def test_other_dtypes_are_refused(tmp_path):
    for wrong, error in ((8, TypeError), (torch.int8, TypeError), ("int4", ValueError), ("", ValueError)):
        with pytest.raises(error, match=r"dtype must be.*float32, int8, native"):
            load_model("tiny", dtype=wrong)
    with pytest.raises(ValueError, match=r"native.*gguf file, but .*tiny is a folder"):
        load_model("tiny", dtype="native")


def test_a_quantized_model_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match="model must have float weights"):
        save_checkpoint(tmp_path, load_model("tiny", dtype="int8"), load_tokenizer("tiny"))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.needs("smollm2")
def test_smollm2_loses_less_than_a_hundredth_of_its_perplexity():
    """1,500 tokens of prose: perplexity within 1 % of float32, once as a prompt and once a few tokens at a time."""
    ids = torch.tensor([load_tokenizer("smollm2").encode(HELD_TEXT.read_text(encoding="utf-8"))])
    plain = perplexity(load_model("smollm2"), ids)
    for dtype in ("int8", "native"):
        model = load_model("smollm2", dtype=dtype)
        assert perplexity(model, ids) == pytest.approx(plain, rel=0.01)
    few = ids[:, :200]
    cache = model.make_cache(1)
    with torch.no_grad():
        logits = torch.cat([model(part, cache=cache) for part in few.split(8, dim=1)], dim=1)
        assert nll(logits, few) == pytest.approx(nll(model(few), few), rel=0.01)


def perplexity(model, ids) -> float:
    parts = [part for part in ids.split(500, dim=1) if part.shape[1] > 1]
    with torch.no_grad():
        return math.exp(sum(nll(model(part), part) * part.shape[1] for part in parts) / ids.shape[1])


def nll(logits, ids) -> float:
    return nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:]).item()
