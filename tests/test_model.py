"""DecoderLM: however a text is fed, the logits are those of one pass over the whole of it.

Logits here spread over several units; 1e-4 allows for float32 sums in another order and for nothing else.
"""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from by_the_book import Book
from hypothesis import given
from hypothesis import strategies as st
from stubs import FAMILIES, ROWS, Stub, examples, feed_in_chunks, fresh_tiny, pad_left, random_rows, refused, tiny

from llm_gen import DecoderLM, KVCache
from llm_gen.layers import rotary_tables

IDS = torch.randint(0, 31, (2, 14), generator=torch.Generator().manual_seed(0))


def agree(one, other, tolerance=1e-4):
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"window_size": 3, "norm_eps": 0.1, "num_kv_heads": 2, "head_size": 6, "mlp_dim": 20},
        {"activation": "relu", "gated_mlp": False, "qkv_bias": True, "mlp_bias": True, "attention_out_bias": True},
        {"activation": "gelu", "pre_norm": False, "tie_embeddings": True, "rope_theta": 50.0},
    ],
    ids=["as it is", "sizes", "biases", "post-norm"],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_those_of_the_book(family, more):
    model = tiny(family, **more)
    agree(model(IDS[:1, :7])[0].double(), Book(model).logits(IDS[0, :7].tolist()))


@pytest.mark.parametrize("window", [None, 3], ids=["everything", "window 3"])
@pytest.mark.parametrize("family", FAMILIES)
def test_c01_c02_c07_c16_token_by_token_equals_one_pass(family, window):
    model = tiny(family, window_size=window)
    agree(feed_in_chunks(model, IDS, [1] * 14), model(IDS))


@st.composite
def feedings(draw):
    """A window, a batch of rows (ragged, as a rule) and how it is cut into chunks."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=2, max_size=3))
    more = draw(st.integers(0, 8))
    rows = random_rows([length + more for length in lengths], draw(st.integers(0, 99)))
    # Each row needs a real token in the first chunk: a mask without one is refused.
    first = draw(st.integers(max(lengths) - min(lengths) + 1, max(lengths) + more))
    return draw(st.none() | st.integers(1, 6)), rows, [first, *draw(st.lists(st.integers(1, 5), max_size=8))]


@pytest.mark.parametrize("family", FAMILIES)
@given(feedings())
@examples(20)
def test_c05_c20_chunks_equal_the_whole_and_rows_equal_themselves_alone(family, feeding):
    window, rows, chunks = feeding
    model = tiny(family, 17, window_size=window)
    ids, mask = pad_left(rows)
    whole = model(ids, mask)
    real = mask.bool()
    agree(feed_in_chunks(model, ids, chunks, mask)[real], whole[real])
    for row, logits in zip(rows, whole):
        agree(model(torch.tensor([row]))[0], logits[-len(row) :])


def test_c05_a_chunk_sees_keys_that_it_evicts_itself():
    model = tiny("Mistral", num_layers=1)
    agree(feed_in_chunks(model, IDS[:, :8], [4, 4]), model(IDS[:, :8]), 1e-5)


def test_the_cache_remembers_the_padding_and_a_full_mask_may_come_along():
    model, (ids, mask) = tiny("GPT2"), pad_left(ROWS)
    whole = model(ids, mask)[:, -1]
    for later in (None, mask):
        kv = model.make_cache(3)
        model(ids[:, :7], mask[:, :7], kv)
        agree(model(ids[:, 7:], later, kv)[:, -1], whole)


def test_a_mask_that_contradicts_the_cache_is_refused():
    model, (ids, mask) = tiny("LLaMA"), pad_left(ROWS)
    kv = model.make_cache(3)
    model(ids[:, :7], mask[:, :7], kv)
    for wrong in (torch.ones_like(mask), mask.flip(0)):
        refused(lambda w=wrong: model(ids[:, 7:], w, kv), ValueError, ["attention_mask", "padding", "cache"])
    refused(lambda: model(ids[:, 7:], mask[:, 7:], kv), ValueError, ["attention_mask", "(3, 8)", "(3, 1)"])
    assert kv.length == 7


@pytest.mark.parametrize("family", FAMILIES)
def test_last_only_gives_the_last_position(family):
    model, (ids, mask) = tiny(family), pad_left(ROWS)
    agree(model(ids, mask, last_only=True), model(ids, mask)[:, -1:], 1e-5)
    agree(model(ids, mask, model.make_cache(3), last_only=True), model(ids, mask)[:, -1:], 1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_of_no_rows(family):
    model = tiny(family)
    assert model(IDS[:0]).shape == (0, 14, 31)
    assert feed_in_chunks(model, IDS[:0], [1] * 14).shape == (0, 14, 31)


@pytest.mark.parametrize(
    ("ids", "error", "words"),
    [
        (IDS + 31, ValueError, ["0..30"]),
        (IDS - 31, ValueError, ["0..30", "-"]),
        (IDS.float(), TypeError, ["integer dtype", "float32"]),
        (IDS[0], ValueError, ["(B, T)", "(14,)"]),
        (IDS[:, :0], ValueError, ["at least one token", "(2, 0)"]),
        (IDS.tolist(), TypeError, ["tensor", "list"]),
    ],
    ids=["beyond V", "negative", "float", "one axis", "empty", "list"],
)
def test_forward_refuses_ids(ids, error, words):
    refused(lambda: tiny("LLaMA")(ids), error, ["ids", *words])


def test_forward_refuses_more_columns_than_the_context():
    for family in ("GPT2", "LLaMA", "Mistral"):
        model = tiny(family, 8)
        refused(lambda m=model: m(IDS[:, :9]), ValueError, ["max_seq_len 8", "0 + 9"])
        kv = model.make_cache(2)
        model(IDS[:, :7], cache=kv)
        refused(lambda m=model, kv=kv: m(IDS[:, :2], cache=kv), ValueError, ["max_seq_len 8", "7 + 2"])
        agree(model(IDS[:, 7:8], cache=kv), model(IDS[:, :8])[:, -1:])


def test_forward_refuses_the_cache_of_another_model():
    model, x = tiny("LLaMA"), IDS[:, :3]
    others = [
        tiny("LLaMA").make_cache(3),
        tiny("LLaMA", num_kv_heads=4).make_cache(2),
        tiny("LLaMA", num_layers=1).make_cache(2),
        tiny("LLaMA", 32).make_cache(2),
        tiny("Mistral").make_cache(2),
        KVCache(2, 2, 2, 8, 64, dtype=torch.float16),
    ]
    for other in others:
        refused(lambda o=other: model(x, cache=o), ValueError, ["cache must have", "layers, batch"])
        assert other.length == 0
    for kind in ("cache", 3, Stub("NEXT", cached=True).make_cache(2)):
        refused(lambda k=kind: model(x, cache=k), TypeError, ["cache"])
    refused(lambda: model.make_cache(-1), ValueError, ["batch_size", ">= 0", "-1"])
    refused(lambda: model.make_cache(1.0), TypeError, ["batch_size", "integer", "1.0"])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.3), (torch.float16, 0.04)])
def test_narrow_weights_stay_near_float32(family, dtype, tolerance):
    """Absolute, on logits up to 8: some steps of the dtype's grid. All experts vote: rounding may swap two."""
    more = {"top_k_experts": 4} if family == "Mixtral" else {}
    wide, narrow = (fresh_tiny(family, **more).to(dtype).requires_grad_(False) for _ in range(2))
    ids, mask = pad_left(ROWS)
    expected = wide.float()(ids, mask)
    for logits in (narrow(ids, mask), feed_in_chunks(narrow, ids, [7, 1], mask)):
        assert logits.dtype == dtype
        assert (logits.float() - expected)[mask.bool()].abs().max() < tolerance
    assert narrow.make_cache(1).keys.dtype == dtype
    assert narrow.generate(ids, 8, False, attention_mask=mask).shape == (3, 16)


