"""The commands of `python -m exercises`. Each returns its exit code."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from time import sleep as pause
from typing import Any

from exercises.grader import progress as memory
from exercises.grader.answers import Written, from_file
from exercises.grader.api import show_hint, solution_card
from exercises.grader.card import print_text
from exercises.grader.catalog import NAME, Exercise, all_exercises, find
from exercises.grader.judge import judge
from exercises.grader.stubs import reset
from exercises.grader.verdict import NOT_ATTEMPTED, WRONG, Verdict
from exercises.grader.wording import verdict_card
from llm_gen.text import _

ALL_PASSED, SOME_WRONG, USAGE, NOT_ALL_ATTEMPTED = 0, 1, 2, 3
SECONDS_BETWEEN_LOOKS = 0.5


def list_exercises(options: Namespace) -> int:
    records = memory.read()
    rows = [_listed(exercise, records.get(exercise.name, {})) for exercise in all_exercises()]
    if options.json:
        print(json.dumps(rows, indent=1))
        return ALL_PASSED
    for row in rows:
        sign = "x" if row["passed"] else "."
        print_text(f"{sign} {row['name']:<32} {'*' * row['difficulty']:<5} {row['minutes']:>3} min  {row['title']}")
    return ALL_PASSED


def _listed(exercise: Exercise, record: dict[str, Any]) -> dict[str, Any]:
    task = exercise.task
    return {
        "name": exercise.name, "chapter": exercise.chapter, "title": task.title, "objective": task.objective,
        "difficulty": task.difficulty, "minutes": task.minutes, "passed": "passed_at_attempt" in record,
    }  # fmt: skip


def check(options: Namespace) -> int:
    """Check the named exercises or files, or all of them."""
    targets = [_target(name) for name in options.names] or [(e, from_file(e)) for e in all_exercises()]
    verdicts = []
    for exercise, answer in targets:
        verdict = judge(exercise, answer)
        memory.record(verdict)
        verdicts.append(verdict)
        if not options.json:
            print_text(verdict_card(exercise, verdict).text)
    if options.json:
        print(json.dumps([as_json(e, v) for (e, _answer), v in zip(targets, verdicts)], indent=1))
    return exit_code(verdicts)


def _target(name: str) -> tuple[Exercise, Written]:
    """An exercise by its name, answered in its own file, or a file called like an exercise, wherever it lies."""
    path = Path(name)
    if path.suffix == ".py" and NAME.fullmatch(path.stem):
        exercise = find(path.stem)
        return exercise, Written(path.read_text(encoding="utf-8"), exercise.answer_name)
    exercise = find(name)
    return exercise, from_file(exercise)


def as_json(exercise: Exercise, verdict: Verdict) -> dict[str, Any]:
    """A verdict for other programs; `text` is the card."""
    return {
        "exercise": verdict.exercise, "status": verdict.status, "right": verdict.right, "total": verdict.total,
        "groups": verdict.groups, "mistakes": verdict.mistakes, "isolation": verdict.isolation,
        "text": verdict_card(exercise, verdict).text,
    }  # fmt: skip


def exit_code(verdicts: Iterable[Verdict]) -> int:
    found = {verdict.status for verdict in verdicts}
    if WRONG in found:
        return SOME_WRONG
    return NOT_ALL_ATTEMPTED if NOT_ATTEMPTED in found else ALL_PASSED


def hint(options: Namespace) -> int:
    """The next hint, as the progress file remembers it, or the one asked for."""
    exercise = find(options.name)
    show_hint(exercise, options.step, memory.read().get(exercise.name, {}).get("hints", 0))
    return ALL_PASSED


def solution(options: Namespace) -> int:
    print_text(solution_card(find(options.name)).text)
    return ALL_PASSED


def progress(options: Namespace) -> int:
    records = memory.read()
    text = json.dumps(records, indent=1) if options.json else memory.progress_card(all_exercises(), records).text
    print_text(text)
    return ALL_PASSED


def reset_file(options: Namespace) -> int:
    exercise = find(options.name)
    backup = reset(exercise)
    print_text(
        _("{name} is as it was at first; what you had is in {backup}.").format(name=exercise.name, backup=backup.name)
    )
    return ALL_PASSED


def watch(options: Namespace) -> int:
    """Check a file whenever it is saved, until Ctrl-C. `options.looks`: how often to look, without end if None."""
    watched = [find(name) for name in options.names] or all_exercises()
    saved = {exercise: exercise.path.stat().st_mtime_ns for exercise in watched}
    print_text(_("Watching {n} files; save one to check it, Ctrl-C to stop.").format(n=len(watched)))
    looks = 0
    while options.looks is None or looks < options.looks:
        looks += 1
        pause(SECONDS_BETWEEN_LOOKS)
        for exercise in watched:
            now = exercise.path.stat().st_mtime_ns if exercise.path.exists() else saved[exercise]
            if now != saved[exercise]:
                saved[exercise] = now
                verdict = judge(exercise, from_file(exercise))
                memory.record(verdict)
                print_text(verdict_card(exercise, verdict).text)
    return ALL_PASSED


def table(options: Namespace) -> int:
    """The table of wrong answers and mutants. With names: their rows made anew, the others as the file has them."""
    from exercises.grader import audit

    exercises = all_exercises()
    path = exercises[0].folder / audit.TABLE
    kept = audit.rows_of(path.read_text(encoding="utf-8")) if options.names and path.exists() else {}
    chosen = [find(name) for name in options.names] or exercises
    rows = kept | {exercise.name: audit.row_of(audit.audit(exercise)) for exercise in chosen}
    text = audit.table(rows[exercise.name] for exercise in exercises if exercise.name in rows)
    if options.write:
        path.write_text(text, encoding="utf-8")
    else:
        print_text(text)
    return ALL_PASSED
