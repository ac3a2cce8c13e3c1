"""KVCache against a list of everything ever read; its size against the formula; the formulas against real runs."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import FAMILIES, Stub, examples, feed_in_chunks, refused, tiny
from torch.utils._python_dispatch import TorchDispatchMode

from llm_gen import KVCache, cache_start_pos, generate_steps, kv_cache_bytes, token_passes

SIZES = {"num_layers": 2, "batch_size": 3, "num_kv_heads": 2, "head_size": 4}


def columns(start, end, layer):
    """Keys whose every entry tells layer and column, and values that are their negatives."""
    keys = torch.arange(start, end).float()[None, None, :, None] + 1000 * layer
    keys = keys.expand(SIZES["batch_size"], SIZES["num_kv_heads"], end - start, SIZES["head_size"])
    return keys, -keys


@given(
    st.integers(20, 200),
    st.none() | st.sampled_from([1, 2, 3, 5, 64, 65, 80]),
    st.lists(st.sampled_from([1, 2, 3]) | st.integers(1, 90), min_size=3, max_size=12),
)
@examples(150)
def test_every_pass_is_given_the_columns_it_may_look_at(max_length, window, chunks):
    kv = KVCache(**SIZES, max_length=max_length, window=window)
    read = 0
    for count in chunks:
        if read + count > max_length:
            refused(lambda c=count, r=read: kv.update(0, *columns(r, r + c, 0)), ValueError, ["max_seq_len"])
            break
        given_columns = kv.key_columns(count).tolist()
        for layer in range(2):
            keys, values = kv.update(layer, *columns(read, read + count, layer))
            assert keys[0, 0, :, 0].tolist() == [column + 1000 * layer for column in given_columns]
            assert keys.equal(-values)
        needed = range(0 if window is None else max(0, read - window + 1), read + count)
        assert set(needed) <= set(given_columns)
        assert len(set(given_columns)) == len(given_columns)
        assert cache_start_pos(kv) == read, "the position moves in advance only"
        kv.advance(count)
        read += count
        assert kv.length == read
        kept = kv.keys.shape[3]
        assert min(read, kv.slots) <= kept <= kv.slots
        assert kv.nbytes == kv_cache_bytes(2, 2, 4, kept, 4, 3)


def test_rolling_cache_keeps_window_entries_and_counts_what_it_read():
    kv = KVCache(**SIZES, max_length=1000, window=4)
    for column in range(100):
        kept, _ = kv.update(0, *columns(column, column + 1, 0))
        assert kept[0, 0, :, 0].tolist() == kv.key_columns(1).tolist()
        kv.update(1, *columns(column, column + 1, 1))
        kv.advance(1)
    assert (kv.length, kv.keys.shape[3]) == (100, 4)
    assert sorted(kv.keys[0, 0, 0, :, 0].tolist()) == [96, 97, 98, 99]
    assert kv.nbytes == kv_cache_bytes(2, 2, 4, 4, 4, 3)


class Operations(TorchDispatchMode):
    """Counts the operations that run, by name."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(function.overloadpacket._qualified_op_name)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("window", [None, 50])
def test_appending_is_never_a_copy_of_the_past(window):
    kv = KVCache(**SIZES, max_length=500, window=window)
    storages, new = [], [columns(0, 1, layer) for layer in range(2)]
    with Operations() as operations:
        for _ in range(300):
            for layer in range(2):
                kv.update(layer, *new[layer])
            kv.advance(1)
            storages.append(kv.keys.data_ptr())
    allocations = 1 + sum(a != b for a, b in itertools.pairwise(storages))
    assert allocations == (4 if window is None else 1)  # 64, 128, 256 and 500 columns; or the ring at once
    assert not {"aten::cat", "aten::clone", "aten::index_select"} & set(operations.names)
    assert operations.names.count("aten::new_zeros") == 2 * allocations


