"""Slips that anybody can make in any function: how they show, and what to do about them.

They are looked for only where no known mistake of the page explains the answer. `forms` does the same for values.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from exercises.grader import advice, relations
from exercises.grader.verdict import Failure
from llm_gen.text import _
from solutions.vocabulary import Check, Outcome, identical
from solutions.vocabulary.compare import value_difference

OF_KIND = {
    "time-out": _("Does a loop never end? `while a != b` may not, where a and b are floats: count the rounds instead."),
    "changed input": _("x += 1, x[i] = 1 and x.sort_() write into x itself: work on x + 1 or on x.clone()."),
    "nan": _("NaN comes from 0 / 0, inf - inf or 0 * inf. Which one happens on the smallest input?"),
}


def in_code(check: Check, outcomes: Sequence[Outcome], failure: Failure) -> tuple[str, ...]:
    """The slip that explains what a function did, or what to do about the failure that is shown."""
    words = _of_all(check, outcomes)
    if not words and failure.difference.kind == "value":
        words = _of_numbers(check, outcomes)
    words = words or _of_failure(check, failure)
    return (words,) if words else ()


def _of_all(check: Check, outcomes: Sequence[Outcome]) -> str:
    """What the answer does on every input, whatever is asked for."""
    if len(outcomes) < 2 or any(outcome.kind != "answer" for outcome in outcomes):
        return ""
    values = [outcome.value for outcome in outcomes]
    if all(value is None for value in values):
        return _("The function gives nothing back: is a `return` missing?")
    for i, name in enumerate(check.names):
        if all(identical(value, case.args[i]) for value, case in zip(values, check.cases)):
            return _("The function gives back its argument {name} as it is.").format(name=name)
    if all(identical(value, values[0]) for value in values):
        return _(
            "The function gives the same answer whatever its arguments are: does it use them, "
            "and does it not return too early?"
        )
    return ""


def _of_numbers(check: Check, outcomes: Sequence[Outcome]) -> str:
    """How floats of the right form are wrong on every input."""
    rights, values = ([outcome.value for outcome in made] for made in (check.answers, outcomes))
    numbers = [(relations.numbers_in(right), relations.numbers_in(got)) for right, got in zip(rights, values)]
    if any(right is None or got is None or len(right) != len(got) for right, got in numbers):
        return ""
    words = relations.in_words([pair for right, got in numbers for pair in zip(right, got)])
    if words:
        return words
    if all(map(_right_up_to_sums, rights, values)):
        return _("Each row is right up to a factor: divide it by its sum, so that it sums to 1.")
    if all(_close(sorted(right), sorted(got)) for right, got in numbers):
        return _("The right numbers, but in other places: has a sort or a turn not been undone?")
    return ""


def _right_up_to_sums(right: Any, got: Any) -> bool:
    """Whether both are tensors, the right rows sum to 1, and the others would equal them if they did."""
    if not isinstance(right, Tensor) or not isinstance(got, Tensor) or right.shape != got.shape or not right.ndim:
        return False
    rows = right.sum(dim=-1)
    scaled = got / got.sum(dim=-1, keepdim=True)
    return torch.allclose(rows, torch.ones_like(rows)) and torch.allclose(right, scaled.to(right.dtype), atol=1e-5)


def _close(rights: Sequence[float], values: Sequence[float]) -> bool:
    return all(math.isclose(right, got, rel_tol=1e-4, abs_tol=1e-6) for right, got in zip(rights, values))


def _of_failure(check: Check, failure: Failure) -> str:
    expected, got, kind = failure.expected, failure.got, failure.difference.kind
    if kind == "error":
        said = advice.on_error(got.error[0], got.message, () if check.call else check.names, got.line)
        return said or _another_error(expected)
    if kind == "no error":
        return _("`raise {error}(...)` ends the call; what prints or returns does not.").format(error=expected.error[0])
    if kind in OF_KIND:
        return OF_KIND[kind]
    of_form = {"type": _of_type, "dtype": _of_dtype, "shape": _of_shape}.get(kind)
    return of_form(*_where_they_differ(expected.value, got.value), failure) if of_form else ""


def _another_error(expected: Outcome) -> str:
    return _("Another error is asked for: {error}.").format(error=expected.error[0]) if expected.error else ""


def _where_they_differ(expected: Any, got: Any) -> tuple[Any, Any]:
    """The first two parts that differ, inside tuples, lists and dicts of one form."""
    if type(expected) is not type(got) or not isinstance(expected, (tuple, list, dict)):
        return expected, got
    in_dict = isinstance(expected, dict)
    pairs = [(expected[key], got[key]) for key in expected if key in got] if in_dict else zip(expected, got)
    differing = next((pair for pair in pairs if value_difference(*pair)), None)
    return _where_they_differ(*differing) if differing else (expected, got)


def _of_type(expected: Any, got: Any, failure: Failure) -> str:
    if got is None:
        return _("Does every way through the function end in a `return`?")
    if isinstance(expected, tuple):
        return _("`return a, b` gives a tuple.")
    if isinstance(got, tuple):
        return _("A comma after `return` makes a tuple of several things; one is asked for.")
    if isinstance(got, Tensor):
        return _(".tolist() makes lists of a tensor, .item() a number of a tensor with one entry.")
    if isinstance(expected, Tensor):
        text = _("Leave out .item() or .tolist(), or make a tensor: torch.tensor(..., dtype={dtype}).")
        return text.format(dtype=_dtype_of(expected, failure))
    return ""


def _of_dtype(expected: Any, got: Any, failure: Failure) -> str:
    if not isinstance(expected, Tensor) or not isinstance(got, Tensor):
        return ""
    if got.dtype == torch.bool:
        return _("A mask of True and False came back; numbers are asked for.")
    return _("The result is to have another dtype: .to({dtype}).").format(dtype=_dtype_of(expected, failure))


def _dtype_of(expected: Tensor, failure: Failure) -> str:
    """The dtype that is asked for as code: that of an argument, if one has it."""
    tensors = [(name, arg) for name, arg in zip(failure.names, failure.args) if isinstance(arg, Tensor)]
    return next((f"{name}.dtype" for name, arg in tensors if arg.dtype == expected.dtype), str(expected.dtype))


def _of_shape(expected: Any, got: Any, failure: Failure) -> str:
    if not isinstance(expected, Tensor) or not isinstance(got, Tensor):
        return ""
    if expected.numel() == got.numel() and torch.equal(expected.flatten(), got.flatten().to(expected.dtype)):
        return _("The entries are right, and only the shape is not: an axis is missing, or there is one too many.")
    if expected.ndim == got.ndim and any(_is_stretched(expected, got, axis) for axis in range(got.ndim)):
        return _("Two shapes were stretched to fit each other. After sum or amax, keepdim=True keeps the axis.")
    return ""


def _is_stretched(expected: Tensor, got: Tensor, axis: int) -> bool:
    """Whether an axis is longer than it should be, and as long as another: rows have met columns."""
    return got.shape[axis] > expected.shape[axis] and got.shape[axis] in got.shape[:axis] + got.shape[axis + 1 :]


def of_names(answer: Any, names: Sequence[str]) -> list[str]:
    """A function that reads a variable of the notebook where it means the argument of the task with that name."""
    if type(answer) is not FunctionType:
        return []
    read = {step.argval for step in dis.get_instructions(answer.__code__) if step.opname == "LOAD_GLOBAL"}
    text = _("The function reads the notebook's own variable {name}, since none of its arguments is called so.")
    return [text.format(name=name) for name in names if name in read]
