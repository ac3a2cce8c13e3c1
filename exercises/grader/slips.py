"""Slips that anybody can make in any exercise: how they show, and what to do about them.

They are looked for only where no known mistake of the page explains the answer.
"""

from __future__ import annotations

import dis
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from exercises.grader import advice, relations
from exercises.grader.verdict import Failure
from llm_gen.text import _
from solutions.vocabulary import Check, Choice, Entry, Outcome, ValueCheck, identical
from solutions.vocabulary.compare import kind_of
from solutions.vocabulary.values import in_words


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
    expected, got, kind = failure.expected.value, failure.got, failure.difference.kind
    if kind == "error":
        return advice.on_error(got.error[0], got.message, () if check.call else check.names, got.line)
    if kind == "time-out":
        return _("Does a loop never end? `while a != b` may not, where a and b are floats: count the rounds instead.")
    if kind == "changed input":
        return _("x += 1, x[i] = 1 and x.sort_() write into x itself: work on x + 1 or on x.clone().")
    if kind == "nan":
        return _("NaN comes from 0 / 0, inf - inf or 0 * inf. Which one happens on the smallest input?")
    if got.kind != "answer":
        return ""
    return {"type": _of_type, "dtype": _of_dtype, "shape": _of_shape}.get(kind, _nothing)(expected, got.value, failure)


def _nothing(expected: Any, got: Any, failure: Failure) -> str:
    return ""


def _of_type(expected: Any, got: Any, failure: Failure) -> str:
    if got is None:
        return _("Does every way through the function end in a `return`?")
    if isinstance(got, tuple):
        return _("A comma after `return` makes a tuple of several things; one is asked for.")
    if isinstance(got, Tensor):
        return _(".tolist() makes lists of a tensor, .item() a number of a tensor with one entry.")
    if isinstance(expected, Tensor):
        text = _("torch.tensor(..., dtype={dtype}) makes a tensor of numbers and lists.")
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
    if 1 < expected.ndim == got.ndim and expected.numel() < got.numel():
        return _("Two shapes were stretched to fit each other. After sum or amax, keepdim=True keeps the axis.")
    return ""


def of_names(answer: Any, names: Sequence[str]) -> list[str]:
    """A function that reads a variable of the notebook where it means the argument of the task with that name."""
    if type(answer) is not FunctionType:
        return []
    read = {step.argval for step in dis.get_instructions(answer.__code__) if step.opname == "LOAD_GLOBAL"}
    text = _("The function reads the notebook's own variable {name}, since none of its arguments is called so.")
    return [text.format(name=name) for name in names if name in read]


def of_form(check: ValueCheck, entries: Sequence[Entry], options: Iterable[str] = ()) -> tuple[str, ...]:
    """What is wrong with the form of the first entry that has another one. options: the letters to choose from."""
    told = (words for entry in _wrong(entries) for words in _of_form(check, entry, tuple(options)))
    return tuple(islice(told, 1))


def in_values(check: ValueCheck, entries: Sequence[Entry]) -> tuple[str, ...]:
    """How the wrong entries relate to the right ones."""
    pairs = [(entry.expected, entry.got) for entry in _wrong(entries)]
    if isinstance(check, Choice):
        words = _of_letters(*pairs[0]) if isinstance(pairs[0][0], set) else ""
    elif all(type(right) is float and type(got) in (int, float) for right, got in pairs):
        words = relations.in_words(pairs, precision=0.02) or _of_places(check, entries)
    else:
        words = ""
    return (words,) if words else ()


def _of_places(check: ValueCheck, entries: Sequence[Entry]) -> str:
    """Whether each row holds the right numbers in another order."""
    rows: dict[tuple, list[Entry]] = defaultdict(list)
    for entry in entries:
        if not entry.filled or type(entry.expected) is not float or not entry.place or isinstance(entry.place[-1], str):
            return ""
        rows[entry.place[:-1]].append(entry)
    for row in rows.values():
        pairs = zip(sorted(entry.expected for entry in row), sorted(float(entry.got) for entry in row))
        if not all(check.equal(right, got) for right, got in pairs):
            return ""
    return _("The right numbers, but in other places.")


def _wrong(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.filled and not entry.right]


def _of_letters(expected: set, got: Iterable) -> str:
    letters = {item.strip().lower() for item in got if isinstance(item, str)}
    text = _("{n} of your letters fit, {m} do not; {k} more would.")
    return text.format(n=len(letters & expected), m=len(letters - expected), k=len(expected - letters))


def _of_form(check: ValueCheck, entry: Entry, options: tuple[str, ...]) -> Iterator[str]:
    place, got, expected = repr(in_words(entry.place)) if entry.place else _("your answer"), entry.got, entry.expected
    if isinstance(check, Choice):
        yield from _of_choice(entry, options)
    elif isinstance(expected, set):
        yield from _of_set(entry, place)
    elif isinstance(expected, (int, float)) and not isinstance(got, (int, float)):
        yield _of_number(got).format(place=place, kind=kind_of(got))
    elif isinstance(got, float) and not math.isfinite(got):
        yield _("{got} is no answer: 0 / 0, inf - inf and 0 * inf give nan, 1 / 0 gives inf.").format(got=got)
    elif type(expected) is int and type(got) is not int:
        yield _("A whole number is asked for in {place}, and {kind} came.").format(place=place, kind=kind_of(got))


def _of_number(got: Any) -> str:
    if isinstance(got, str):
        return _("A number is asked for in {place}, and a text came: leave out the quotes.")
    if isinstance(got, (tuple, list)) and len(got) == 2 and all(type(part) is int for part in got):
        return _("Two numbers came in {place}: decimals are written with a point, as in 0.5.")
    return _("One number is asked for in {place}, and {kind} came.")


def _of_set(entry: Entry, place: str) -> Iterator[str]:
    if not isinstance(entry.got, (list, tuple, set)):
        kind = kind_of(entry.got)
        yield _("A set such as {{1, 2}} is asked for in {place}, and {kind} came.").format(place=place, kind=kind)
    elif {type(item) for item in entry.got} - {type(item) for item in entry.expected}:
        wanted = kind_of(next(iter(entry.expected), 1))
        yield _("Each item of the set in {place} is to be {kind}.").format(place=place, kind=wanted)


def _of_choice(entry: Entry, options: tuple[str, ...]) -> Iterator[str]:
    several, got = isinstance(entry.expected, set), entry.got
    if several and not isinstance(got, (list, tuple, set)):
        yield _('A list of letters is asked for, such as ["a", "b"], and {kind} came.').format(kind=kind_of(got))
        return
    for item in got if several else [got]:
        if options and not (isinstance(item, str) and item.strip().lower() in options):
            shown = repr(item[:30]) if isinstance(item, str) else kind_of(item)
            text = _("One of the letters {offer} is asked for, in quotes, and {got} came.")
            yield text.format(got=shown, offer=", ".join(options))