def test_c18_grouped_heads_are_not_repeated():
    model = tiny("LLaMA")
    kv = model.make_cache(2)
    model(torch.tensor([[1, 2, 3], [4, 5, 6]]), cache=kv)
    for layer in range(2):
        assert [tuple(kept[layer, :, :, : kv.length].shape) for kept in (kv.keys, kv.values)] == [(2, 2, 3, 8)] * 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("window", [None, 10])
def test_kv_cache_bytes_is_what_a_full_cache_allocates(dtype, window):
    kv = KVCache(**SIZES, max_length=100, window=window, dtype=dtype)
    assert kv.nbytes == 0
    for layer in range(2):
        kv.update(layer, *columns(0, 100, layer))
    kv.advance(100)
    stored = kv.keys.untyped_storage().nbytes() + kv.values.untyped_storage().nbytes()
    assert kv.nbytes == stored == kv_cache_bytes(2, 2, 4, window or 100, dtype.itemsize, 3)


@pytest.mark.parametrize(
    ("sizes", "total"),
    [
        ((32, 8, 128, 4096, 2), 536870912),
        ((18, 1, 256, 4096, 2), 75497472),
        ((32, 32, 128, 4096, 2, 1), 2147483648),
        ((32, 32, 128, 4096, 2, 8), 17179869184),
        ((1, 1, 1, 0, 1), 0),
        ((1, 1, 1, 1, 1, 0), 0),
    ],
)
def test_kv_cache_bytes_of_known_models(sizes, total):
    assert kv_cache_bytes(*sizes) == total


def fed_by_hand(prompt_len, new_tokens, use_cache, max_seq_len):
    """Tokens fed, step by step."""
    fed, cached = 0, 0
    for length in range(prompt_len, prompt_len + new_tokens):
        if length > max_seq_len:
            fed += max_seq_len
        else:
            fed += length - cached if use_cache else length
            cached = length
    return fed


@given(st.integers(1, 12), st.integers(0, 12), st.booleans(), st.none() | st.integers(1, 14))
@examples(150)
def test_token_passes_is_what_a_run_feeds(prompt_len, new_tokens, use_cache, max_seq_len):
    total = token_passes(prompt_len, new_tokens, use_cache, max_seq_len)
    assert total == fed_by_hand(prompt_len, new_tokens, use_cache, max_seq_len or math.inf)
    model = Stub("NEXT", max_seq_len=max_seq_len or 1000, cached=True)
    list(generate_steps(model, torch.ones(1, prompt_len, dtype=torch.long), new_tokens, False, use_cache=use_cache))
    assert total == sum(columns for _, columns in model.fed)


@pytest.mark.parametrize(
    ("sizes", "without", "with_cache"),
    [((100, 100), 14950, 199), ((500, 500), 374750, 999), ((500, 500, 512), 255922, 249856)],
)
def test_token_passes_of_the_worked_tables(sizes, without, with_cache):
    prompt_len, new_tokens, *limit = sizes
    assert token_passes(prompt_len, new_tokens, False, *limit) == without
    assert token_passes(prompt_len, new_tokens, True, *limit) == with_cache


def test_prefill_then_one_token_a_step_then_the_whole_window():
    steps = list(generate_steps(tiny("LLaMA", 8), torch.tensor([[1, 2, 3, 4]]), 8, False))
    assert [step.tokens_fed for step in steps] == [4, 1, 1, 1, 1, 8, 8, 8]
    assert [step.cache_length for step in steps] == [4, 5, 6, 7, 8, 0, 0, 0]
    assert sum(step.tokens_fed for step in steps) == token_passes(4, 8, True, 8)
    steps = list(generate_steps(tiny("LLaMA", 8), torch.tensor([[1, 2, 3, 4]]), 8, False, use_cache=False))
    assert [step.tokens_fed for step in steps] == [4, 5, 6, 7, 8, 8, 8, 8]
    assert {step.cache_length for step in steps} == {0}


