"""One buffer, one count: the count says where the next token goes and how much of the buffer means anything.

Concatenating would be right too, but it copies the whole cache at each step, N times for N tokens. The buffer
is written in place and what comes back is a view of its filled part. Whoever reads beyond the count reads
memory that was never written, here NaN.
"""

from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch import Tensor

from llm_gen import KVCache
from solutions.vocabulary import Check, ListOf, OneOf, Reals, Whole, fails, identical


def update(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Store new keys and values (B, G, T, d); give all keys and values so far, each (B, G, length, d)."""
    start, end = cache.length, cache.length + keys.shape[2]
    if end > cache.keys.shape[2]:
        raise ValueError(f"the cache holds {cache.keys.shape[2]} tokens, got {end}")
    cache.keys[:, :, start:end] = keys
    cache.values[:, :, start:end] = values
    cache.length = end
    return cache.keys[:, :, :end], cache.values[:, :, :end]


def fill(answer: Callable, keys: Tensor, chunks: list[int], room: int) -> dict:
    """Feed a new cache with room for `room` tokens the keys (B, G, T, d) in chunks; values are the keys plus 100."""
    shape = (*keys.shape[:2], room, keys.shape[3])
    empty = torch.full(shape, torch.nan, dtype=keys.dtype)
    cache, other = (SimpleNamespace(keys=empty.clone(), values=empty.clone(), length=0) for _ in range(2))
    places = cache.keys.data_ptr(), cache.values.data_ptr()
    given, start = [], 0
    for size in chunks:
        chunk = keys[:, :, start : start + size]
        before = cache.keys.clone(), cache.values.clone(), cache.length
        try:
            given.append(answer(cache, chunk, chunk + 100))
        except ValueError:
            if not identical(before, (cache.keys, cache.values, cache.length)):
                raise RuntimeError("the ValueError came too late: the cache had been changed already") from None
            raise
        given[-1] = tuple(part.clone() for part in given[-1])  # a view changes with the cache
        if len(given) == 1 and room > 1:  # every layer has a cache of its own
            answer(other, keys[:, :, :1].clone(), -keys[:, :, :1])
        start += size
    kept = places == (cache.keys.data_ptr(), cache.values.data_ptr())
    return {"keys and values": given, "length": cache.length, "same memory": kept}


def enough_keys(keys: Tensor, chunks: list[int], room: int) -> bool:
    return sum(chunks) <= keys.shape[2]


check_chunks = Check(
    update,
    call=fill,
    used_with="an empty cache with room for so many tokens, fed the keys in chunks of these sizes; values: keys + 100",
    keys=Reals("B", "G", "T", "d"),
    chunks=ListOf(Whole(1, 3), least=1, most=3),
    room=OneOf(lambda sizes: sizes["T"], lambda sizes: sizes["T"] + 2, lambda sizes: max(1, sizes["T"] - 1)),
    sizes={"B": (1, 2), "G": (1, 2), "T": (3, 4, 5, 7), "d": (1, 2)},
    examples=[(torch.arange(4.0).reshape(1, 1, 4, 1), [2, 1, 1], 4), (torch.ones(1, 1, 3, 1), [3], 2)],
    valid=enough_keys,
)
not_checked = "speed"


def wrong_from_zero(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """writes to the start of the buffer each time"""
    length, cache.length = cache.length, 0
    update(cache, keys, values)
    cache.length = end = length + keys.shape[2]
    return cache.keys[:, :, :end], cache.values[:, :, :end]


@fails("shape")
def wrong_only_new(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """gives back the new keys and values only"""
    update(cache, keys, values)
    return keys, values


@fails("shape")
def wrong_whole_buffer(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """gives back the whole buffer, with the places that hold nothing yet"""
    update(cache, keys, values)
    return cache.keys, cache.values


def wrong_does_not_advance(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """does not move cache.length on"""
    length = cache.length
    result = update(cache, keys, values)
    cache.length = length
    return result


def wrong_counts_calls(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """moves cache.length on by one, however many tokens came"""
    length = cache.length
    result = update(cache, keys, values)
    cache.length = length + 1
    return result


def wrong_swaps(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """mixes up keys and values"""
    return update(cache, values, keys)


def wrong_concatenates(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """makes a new, longer tensor at each step instead of writing into the buffer"""
    room = cache.keys.shape[2]
    result = update(cache, keys, values)
    cache.keys, cache.values = cache.keys.clone(), cache.values.clone()
    assert cache.keys.shape[2] == room
    return result


@fails("nan")
def wrong_forgets_values(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """stores the keys and not the values"""
    before = cache.values.clone()
    result = update(cache, keys, values)
    cache.values.copy_(before)
    return result


@fails("no error")
def wrong_cuts_silently(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """drops what does not fit instead of raising ValueError"""
    room = cache.keys.shape[2] - cache.length
    return update(cache, keys[:, :, :room], values[:, :, :room])


@fails("error")
def wrong_counts_before_it_refuses(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """moves cache.length on before it refuses, so that the cache is broken for whoever catches the error"""
    if cache.length + keys.shape[2] <= cache.keys.shape[2]:
        return update(cache, keys, values)
    cache.length += keys.shape[2]
    raise ValueError("full")


@fails("error")
def wrong_last_place_free(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """refuses tokens that fill the buffer exactly (`>=` where `>` is meant)"""
    if cache.length + keys.shape[2] >= cache.keys.shape[2]:
        raise ValueError("full")
    return update(cache, keys, values)


def right_narrow(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    count, room = keys.shape[2], cache.keys.shape[2]
    if cache.length + count > room:
        raise ValueError("full")
    for buffer, new in ((cache.keys, keys), (cache.values, values)):
        buffer.narrow(2, cache.length, count).copy_(new)
    cache.length += count
    return cache.keys.narrow(2, 0, cache.length), cache.values.narrow(2, 0, cache.length)


def right_index_copy(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(cache.length, cache.length + keys.shape[2])
    if len(places) and places[-1] >= cache.keys.shape[2]:
        raise ValueError("full")
    cache.keys.index_copy_(2, places, keys)
    cache.values.index_copy_(2, places, values)
    cache.length += len(places)
    return cache.keys[:, :, : cache.length].clone(), cache.values[:, :, : cache.length].clone()


def right_library(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    if cache.length == 0:
        batch, heads, room, size = cache.keys.shape
        cache.own = KVCache(1, batch, heads, size, room, dtype=keys.dtype)
    result = cache.own.update(0, keys, values)
    cache.own.advance(keys.shape[2])
    cache.length = cache.own.length
    return result
