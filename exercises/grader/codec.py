"""Plain values to JSON and back; no pickle and no code passes between an answer and the grader.

Exact types only: an object of the student's own class is described by its kind and never asked anything.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from llm_gen.text import _

DICTS = (dict, OrderedDict, defaultdict, Counter)
NUMBERS = (Fraction, Decimal)
LARGEST = 100_000  # entries of one answer
DEEPEST = 8


class Unreadable(ValueError):
    """A value that is no answer: says what it is."""


def encode(value: Any, depth: int = 0) -> Any:
    """JSON for None, numbers, texts, lists, tuples, sets, dicts with plain keys, and CPU tensors. Raises Unreadable."""
    if depth > DEEPEST:
        raise Unreadable(_("the answer is nested too deeply"))
    kind = type(value)
    if value is None or kind in (bool, float):
        return value
    if kind is str:
        return value[:LARGEST]
    if kind is int:
        return value if value.bit_length() < 1000 else _refuse(_("the answer is a number of hundreds of digits"))
    if kind is list:
        return _encode_items(value, depth)
    if kind in NUMBERS:
        return _as_float(value)
    if kind in DICTS:
        pairs = [item for pair in dict.items(value) for item in pair]
        return {"dict": _encode_items(pairs, depth)}
    if kind in (set, frozenset):
        return {"set": _encode_items(list(kind.__iter__(value)), depth)}
    if issubclass(kind, tuple) and kind.__module__ in ("builtins", "torch", "torch.return_types"):
        return {"tuple": _encode_items(list(tuple.__iter__(value)), depth)}
    if kind is Tensor:
        return _encode_tensor(value)
    if kind.__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return encode(value.item(), depth)
    if value is Ellipsis:
        return {"ellipsis": True}
    if kind.__module__ == "numpy":
        return _refuse(_("a NumPy array came: torch.tensor(...) makes a tensor of it, .tolist() lists"))
    if kind is FunctionType:
        return _refuse(_("a function came, and what it gives is asked for"))
    if issubclass(kind, BaseException) or (kind is type and issubclass(value, BaseException)):
        return _refuse(_("an error came back as an answer: `raise` ends the call with it, `return` only hands it over"))
    return _refuse(_("the answer is of the kind {kind}, which is not asked for").format(kind=_name(kind)))


def decode(data: Any) -> Any:
    """The value that `encode` was given."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    if "tensor" in data:
        return _decode_tensor(data)
    if "tuple" in data:
        return tuple(decode(item) for item in data["tuple"])
    if "set" in data:
        return set(map(decode, data["set"]))
    if "ellipsis" in data:
        return Ellipsis
    flat = [decode(item) for item in data["dict"]]
    return dict(zip(flat[::2], flat[1::2]))


def _as_float(value: Fraction | Decimal) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):
        return _refuse(_("the answer is a number that no float can hold"))


def _encode_items(items: list, depth: int) -> list:
    if len(items) > LARGEST:
        return _refuse(_("the answer has {n} entries, far too many").format(n=len(items)))
    return [encode(item, depth + 1) for item in items]


def _encode_tensor(tensor: Tensor) -> dict:
    if tensor.device.type != "cpu":
        return _refuse(_("the answer is a tensor on the device {device}, not on the CPU").format(device=tensor.device))
    if tensor.layout != torch.strided or tensor.is_complex() or tensor.is_quantized:
        return _refuse(_("the answer is not an ordinary dense tensor"))
    if tensor.numel() > LARGEST:
        return _refuse(_("the answer has {n} entries, far too many").format(n=tensor.numel()))
    plain = tensor.detach()
    return {
        "tensor": plain.flatten().tolist(),
        "shape": list(plain.shape),
        "dtype": str(plain.dtype).removeprefix("torch."),
        "contiguous": plain.is_contiguous(),
    }


def _decode_tensor(data: dict) -> Tensor:
    tensor = torch.tensor(data["tensor"], dtype=getattr(torch, data["dtype"])).reshape(data["shape"])
    if not data["contiguous"] and tensor.ndim > 1:
        tensor = tensor.transpose(0, -1).contiguous().transpose(0, -1)
    return tensor


def _refuse(message: str) -> Any:
    raise Unreadable(message)


def _name(kind: type) -> str:
    return kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"