@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_pass_that_failed_can_be_repeated(family, chunk):
    model, ids = tiny(family), torch.arange(12)[None]
    kv = model.make_cache(1)
    whole = model(ids)
    model(ids[:, :7], cache=kv)

    def interrupt(*_):
        raise KeyboardInterrupt

    handle = model.blocks[1].register_forward_pre_hook(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            model(ids[:, 7 : 7 + chunk], cache=kv)
    finally:
        handle.remove()
    assert kv.length == 7
    again = feed_in_chunks(model, ids[:, 7:], [chunk, 1], kv=kv)
    torch.testing.assert_close(again, whole[:, 7:], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("argument", "error", "words"),
    [
        ({"num_layers": 0}, ValueError, [">= 1", "0"]),
        ({"batch_size": -1}, ValueError, [">= 0", "-1"]),
        ({"num_kv_heads": 2.0}, TypeError, ["integer", "2.0"]),
        ({"head_size": True}, TypeError, ["integer", "True"]),
        ({"max_length": 0}, ValueError, [">= 1", "0"]),
        ({"max_length": None}, TypeError, ["integer", "None"]),
        ({"window": 0}, ValueError, [">= 1", "0"]),
        ({"window": "4"}, TypeError, ["integer", "'4'"]),
        ({"dtype": "float32"}, TypeError, ["torch.dtype", "'float32'"]),
    ],
)
def test_sizes_of_a_cache(argument, error, words):
    refused(lambda: KVCache(**{**SIZES, "max_length": 8, **argument}), error, [*argument, *words])


NAMES = ["num_layers", "num_kv_heads", "head_size", "seq_len", "bytes_per_value", "batch_size"]


@pytest.mark.parametrize("name", NAMES)
def test_arguments_of_kv_cache_bytes(name):
    good = dict.fromkeys(NAMES, 2)
    refused(lambda: kv_cache_bytes(**{**good, name: -1}), ValueError, [name, "-1"])
    refused(lambda: kv_cache_bytes(**{**good, name: 2.0}), TypeError, [name, "integer", "2.0"])
    refused(lambda: kv_cache_bytes(**{**good, name: None}), TypeError, [name, "integer", "None"])


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((0, 1, True), ValueError, ["prompt_len", ">= 1", "0"]),
        ((1, -1, True), ValueError, ["new_tokens", ">= 0", "-1"]),
        ((1, 1, 1), TypeError, ["use_cache", "True or False", "1"]),
        ((1, 1, True, 0), ValueError, ["max_seq_len", ">= 1", "0"]),
        ((1.5, 1, True), TypeError, ["prompt_len", "integer", "1.5"]),
    ],
)
def test_arguments_of_token_passes(arguments, error, words):
    refused(lambda: token_passes(*arguments), error, words)


@pytest.mark.parametrize(
    ("shape", "layer", "words"),
    [
        ((1, 2, 3, 4), 0, r"keys must have shape \(2, 2, T, 4\), got \(1, 2, 3, 4\)"),
        ((2, 1, 3, 4), 0, "keys must have shape"),
        ((2, 2, 3, 1), 0, "keys must have shape"),
        ((2, 2, 4), 0, "keys must have shape"),
        ((2, 2, 3, 4), -1, r"layer must lie in 0\.\.0, got -1"),
    ],
)
def test_nothing_is_spread_over_rows_heads_or_layers(shape, layer, words):
    cache = KVCache(1, 2, 2, 4, 8)
    with pytest.raises(ValueError, match=words):
        cache.update(layer, torch.ones(shape), torch.ones(shape))
    with pytest.raises(ValueError, match="values must have shape"):
        cache.update(0, torch.ones(2, 2, 3, 4), torch.ones(2, 2, 2, 4))
    assert cache.length == 0


@pytest.mark.parametrize("count", [-5, 9, 1.5])
def test_a_cache_advances_by_columns_that_fit(count):
    cache = KVCache(1, 2, 2, 4, 8)
    with pytest.raises((TypeError, ValueError), match="seq_len"):
        cache.advance(count)
    assert cache.length == 0
