"""Three cases, the window first: a full context ends the cache, no cache means everything, a cache means the rest.

The order matters. Whoever asks for the cache first feeds one token to a cache that holds max_seq_len of them, and the
model refuses, or worse, reads on with stale entries. And it is the rest that is fed, not the last token: before the
first step the rest is the whole prompt.
"""

from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch import Tensor

from llm_gen import next_generation_input as library_input
from solutions.vocabulary import Check, Ids, OneOf, fails


def next_generation_input(
    x: Tensor, cache: SimpleNamespace | None, use_cache: bool, max_seq_len: int
) -> tuple[Tensor, SimpleNamespace | None]:
    """The ids to feed, (B, n), and the cache or None: x (B, S), cache.length < S columns of it read."""
    if x.shape[1] > max_seq_len:
        return x[:, -max_seq_len:], None
    if cache is None or not use_cache:
        return x, None
    return x[:, cache.length :], cache


def ask(answer: Callable, x: Tensor, read: int | None, use_cache: bool, max_seq_len: int) -> dict:
    """Use an answer with a cache that has read so many columns, or with none."""
    cache = None if read is None else SimpleNamespace(length=read)
    ids, kept = answer(x, cache, use_cache, max_seq_len)
    which = "None" if kept is None else "the given one" if kept is cache else "another one"
    moved = cache is not None and cache.length != read
    return {"fed": ids.clone(), "cache": f"{which}, and its length was changed" if moved else which}


def fits(x: Tensor, read: int | None, use_cache: bool, max_seq_len: int) -> bool:
    return read is None or (0 <= read < x.shape[1] and read <= max_seq_len)


TEXT = torch.tensor([[5, 6, 7, 8]])
check_inputs = Check(
    next_generation_input,
    call=ask,
    used_with="the text and a cache that has read so many of its columns (None: no cache)",
    x=Ids("B", "S", below=9),
    read=OneOf(None, 0, 1, lambda sizes: sizes["S"] - 1),
    use_cache=OneOf(True, False),
    max_seq_len=OneOf(3, lambda sizes: sizes["S"], lambda sizes: max(1, sizes["S"] - 1), 1, 50),
    sizes={"B": (1, 2), "S": (1, 2, 3, 4, 6)},
    examples=[
        (TEXT, 0, True, 8),
        (TEXT, 3, True, 8),
        (TEXT, 2, True, 8),
        (TEXT, 3, True, 4),
        (TEXT, 3, True, 3),
        (TEXT, None, True, 2),
        (torch.arange(60)[None], 0, True, 100),
        (torch.ones(3, 2, dtype=torch.long), None, True, 5),
    ],
    valid=fits,
)


@fails("shape")
def wrong_cache_goes_on(x, cache, use_cache, max_seq_len):
    """asks for the cache first, and so goes on with it past the context"""
    if cache is not None and use_cache:
        return x[:, cache.length :], cache
    return next_generation_input(x, None, False, max_seq_len)


def wrong_hands_on_the_cache(x, cache, use_cache, max_seq_len):
    """feeds the last max_seq_len tokens to the old cache, which holds them already"""
    return next_generation_input(x, cache, use_cache, max_seq_len)[0], cache if use_cache else None


def wrong_a_token_early(x, cache, use_cache, max_seq_len):
    """takes a text of exactly max_seq_len tokens for too long already"""
    if x.shape[1] == max_seq_len:
        return x, None
    return next_generation_input(x, cache, use_cache, max_seq_len)


@fails("shape")
def wrong_last_token(x, cache, use_cache, max_seq_len):
    """feeds the last token alone, even if the cache has not read the prompt"""
    ids, kept = next_generation_input(x, cache, use_cache, max_seq_len)
    return (ids if kept is None else x[:, -1:]), kept


def wrong_moves_the_cache(x, cache, use_cache, max_seq_len):
    """moves cache.length on itself, which the model does when it reads"""
    ids, kept = next_generation_input(x, cache, use_cache, max_seq_len)
    if kept is not None:
        kept.length += ids.shape[1]
    return ids, kept


@fails("shape")
def wrong_whole_text_again(x, cache, use_cache, max_seq_len):
    """feeds the whole text to a cache that has read a part of it, so that this part stands in there twice"""
    ids, kept = next_generation_input(x, cache, use_cache, max_seq_len)
    return (ids if kept is None else x), kept


@fails("shape")
def wrong_does_not_cut(x, cache, use_cache, max_seq_len):
    """feeds the whole text where it is longer than the context"""
    if x.shape[1] > max_seq_len:
        return x, None
    return next_generation_input(x, cache, use_cache, max_seq_len)


def wrong_first_tokens(x, cache, use_cache, max_seq_len):
    """keeps the first max_seq_len tokens instead of the last"""
    if x.shape[1] > max_seq_len:
        return x[:, :max_seq_len], None
    return next_generation_input(x, cache, use_cache, max_seq_len)


def wrong_ignores_use_cache(x, cache, use_cache, max_seq_len):
    """uses the cache although use_cache is False"""
    return next_generation_input(x, cache, True, max_seq_len)


def wrong_never_a_cache(x, cache, use_cache, max_seq_len):
    """never uses the cache"""
    return next_generation_input(x, cache, False, max_seq_len)


@fails("shape")
def wrong_one_row(x, cache, use_cache, max_seq_len):
    """gives the first row without its batch axis"""
    ids, kept = next_generation_input(x, cache, use_cache, max_seq_len)
    return ids[0], kept


def wrong_cuts_first(x, cache, use_cache, max_seq_len):
    """cuts the text first, and then asks for the cache as if nothing had been cut"""
    x = x[:, -max_seq_len:]
    return (x, None) if cache is None or not use_cache else (x[:, cache.length :], cache)


@fails("shape")
def wrong_one_new_token(x, cache, use_cache, max_seq_len):
    """feeds the last token alone as soon as the cache has read something, even if more is unread"""
    ids, kept = next_generation_input(x, cache, use_cache, max_seq_len)
    return (x[:, -1:] if kept is not None and kept.length else ids), kept


def right_library(x, cache, use_cache, max_seq_len):
    return library_input(x, cache, use_cache, max_seq_len)


def right_by_start(x, cache, use_cache, max_seq_len):
    length = x.shape[1]
    keep = use_cache and cache is not None and length <= max_seq_len
    start = cache.length if keep else max(0, length - max_seq_len)
    return x.narrow(1, start, length - start), cache if keep else None