@pytest.mark.parametrize("used_before", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rotary_tables_stay_float32_and_outside_the_checkpoint(dtype, used_before):
    """In bfloat16 position 257 would be read as 256, whether a model is converted before or after its first use."""
    model = fresh_tiny("LLaMA")
    names = set(model.state_dict())
    if used_before:
        model(IDS)
    model = model.to(dtype)
    model(IDS)
    assert model._rotary[0].dtype == model._rotary[1].dtype == torch.float32
    assert model._rotary[0].equal(rotary_tables(model.config)[0])
    assert set(model.state_dict()) == names


def test_tied_heads_and_scaled_embeddings():
    plain, tied = tiny("LLaMA"), tiny("LLaMA", tie_embeddings=True)
    assert not hasattr(tied, "head")
    hidden = []
    handle = tied.final_norm.register_forward_hook(lambda *call: hidden.append(call[-1]))
    logits = tied(IDS)
    handle.remove()
    agree(logits, hidden[0] @ tied.embed.weight.T, 1e-5)
    scaled = fresh_tiny("LLaMA", scale_embeddings=True)
    with torch.no_grad():
        scaled.embed.weight /= 32**0.5
    agree(scaled(IDS), plain(IDS))


def test_new_weights_are_small_and_biases_zero():
    model = DecoderLM(tiny("GPT2").config)
    assert model.embed.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert model.blocks[0].attn.qkv.bias.abs().max() == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_and_a_conversation_can_be_copied_and_pickled(family):
    model = tiny(family)
    kv = model.make_cache(2)
    model(IDS[:, :6], cache=kv)
    for clone in (copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        other, own = clone(model), clone(kv)
        assert other(IDS).equal(model(IDS))
        assert other(IDS[:, 6:], cache=own).equal(model(IDS[:, 6:], cache=clone(kv)))
        assert (own.length, kv.length) == (14, 6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_can_be_trained_and_a_cached_pass_records_nothing(family):
    model = fresh_tiny(family)
    loss = model(IDS[:, :-1]).flatten(0, 1).log_softmax(-1).gather(1, IDS[:, 1:].reshape(-1, 1)).mean()
    loss.backward()
    unused = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert unused == []
    kv = model.make_cache(2)
    assert not model(IDS[:, :3], cache=kv).requires_grad
    assert not kv.keys.requires_grad
    assert model(IDS[:, :3]).requires_grad
    assert torch.is_grad_enabled()
