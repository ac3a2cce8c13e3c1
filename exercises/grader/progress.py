"""Where a student stands: one small file, written in one step, that may be deleted at any time."""

from __future__ import annotations

import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from exercises.grader.card import GOOD, OPEN, SIGNS, Card, Row
from exercises.grader.catalog import FOLDER, Exercise
from exercises.grader.verdict import NOT_ATTEMPTED, Verdict
from llm_gen.text import _

Record = dict[str, Any]


def progress_file() -> Path | None:
    """The file; the environment variable LLM_COURSE_PROGRESS names another one, or "off" for none."""
    chosen = os.environ.get("LLM_COURSE_PROGRESS", "")
    if chosen == "off":
        return None
    return Path(chosen) if chosen else FOLDER.parent / ".progress.json"


def read() -> dict[str, Record]:
    """What is remembered of each exercise; nothing if there is no file or it cannot be read."""
    path = progress_file()
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["exercises"] if path else {}
        return {name: dict(record) for name, record in records.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def record(verdict: Verdict) -> None:
    """Remember an attempt: how many, whether passed, after how many, and the mistakes met."""
    if verdict.status == NOT_ATTEMPTED:
        return
    records = read()
    own = records.setdefault(verdict.exercise, {})
    own["attempts"] = own.get("attempts", 0) + 1
    if verdict.passed:
        own.setdefault("passed_at_attempt", own["attempts"])
    met = own.get("mistakes", [])
    own["mistakes"] = met + [name for name in verdict.mistakes if name not in met]
    _write(records)


def record_hint(name: str, step: int) -> None:
    records = read()
    own = records.setdefault(name, {})
    own["hints"] = max(own.get("hints", 0), step)
    _write(records)


def attempted(name: str) -> bool:
    return read().get(name, {}).get("attempts", 0) > 0


def progress_card(exercises: Iterable[Exercise], records: dict[str, Record]) -> Card:
    """Each chapter with its objectives: all exercises passed, some attempted, or none."""
    chapters: dict[int, list[Exercise]] = defaultdict(list)
    for exercise in exercises:
        chapters[exercise.chapter].append(exercise)
    rows = [row for chapter, members in sorted(chapters.items()) for row in _chapter_rows(chapter, members, records)]
    passed, total = _count([e for members in chapters.values() for e in members], records)
    title = _("Progress: {n} of {m} exercises passed").format(n=passed, m=total)
    return Card(title, rows, GOOD if total and passed == total else OPEN, longest=10_000)


def _chapter_rows(chapter: int, exercises: list[Exercise], records: dict[str, Record]) -> list[Row]:
    passed, total = _count(exercises, records)
    objectives: dict[str, list[Exercise]] = defaultdict(list)
    for exercise in exercises:
        objectives[exercise.task.objective].append(exercise)
    lines = [_bar(passed, total)]
    for objective, members in objectives.items():
        done, out_of = _count(members, records)
        sign = SIGNS[GOOD] if done == out_of else SIGNS[OPEN]
        left = ", ".join(e.short for e in members if not _passed(e, records))
        lines.append(f"{sign} {objective}" + (f" ({left})" if left else ""))
    return [Row(_("Chapter {n:02d}").format(n=chapter), "\n".join(lines), code=True)]


def _bar(passed: int, total: int) -> str:
    full, empty = "\N{BLACK SQUARE}", "\N{WHITE SQUARE}"
    return full * passed + empty * (total - passed) + " " + _("{n} of {m}").format(n=passed, m=total)


def _passed(exercise: Exercise, records: dict[str, Record]) -> bool:
    return "passed_at_attempt" in records.get(exercise.name, {})


def _count(exercises: list[Exercise], records: dict[str, Record]) -> tuple[int, int]:
    return sum(_passed(exercise, records) for exercise in exercises), len(exercises)


def _write(records: dict[str, Record]) -> None:
    """Replace the file in one step, so that a reader sees the old or the new one. A folder that cannot be written to
    costs the memory of this attempt and nothing else."""
    path = progress_file()
    if path is None:
        return
    text = json.dumps({"version": 1, "exercises": records}, indent=1, sort_keys=True)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        return
