"""Slips that anybody can make in any function: how they show, and what to do about them.

They are looked for only where no known mistake of the page explains the answer. `forms` does the same for values.
"""

from __future__ import annotations

import dis
import math
import re
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations
from operator import getitem
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from exercises.grader import advice, relations, shapes
from exercises.grader.verdict import Failure
from llm_gen.text import _
from solutions.vocabulary import Check, Outcome, identical
from solutions.vocabulary.compare import kind_of, value_difference

OF_KIND = {
    "time-out": _("Does a loop never end? `while a != b` may not, where a and b are floats: count the rounds instead."),
    "changed input": _(
        "x += 1, x[i] = 1, x.sort_() or, of a list, x.sort(), x.pop() and del x[i] change x itself: "
        "work on x + 1, x.clone() or list(x)."
    ),
    "side effect": _("Leave alone what the whole notebook shares, such as its random numbers: use the arguments only."),
    "nan": _("NaN comes from 0 / 0, inf - inf or 0 * inf. Which one happens on the smallest input?"),
}


def in_code(check: Check, outcomes: Sequence[Outcome], failure: Failure) -> tuple[str, ...]:
    """The slip that explains what a function did, or what to do about the failure that is shown."""
    words = _of_all(check, outcomes)
    if not words and failure.difference.kind == "value":
        words = _of_numbers(check, outcomes)
    words = words or _of_failure(check, outcomes, failure)
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


def _of_failure(check: Check, outcomes: Sequence[Outcome], failure: Failure) -> str:
    expected, got, kind = failure.expected, failure.got, failure.difference.kind
    if kind == "error":
        return _of_error(check, expected, got)
    if kind == "no error":
        return _of_no_error(outcomes, expected.error[0])
    if kind == "type":
        parts = _where_they_differ(expected.value, got.value, check.tolerance)
        return _of_type(*parts, _Differing(check, outcomes, kind))
    if kind in ("shape", "dtype"):
        return _of_form(_Differing(check, outcomes, kind), kind)
    return OF_KIND.get(kind, "")


def _of_error(check: Check, expected: Outcome, got: Outcome) -> str:
    said = advice.on_error(got.error[0], got.message, () if check.call else check.names, got.line)
    if said:
        return said
    if expected.error:
        return _("Another error is asked for: {error}.").format(error=expected.error[0])
    if re.search(r"\b(raise|assert)\b", got.line):
        return _("A value is asked for here, and your own line stops the call: is its condition too wide?")
    return ""


def _of_no_error(outcomes: Sequence[Outcome], error: str) -> str:
    if any(error in outcome.error for outcome in outcomes):
        text = _("Your function raises {error} on other inputs, and not on this one: is a condition too narrow?")
    else:
        text = _("`raise {error}(...)` is asked for here: it ends the call, and what prints or returns does not.")
    return text.format(error=error)


class _Differing:
    """The inputs on which an answer differs in one way: the first parts that differ on each, right and given."""

    def __init__(self, check: Check, outcomes: Sequence[Outcome], kind: str) -> None:
        self.check = check
        found = [check.difference(right, got) for right, got in zip(check.answers, outcomes)]
        places = [i for i, difference in enumerate(found) if difference and difference.kind == kind]
        parts = [_where_they_differ(check.answers[i].value, outcomes[i].value, check.tolerance) for i in places]
        self.pairs = [(right, got) for right, got, _keys in parts]
        self.args = [check.cases[i].args for i in places]
        self.keys = parts[0][2] if parts else ()

    def given(self) -> list[str]:
        """The arguments that come back as they are, in the place of the parts that differ."""
        return [
            name
            for i, name in enumerate(self.check.names)
            if self.pairs and all(identical(args[i], got) for args, (_right, got) in zip(self.args, self.pairs))
        ]

    def dtype(self) -> str:
        """The right dtype as code: the same on every input, that of an argument, or what two of them give together."""
        parts = [_part(right.value, self.keys) for right in self.check.answers]
        wanted = {i: part.dtype for i, part in enumerate(parts) if isinstance(part, Tensor)}
        rights = [*wanted.values()]
        always = {str(rights[0]): rights[:1] * len(rights)}
        arguments = zip(self.check.names, zip(*(self.check.cases[i].args for i in wanted)))
        named = {f"{name}.dtype": [x.dtype for x in args] for name, args in arguments if _are_tensors(args)}
        both = {
            f"torch.promote_types({one}, {other})": [*map(torch.promote_types, left, right)]
            for (one, left), (other, right) in combinations(named.items(), 2)
        }
        return next((code for code, made in (always | named | both).items() if made == rights), str(rights[0]))


