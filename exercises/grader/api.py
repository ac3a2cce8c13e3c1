"""What a chapter calls: check, hint, solution, progress."""

from __future__ import annotations

import inspect
import json
import os
import re
from dataclasses import replace
from typing import Any

from exercises.grader import progress as memory
from exercises.grader.answers import Answer, Given, Written, from_file
from exercises.grader.card import OPEN, Card, Row
from exercises.grader.catalog import FOLDER, Exercise, NoHint, all_exercises, find
from exercises.grader.judge import judge
from exercises.grader.stubs import reference_source
from exercises.grader.verdict import NOT_ATTEMPTED, Verdict
from exercises.grader.wording import show, verdict_card
from llm_gen.text import _

FROM_FILE = object()
AFTER_ATTEMPT, ON_REQUEST, NEVER = "after an attempt", "on request", "never"
_hints_given: dict[str, int] = {}


def check(name: str, answer: Any = FROM_FILE) -> Verdict:
    """Check an answer, show the card, remember the attempt. Without `answer`, the one in the exercise's file.

    name: with or without `eNN_`. answer: the function itself, or the value. Raises UnknownExercise (a LookupError),
    which offers close names.
    """
    exercise = find(name)
    return check_and_show(exercise, from_file(exercise) if answer is FROM_FILE else Given(answer))


def check_and_show(exercise: Exercise, answer: Answer) -> Verdict:
    verdict = judge(exercise, answer)
    if isinstance(answer, Written) and verdict.status == NOT_ATTEMPTED:
        verdict = replace(verdict, notes=(*verdict.notes, _where_it_looked(exercise)))
    memory.record(verdict)
    verdict_card(exercise, verdict).show()
    return verdict


def _where_it_looked(exercise: Exercise) -> str:
    text = _('This is what stands in exercises/{file}. For an answer in a cell: check("{name}", {answer})')
    return text.format(file=exercise.path.name, name=exercise.short, answer=exercise.answer_name)


def hint(name: str, step: int | None = None) -> None:
    """Show the next hint, or hint number `step`, from 1. Only the last one may hold code.

    Raises UnknownExercise, and NoHint (a ValueError), which says how many there are.
    """
    exercise = find(name)
    _hints_given[exercise.name] = show_hint(exercise, step, _hints_given.get(exercise.name, 0))


def show_hint(exercise: Exercise, step: int | None, given: int) -> int:
    """Show hint number `step`, or the one after those that were given, and remember it. The last one is given again."""
    hints = exercise.task.hints
    step = min(given + 1, len(hints)) if step is None else step
    if type(step) is not int or not 1 <= step <= len(hints):
        text = _("{name} has {n} hints: step must lie in 1..{n}, got {step!r}")
        raise NoHint(text.format(name=exercise.short, n=len(hints), step=step))
    title = _("{name}: hint {step} of {n}").format(name=exercise.short, step=step, n=len(hints))
    Card(title, [Row(_("Hint"), hints[step - 1])], OPEN).show()
    memory.record_hint(exercise.name, step)
    return step


def solution(name: str) -> None:
    """Show the reference and its reasons, when the instructor's choice (`solution_policy`) allows it."""
    solution_card(find(name)).show()


def solution_card(exercise: Exercise) -> Card:
    policy = solution_policy()
    if policy == NEVER or exercise.is_stored:
        return Card(_("{name}: solutions are not shown in this course").format(name=exercise.short))
    if policy == AFTER_ATTEMPT and not memory.attempted(exercise.name):
        text = _("Try first: the solution is shown after one attempt.")
        return Card(_("{name}: not attempted").format(name=exercise.short), [Row(_("Solution"), text)])
    reasons = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(exercise.page) or "")  # lines of one paragraph joined
    answer = reference_source(exercise) if exercise.is_code else show(exercise.checks[0].value)
    rows = [Row(_("Why"), reasons), Row(_("Answer"), answer, code=True)]
    return Card(_("{name}: solution").format(name=exercise.short), rows, longest=200)


def solution_policy() -> str:
    """ "after an attempt", "on request" or "never": from exercises/settings.json, or LLM_COURSE_SOLUTIONS."""
    settings = json.loads((FOLDER / "settings.json").read_text(encoding="utf-8"))
    policy = os.environ.get("LLM_COURSE_SOLUTIONS") or settings["solutions"]
    if policy not in (AFTER_ATTEMPT, ON_REQUEST, NEVER):
        raise ValueError(f"solutions must be {AFTER_ATTEMPT!r}, {ON_REQUEST!r} or {NEVER!r}, got {policy!r}")
    return policy


def progress() -> None:
    """Show where you stand, chapter by chapter and objective by objective."""
    memory.progress_card(all_exercises(), memory.read()).show()
