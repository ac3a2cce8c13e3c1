"""A solution page as stored values: what the student edition checks with. The other half is grader/stored.py."""

from __future__ import annotations

import gzip
import inspect
import json
from pathlib import Path
from typing import Any

from exercises.classroom.harness import harness_source
from exercises.grader import codec
from exercises.grader.catalog import Exercise
from exercises.grader.diagnose import behaviour
from exercises.grader.sandbox import pack as packed
from exercises.grader.stored import SUFFIX
from exercises.grader.stubs import stub
from solutions.vocabulary import Check, ValueCheck


def write_stored(exercise: Exercise, folder: Path) -> Path:
    """Write the stored page; the same page gives the same bytes."""
    path = folder / f"{exercise.name}{SUFFIX}"
    path.write_bytes(gzip.compress(json.dumps(stored(exercise)).encode(), mtime=0))
    return path


def stored(exercise: Exercise) -> dict[str, Any]:
    """Inputs, right outcomes and the outcomes of the known mistakes, as JSON data."""
    page: dict[str, Any] = {"doc": "", "stub": stub(exercise)}
    if hasattr(exercise.page, "not_checked"):
        page["not_checked"] = exercise.page.not_checked
    make, wrong = (_function_check, _wrong_function) if exercise.is_code else (_value_check, _wrong_value)
    names = {id(value): name for name, value in vars(exercise.page).items()}
    page["checks"] = [{"name": names[id(check)], **make(exercise, check)} for check in exercise.checks]
    page["wrong"] = [{"name": name, "doc": _doc(exercise, name), **wrong(exercise, name)} for name in exercise.wrong]
    return page


def _doc(exercise: Exercise, name: str) -> str:
    return inspect.getdoc(exercise.wrong[name]) or ""


def _function_check(exercise: Exercise, check: Check) -> dict[str, Any]:
    return {
        "reference": exercise.answer_name, "names": check.names, "tolerance": check.tolerance,
        "used_with": check.used_with, "call": harness_source(exercise, check),
        "cases": [[[codec.encode(arg) for arg in case.args], case.group, case.label] for case in check.cases],
        "answers": [packed(outcome) for outcome in check.answers],
    }  # fmt: skip


def _wrong_function(exercise: Exercise, name: str) -> dict[str, Any]:
    """What the mistake does on each input of each check; of one that does not come back, only how it fails."""
    of_checks = [behaviour(exercise, number, name) for number in range(len(exercise.checks))]
    outcomes = [[packed(outcome) for outcome in of_check if outcome] for of_check in of_checks]
    return {"fails": getattr(exercise.wrong[name], "fails", "value"), "outcomes": outcomes}


def _value_check(exercise: Exercise, check: ValueCheck) -> dict[str, Any]:
    kind, tolerance = type(check).__name__, check.tolerance
    return {"reference": exercise.answer_name, "kind": kind, "tolerance": tolerance, "value": codec.encode(check.value)}


def _wrong_value(exercise: Exercise, name: str) -> dict[str, Any]:
    return {"value": codec.encode(exercise.wrong[name]())}
