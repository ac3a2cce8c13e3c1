"""Verdicts in words: what a student reads after a check."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from exercises.grader.card import BAD, GOOD, OPEN, Card, Row
from exercises.grader.catalog import Exercise
from exercises.grader.verdict import NOT_ATTEMPTED, PASSED, Failure, Verdict
from llm_gen.text import _
from solutions.vocabulary import Entry, Outcome, Prediction, ValueCheck
from solutions.vocabulary.compare import kind_of, short
from solutions.vocabulary.values import in_words

MOST_ROWS, MOST_COLUMNS, LONGEST_LINE = 4, 10, 70


def verdict_card(exercise: Exercise, verdict: Verdict) -> Card:
    """The card of one check."""
    tone = {PASSED: GOOD, NOT_ATTEMPTED: OPEN}.get(verdict.status, BAD)
    return Card(f"{exercise.short}: {_headline(exercise, verdict)}", _rows(exercise, verdict), tone)


def _headline(exercise: Exercise, verdict: Verdict) -> str:
    if verdict.status == NOT_ATTEMPTED:
        return _("not attempted")
    words = _("passed") if verdict.passed else _("not right yet")
    if not verdict.total or verdict.total == 1:
        return words
    unit = _("inputs") if exercise.is_code else _("entries")
    return _("{words}, {n} of {m} {unit} right").format(words=words, n=verdict.right, m=verdict.total, unit=unit)


def _rows(exercise: Exercise, verdict: Verdict) -> list[Row]:
    rows = [Row(_("Problem"), verdict.problem)] if verdict.problem else []
    if verdict.failure:
        rows += _failure_rows(verdict.failure)
    if verdict.entries and verdict.status != NOT_ATTEMPTED:
        rows += _entry_rows(exercise.checks[0], verdict)
    rows += [Row(_("Likely mistake"), text) for text in verdict.likely]
    rows += [Row(_("Note"), text) for text in verdict.notes]
    if exercise.is_code and verdict.total and verdict.status != NOT_ATTEMPTED:
        rows += [Row(_("Not checked"), "; ".join(verdict.unchecked))] if verdict.unchecked else []
    return [*rows, *_next_rows(exercise, verdict)]


def _next_rows(exercise: Exercise, verdict: Verdict) -> list[Row]:
    if verdict.passed or not exercise.task.hints:
        return []
    count = len(exercise.task.hints)
    return [Row(_("Help"), _('hint("{name}") gives {n} hints, one at a time').format(name=exercise.short, n=count))]


def _failure_rows(failure: Failure) -> list[Row]:
    inputs = "\n".join(_assignment(name, value) for name, value in zip(failure.names, failure.args))
    rows = [Row(_("Smallest input"), inputs, code=True)]
    rows += [Row(_("Used with"), failure.used_with)] if failure.used_with else []
    # A value without its answer beside it says the kind that is asked for by its form alone.
    form = failure.difference.kind in ("dtype", "shape", "type") or failure.got.kind != "answer"
    rows.append(Row(_("Expected"), _outcome(failure.expected, form), code=True))
    if failure.got.kind == "answer":
        rows.append(Row(_("Your answer"), _outcome(failure.got, form), code=True))
    rows.append(Row(_("Difference"), failure.difference.text))
    if failure.got.line:
        rows.append(Row(_("At your line"), failure.got.line, code=True))
    if failure.got.printed.strip():
        rows.append(Row(_("It printed"), "\n".join(failure.got.printed.strip().splitlines()[:2]), code=True))
    return rows


def _entry_rows(check: ValueCheck, verdict: Verdict) -> list[Row]:
    wrong = [entry for entry in verdict.entries if entry.filled and not entry.right]
    blank = [entry for entry in verdict.entries if not entry.filled]
    rows = []
    if wrong:
        rows.append(Row(_("Not right"), "\n".join(_lines(wrong)), code=True))
    if blank and not verdict.passed:
        rows.append(Row(_("To fill in"), "; ".join(dict.fromkeys(_line_of(entry) for entry in blank))))
    if isinstance(check, Prediction):
        rows.append(Row(_("What happens"), show(check.value), code=True))
    elif check.tolerance and wrong:
        rows.append(Row(_("Tolerance"), f"{check.tolerance:g}"))
    return rows


def _lines(entries: list[Entry]) -> list[str]:
    """One line for each row of the answer: `to 0: entry 1 is 1, entry 2 is 0`."""
    lines: dict[str, list[str]] = {}
    for entry in entries:
        number = _("entry {n} is ").format(n=entry.place[-1]) if _numbered(entry) else ""
        lines.setdefault(_line_of(entry), []).append(number + show(entry.got))
    return [f"{line}: {', '.join(told)}" if line else ", ".join(told) for line, told in lines.items()]


def _numbered(entry: Entry) -> bool:
    return bool(entry.place) and isinstance(entry.place[-1], int)


def _line_of(entry: Entry) -> str:
    return in_words(entry.place[:-1] if _numbered(entry) else entry.place)


def _outcome(outcome: Outcome, form: bool) -> str:
    if outcome.kind == "error":
        return _("raises {error}").format(error=outcome.error[0])
    return show(outcome.value) + (_form(outcome.value) if form else "")


def _assignment(name: str, value: Any) -> str:
    """`probs = [[0.5, 0.5]]   (1, 2) float32`, further rows under the first."""
    indent = "\n" + " " * (len(name) + 3)
    return f"{name} = {show(value)}".replace("\n", indent) + _form(value)


def _form(value: Any) -> str:
    """Shape and dtype of a tensor, or of each of several."""
    form = _form_of(value)
    return f"   {form}" if form else ""


def _form_of(value: Any) -> str:
    if isinstance(value, Tensor):
        strided = "" if value.is_contiguous() else ", " + _("not contiguous")
        return f"{tuple(value.shape)} {short(value.dtype)}{strided}"
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else []
    forms = [_form_of(part) for part in parts[:MOST_ROWS]]
    return _(" and ").join(form or kind_of(part) for form, part in zip(forms, parts)) if any(forms) else ""


def show(value: Any) -> str:
    """A value as a student would write it: short numbers, at most a few rows and columns."""
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {show(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(show, value))) + "}"
    if isinstance(value, (list, tuple)):
        left, right = "[]" if isinstance(value, list) else "()"
        return left + ", ".join(_items(value)) + right
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST_LINE else value[:LONGEST_LINE] + "...")
    return number(value)


def number(value: Any) -> str:
    """Four significant digits for a float, no trailing zeros; more where four would make it a whole number."""
    if not isinstance(value, float):
        return repr(value)
    if math.isnan(value) or math.isinf(value):
        return str(value)
    digits = (4, 8, 17) if abs(value) < 1 else (4, 8)  # the largest number below 1 is an input, 9.999999999991 is not
    texts = [f"{value + 0.0:.{count}g}" for count in digits]  # + 0.0 turns -0.0 into 0.0
    return next((text for text in texts if value.is_integer() or not float(text).is_integer()), texts[0])


def _items(values: Any) -> list[str]:
    shown = [show(item) for item in values[:MOST_COLUMNS]]
    return [*shown, "..."] if len(values) > MOST_COLUMNS else shown


def _tensor(tensor: Tensor) -> str:
    if tensor.ndim < 2:
        return show(tensor.tolist())
    flat = show(tensor.tolist())
    if tensor.ndim > 2 or len(flat) <= LONGEST_LINE:
        return flat if len(flat) <= 3 * LONGEST_LINE else flat[: 3 * LONGEST_LINE] + " ..."
    rows = [show(row.tolist()) for row in tensor[:MOST_ROWS]] + (["..."] if len(tensor) > MOST_ROWS else [])
    return "[" + ",\n ".join(rows) + "]"