def _are_tensors(things: Iterable[Any]) -> bool:
    return all(isinstance(thing, Tensor) for thing in things)


def _part(value: Any, keys: Sequence[Any]) -> Any:
    """What the keys lead to, None if there is nothing."""
    try:
        return reduce(getitem, keys, value)
    except (LookupError, TypeError):
        return None


def _where_they_differ(expected: Any, got: Any, tolerance: float, keys: tuple = ()) -> tuple[Any, Any, tuple]:
    """The first two parts that differ, inside tuples, lists and dicts of one form, and the keys that lead there."""
    if type(expected) is not type(got) or not isinstance(expected, (tuple, list, dict)):
        return expected, got, keys
    in_dict = isinstance(expected, dict)
    if not in_dict and len(expected) != len(got):
        return expected, got, keys
    inner = [key for key in expected if key in got] if in_dict else range(len(expected))
    differing = next((key for key in inner if value_difference(expected[key], got[key], tolerance)), None)
    if differing is None:
        return expected, got, keys
    return _where_they_differ(expected[differing], got[differing], tolerance, (*keys, differing))


def _of_type(expected: Any, got: Any, keys: Sequence[Any], differing: _Differing) -> str:
    if expected is None or got is None:
        return _of_none(expected, got, keys, differing.given())
    if isinstance(expected, tuple):
        return _("Several things are asked for: `return a, b` gives a tuple of them.")
    if isinstance(expected, list) and isinstance(got, (tuple, set)):
        return _("list(...) makes a list of it.")
    if isinstance(got, tuple):
        return _("A comma after `return` makes a tuple of several things; one is asked for.")
    if isinstance(got, Tensor):
        return _(".tolist() makes lists of a tensor, .item() a number of a tensor with one entry.")
    if isinstance(expected, Tensor):
        text = _("Leave out .item() or .tolist(), or make a tensor: torch.tensor(..., dtype={dtype}).")
        return text.format(dtype=differing.dtype())
    if isinstance(expected, bool):
        return _("True or False is asked for: what a comparison gives, or bool(...).")
    if isinstance(expected, int) and isinstance(got, float):
        return _("A whole number is asked for: // divides without a rest, int(...) cuts off what is behind the point.")
    return ""


def _of_none(expected: Any, got: Any, keys: Sequence[Any], given: Sequence[str]) -> str:
    where = _(" at {place}").format(place="".join(f"[{key!r}]" for key in keys)) if keys else ""
    if got is None and not keys:
        return _("Does every way through the function end in a `return`?")
    if got is None:
        text = _("None came{where} on this input, and {kind} is asked for: on this way, nothing has given it a value.")
        return text.format(where=where, kind=kind_of(expected))
    if given:
        text = _("None is asked for{where} on this input, and {name} came as it was given: when should it not?")
        return text.format(where=where, name=given[0])
    text = _("None is asked for{where} on this input, and {kind} came: which of your lines decides that?")
    return text.format(where=where, kind=kind_of(got))


def _of_form(differing: _Differing, kind: str) -> str:
    """What parts of another shape, length or dtype have in common, over all inputs on which they differ so."""
    pairs = differing.pairs
    if kind == "dtype":
        return shapes.of_dtypes(pairs, differing.dtype())
    if all(map(_are_tensors, pairs)):
        return shapes.of_shapes(pairs)
    # On one input a tensor may differ first, on another a list: then nothing holds for all.
    return "" if any(isinstance(right, Tensor) for right, _got in pairs) else shapes.of_lengths(pairs)


def of_names(answer: Any, names: Sequence[str]) -> list[str]:
    """A function that reads a variable of the notebook where it means the argument of the task with that name."""
    if type(answer) is not FunctionType:
        return []
    read = {step.argval for step in dis.get_instructions(answer.__code__) if step.opname == "LOAD_GLOBAL"}
    text = _("The function reads the notebook's own variable {name}, since none of its arguments is called so.")
    return [text.format(name=name) for name in names if name in read]
