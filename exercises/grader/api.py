"""What a chapter calls: check, hint, solution, progress."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
from typing import Any

from exercises.grader import progress as memory
from exercises.grader.answers import Answer, Given, from_file
from exercises.grader.card import OPEN, Card, Row
from exercises.grader.catalog import FOLDER, Exercise, all_exercises, find
from exercises.grader.judge import judge
from exercises.grader.mutate import reference_functions
from exercises.grader.verdict import Verdict
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
    memory.record(verdict)
    verdict_card(exercise, verdict).show()
    return verdict


def hint(name: str, step: int | None = None) -> None:
    """Show the next hint, or hint number `step` (from 1). Only the last one may hold code."""
    exercise = find(name)
    count = len(exercise.task.hints)
    if step is None:
        step = min(_hints_given.get(exercise.name, 0) + 1, count)
    if not 1 <= step <= count:
        raise ValueError(_("step must lie in 1..{n}, got {step}").format(n=count, step=step))
    _hints_given[exercise.name] = step
    memory.record_hint(exercise.name, step)
    hint_card(exercise, step).show()


def hint_card(exercise: Exercise, step: int) -> Card:
    hints = exercise.task.hints
    title = _("{name}: hint {step} of {n}").format(name=exercise.short, step=step, n=len(hints))
    return Card(title, [Row(_("Hint"), hints[step - 1])], OPEN)


def solution(name: str) -> None:
    """Show the reference and its reasons, when the instructor's choice (`solution_policy`) allows it."""
    solution_card(find(name)).show()


def solution_card(exercise: Exercise) -> Card:
    policy = solution_policy()
    if policy == NEVER:
        return Card(_("{name}: solutions are not shown in this course").format(name=exercise.short))
    if policy == AFTER_ATTEMPT and not memory.attempted(exercise.name):
        text = _("Try first: the solution is shown after one attempt.")
        return Card(_("{name}: not attempted").format(name=exercise.short), [Row(_("Solution"), text)])
    reasons = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(exercise.page) or "")  # lines of one paragraph joined
    rows = [Row(_("Why"), reasons), Row(_("Answer"), reference_source(exercise), code=True)]
    return Card(_("{name}: solution").format(name=exercise.short), rows, longest=200)


def solution_policy() -> str:
    """ "after an attempt", "on request" or "never": from exercises/settings.json, or LLM_COURSE_SOLUTIONS."""
    settings = json.loads((FOLDER / "settings.json").read_text(encoding="utf-8"))
    policy = os.environ.get("LLM_COURSE_SOLUTIONS") or settings["solutions"]
    if policy not in (AFTER_ATTEMPT, ON_REQUEST, NEVER):
        raise ValueError(f"solutions must be {AFTER_ATTEMPT!r}, {ON_REQUEST!r} or {NEVER!r}, got {policy!r}")
    return policy


def reference_source(exercise: Exercise) -> str:
    """The reference with the helpers of its page that it uses; for a value, the value."""
    if not exercise.is_code:
        return show(exercise.checks[0].value)
    source = inspect.getsource(exercise.page)
    return "\n\n".join(ast.get_source_segment(source, node) or "" for node in reference_functions(exercise))


def progress() -> None:
    """Show where you stand, chapter by chapter and objective by objective."""
    memory.progress_card(all_exercises(), memory.read()).show()
