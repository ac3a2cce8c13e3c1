"""The strict comparison: type, shape, dtype, NaN, values, what the call left behind. No broadcasting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from llm_gen.text import _
from solutions.vocabulary.outcome import Outcome

TOLERANCE = 1e-5  # relative, and a tenth of it absolute: room for float32 sums taken in another order


@dataclass(frozen=True)
class Difference:
    """The first thing in which an outcome is not the expected one.

    kind: "type", "shape", "dtype", "nan", "value", "no error", "error", "changed input", "side effect", or the kind
    of the outcome. text: one sentence without its full stop.
    """

    kind: str
    text: str


def difference(
    expected: Outcome, got: Outcome, names: Sequence[str] = (), tolerance: float = TOLERANCE
) -> Difference | None:
    """What is wrong with `got`, or None. `names`: the arguments', for the message about a changed input."""
    if got.kind == "error":
        return _error_difference(expected, got)
    if got.kind != "answer":
        return Difference(got.kind, got.message)
    if expected.kind == "error":
        wanted = expected.error[0]
        return Difference("no error", _("{error} should be raised, but a value came back").format(error=wanted))
    found = value_difference(expected.value, got.value, tolerance)
    return found or _left_behind(expected, got, names)


def value_difference(expected: Any, got: Any, tolerance: float = TOLERANCE, where: str = "") -> Difference | None:
    """The first difference between two plain values; `where` is the path so far, such as `[0]["cut"]`."""
    if not _same_type(expected, got):
        text = _("{a} is asked for, {b} came back").format(a=kind_of(expected), b=kind_of(got))
        return Difference("type", _at(where, text))
    if isinstance(expected, Tensor):
        return _tensor_difference(expected, got, tolerance, where)
    if isinstance(expected, dict):
        return _dict_difference(expected, got, tolerance, where)
    if isinstance(expected, (list, tuple)):
        return _list_difference(expected, got, tolerance, where)
    return None if close(expected, got, tolerance) else _value_difference(expected, got, where)


def close(expected: Any, got: Any, tolerance: float) -> bool:
    """Equal numbers (floats within the tolerance, NaN equal to NaN) or equal other values."""
    if not isinstance(expected, float):
        return expected == got
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    return expected == got or abs(expected - got) <= tolerance * (0.1 + abs(expected)) < math.inf


def kind_of(value: Any) -> str:
    """A type as a student reads it: "a tensor", "a whole number (int)"."""
    if isinstance(value, Tensor):
        return _("a tensor")
    names = {
        type(None): _("None"), bool: _("True or False (bool)"), int: _("a whole number (int)"),
        float: _("a number (float)"), str: _("a text (str)"), list: _("a list"), tuple: _("a tuple"),
        dict: _("a dict"), set: _("a set"),
    }  # fmt: skip
    return names.get(type(value), type(value).__name__)


def _same_type(expected: Any, got: Any) -> bool:
    if isinstance(expected, float):  # 0 is as good a number as 0.0, but True is not
        return type(got) in (int, float)
    return type(expected) is type(got)


def _error_difference(expected: Outcome, got: Outcome) -> Difference | None:
    if expected.kind == "error" and expected.error[0] in got.error:
        return None
    text = _("{error}: {message}").format(error=got.error[0], message=got.message) if got.message else got.error[0]
    return Difference("error", text)


def _left_behind(expected: Outcome, got: Outcome, names: Sequence[str]) -> Difference | None:
    written = [i for i in got.mutated if i not in expected.mutated]
    if written:
        name = names[written[0]] if names else str(written[0])
        return Difference(
            "changed input", _("the value is right, but the argument {name} was changed").format(name=name)
        )
    if got.disturbed:
        what = ", ".join(got.disturbed)
        return Difference(
            "side effect", _("the value is right, but the call left this changed: {what}").format(what=what)
        )
    return None


def _tensor_difference(expected: Tensor, got: Tensor, tolerance: float, where: str) -> Difference | None:
    if expected.shape != got.shape:
        shapes = {"a": tuple(expected.shape), "b": tuple(got.shape)}
        return Difference("shape", _at(where, _("shape {a} is asked for, {b} came back").format(**shapes)))
    if expected.dtype != got.dtype:
        dtypes = {"a": short(expected.dtype), "b": short(got.dtype)}
        return Difference("dtype", _at(where, _("dtype {a} is asked for, {b} came back").format(**dtypes)))
    wrong = ~_close_entries(expected, got, tolerance)
    if not wrong.any():
        return None
    first = tuple(wrong.nonzero()[0].tolist())
    return _value_difference(expected[first].item(), got[first].item(), where + (str(list(first)) if first else ""))


def _close_entries(expected: Tensor, got: Tensor, tolerance: float) -> Tensor:
    same = (expected == got) | (expected.isnan() & got.isnan())
    if not expected.is_floating_point():
        return same
    gap, size = (expected - got).abs(), expected.abs()
    return same | ((gap <= tolerance * (0.1 + size)) & size.isfinite())


def _dict_difference(expected: dict, got: dict, tolerance: float, where: str) -> Difference | None:
    missing = [key for key in expected if key not in got]
    if missing:
        return Difference("value", _at(where, _("the key {key!r} is missing").format(key=missing[0])))
    extra = [key for key in got if key not in expected]
    if extra:
        return Difference("value", _at(where, _("the key {key!r} is not asked for").format(key=extra[0])))
    return _first(value_difference(expected[key], got[key], tolerance, f"{where}[{key!r}]") for key in expected)


def _list_difference(expected: Sequence, got: Sequence, tolerance: float, where: str) -> Difference | None:
    if len(expected) != len(got):
        lengths = {"a": len(expected), "b": len(got)}
        return Difference("shape", _at(where, _("length {a} is asked for, {b} came back").format(**lengths)))
    pairs = enumerate(zip(expected, got))
    return _first(value_difference(e, g, tolerance, f"{where}[{i}]") for i, (e, g) in pairs)


def _first(differences: Any) -> Difference | None:
    return next((found for found in differences if found), None)


def _value_difference(expected: Any, got: Any, where: str) -> Difference:
    is_nan = isinstance(got, float) and math.isnan(got)
    kind = "nan" if is_nan else "value"
    a, b = number_pair(expected, got)
    return Difference(kind, _at(where, _("expected {a}, got {b}").format(a=a, b=b)))


def number_pair(expected: Any, got: Any) -> tuple[str, str]:
    """Both numbers with as many digits as it takes to tell them apart, four at least."""
    if not isinstance(expected, float) or not isinstance(got, (int, float)):
        return repr(expected), repr(got)
    for digits in range(4, 17):
        a, b = f"{expected:.{digits}g}", f"{got:.{digits}g}"
        if a != b:
            break
    return a, b


def short(dtype: Any) -> str:
    """`float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def _at(where: str, text: str) -> str:
    return _("at {where}: {text}").format(where=where, text=text) if where else text
