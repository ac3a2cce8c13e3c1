"""Checks at the border: each message names the argument, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real

import torch
from torch import Tensor


class CheckpointError(ValueError):
    """A checkpoint that cannot be used: one sentence says which file or field, and why."""


def check_real(name: str, value: object) -> float:
    """`value` as a float: Python, NumPy and 0-d tensor numbers are welcome, bool is not a number.

    Raises TypeError for another kind and ValueError for NaN or infinity.
    """
    value = _unwrap(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def check_integer(name: str, value: object, minimum: int) -> int:
    """`value` as an int of at least `minimum`. Raises TypeError for another kind, ValueError below it."""
    value = _unwrap(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value}")
    return int(value)


def check_flag(name: str, value: object) -> bool:
    """`value` as a bool; raises TypeError for anything else, because 1 or "no" would hide a mistake."""
    value = _unwrap(value)
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return value


def check_float_dtype(name: str, value: object) -> torch.dtype:
    """`value` if it is a floating torch dtype; else TypeError."""
    if not isinstance(value, torch.dtype) or not value.is_floating_point:
        raise TypeError(f"{name} must be a floating torch dtype, got {value!r}")
    return value


def is_row(value: object) -> bool:
    """Whether `value` can be read as one row: an iterable that is no tensor or array of other than one axis."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) == 1


def check_mapping(name: str, value: object) -> Mapping:
    """`value` if it is a mapping, such as a dict; else TypeError."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, got {value!r}")
    return value


def check_ids(name: str, ids: object, vocab_size: int) -> Tensor:
    """Token ids (B, T) as int64. Raises TypeError or ValueError, naming an id outside the vocabulary."""
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a tensor of token ids, got {type(ids).__name__}")
    if ids.dtype == torch.bool or ids.is_floating_point() or ids.is_complex():
        raise TypeError(f"{name} must have an integer dtype, got {ids.dtype}")
    if ids.ndim != 2:
        raise ValueError(f"{name} must have shape (B, T), got {tuple(ids.shape)}")
    if ids.shape[1] == 0:
        raise ValueError(f"{name} must hold at least one token a row, but it is empty: {tuple(ids.shape)}")
    ids = ids.long()
    low, high = (int(end) for end in ids.aminmax()) if ids.numel() else (0, 0)
    if low < 0 or high >= vocab_size:
        raise ValueError(f"{name} must hold ids in 0..{vocab_size - 1}, got {low if low < 0 else high}")
    return ids


def check_token_id(name: str, value: object, vocab_size: int) -> int:
    """One token id inside the vocabulary; raises TypeError or ValueError."""
    token = check_integer(name, value, minimum=0)
    if token >= vocab_size:
        raise ValueError(f"{name} must lie in the vocabulary 0..{vocab_size - 1}, got {token}")
    return token


def check_token_ids(name: str, value: object, vocab_size: int) -> list[int]:
    """None, one id or several ids as a list inside the vocabulary; an empty list means none."""
    if value is None:
        return []
    value = _unwrap(value)
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [check_token_id(name, token, vocab_size) for token in value]
    return [check_token_id(name, value, vocab_size)]


def check_end_and_pad(eos: object, pad: object, vocab_size: int) -> tuple[tuple[int, ...], int | None]:
    """The ids that end a row, and what fills it up after its end: by default the first of them, if there is one."""
    ends = tuple(check_token_ids("eos_token_id", eos, vocab_size))
    if pad is not None:
        return ends, check_token_id("pad_token_id", pad, vocab_size)
    return ends, next(iter(ends), None)


def check_logits(logits: object, active: Tensor | None = None) -> Tensor:
    """Logits (B, V) in float32 or better. Each row needs a finite maximum: no NaN, no +inf, not all -inf.

    active: (B,) bool, the rows that still count; others come back as zeros where they cannot be used. Raises TypeError
    for another kind, ValueError for another shape or for the first row that cannot be used.
    """
    if not isinstance(logits, Tensor):
        raise TypeError(f"logits must be a tensor, got {type(logits).__name__}")
    if not logits.is_floating_point():
        raise TypeError(f"logits must have a floating dtype, got {logits.dtype}")
    if logits.ndim != 2 or logits.shape[1] == 0:
        raise ValueError(f"logits must have shape (B, V) with V >= 1, got {tuple(logits.shape)}")
    # amax carries NaN and +inf through and is -inf only for an empty row: one pass finds all three.
    bad = [row for row, highest in enumerate(logits.detach().amax(dim=-1).tolist()) if not math.isfinite(highest)]
    for row in bad:
        if active is None or active[row]:
            raise ValueError(_describe_bad_row(logits, row))
    logits = logits if logits.dtype == torch.float64 else logits.float()
    return logits.index_fill(0, torch.tensor(bad, device=logits.device), 0.0) if bad else logits


def _describe_bad_row(logits: Tensor, row: int) -> str:
    if logits[row].isnan().any():
        fault = "holds NaN"
    elif (logits[row] == torch.inf).any():
        fault = "holds +inf"
    else:
        fault = "has no finite entry, so no token is allowed"
    return f"logits must be finite or -inf with at least one finite entry a row, but row {row} {fault}"


def _unwrap(value: object) -> object:
    """The plain Python value of a NumPy scalar or a 0-d array or tensor; other values as they are."""
    return value.item() if getattr(value, "ndim", None) == 0 else value
