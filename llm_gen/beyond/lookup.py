"""Drafts without a model: guess that a text goes on as it, or others, did before.

`speculative_generate` takes such a function, text (S,) -> ids, for its draft. A guess costs hardly anything, and a
wrong one never changes the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from llm_gen.checks import check_integer, is_row


def prompt_lookup(text: Tensor, size: int = 3, count: int = 8) -> list[int]:
    """Guess that the last tokens go on as they did before: text (S,) -> up to `count` ids, [] if they are new.

    Looks for the latest earlier place of the last `size` tokens, then of fewer. Raises TypeError or ValueError for
    anything but one row of token ids, size >= 1 and count >= 0.
    """
    size, count = check_integer("size", size, minimum=1), check_integer("count", count, minimum=0)
    tokens = _check_row(text)
    for length in range(min(size, len(tokens) - 1), 0, -1):
        ending = tokens[-length:]
        for start in range(len(tokens) - length - 1, -1, -1):
            if tokens[start : start + length] == ending:
                return tokens[start + length : start + length + count]
    return []


def corpus_lookup(texts: Iterable[Sequence[int]], size: int = 4, count: int = 8) -> Callable[[Tensor], list[int]]:
    """A draft that has read some texts: a text (S,) goes on as they did after the same tokens (arXiv:2311.08252).

    texts: token ids of each. The function gives up to `count` ids: what followed the last `size` tokens at their first
    place in the texts, or else the last size - 1, ... 1; [] if they are new. It keeps an index of all these endings.
    Raises TypeError or ValueError for texts of anything but integers, size < 1 and count < 0.
    """
    size, count = check_integer("size", size, minimum=1), check_integer("count", count, minimum=0)
    known = _check_texts(texts)
    places: dict[tuple[int, ...], tuple[list[int], int]] = {}
    for text in known:
        for end in range(1, len(text)):
            for length in range(1, min(size, end) + 1):
                places.setdefault(tuple(text[end - length : end]), (text, end))

    def guess(text: Tensor) -> list[int]:
        ending = _check_row(text)[-size:]
        for start in range(len(ending)):
            if place := places.get(tuple(ending[start:])):
                found, end = place
                return found[end : end + count]
        return []

    return guess


def _check_texts(texts: Iterable[Sequence[int]]) -> list[list[int]]:
    rows = list(texts) if isinstance(texts, Iterable) else [texts]
    for row in rows:
        if not is_row(row):
            raise TypeError(f"texts must hold rows of token ids, got {row!r}")
    return [[check_integer("token", token, minimum=0) for token in row] for row in rows]


def _check_row(text: Tensor) -> list[int]:
    if not isinstance(text, Tensor) or text.dtype == torch.bool or text.is_floating_point() or text.is_complex():
        kind = text.dtype if isinstance(text, Tensor) else type(text).__name__
        raise TypeError(f"text must be a tensor of token ids, got {kind}")
    if text.ndim != 1:
        raise ValueError(f"text must have shape (S,), one row of token ids, got {tuple(text.shape)}")
    return text.tolist()
