"""What the course measures: chapters, their objectives, the exercises behind each objective.

A chapter's first cell lists its objectives; an exercise's page names the one it measures (`objective = "..."`).
Nothing is listed a second time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from exercises.grader.catalog import FOLDER, Exercise, all_exercises

CHAPTERS = FOLDER.parent / "notebooks"
OBJECTIVE = re.compile(r"^\d\. (\*\*\w+\*\*.+)[;.]$", re.M)
INTRODUCTION = 0  # shows how to use the course; what it practises needs no marks


@dataclass(frozen=True)
class Chapter:
    """A chapter by its file. minutes: what its first cell says, or None. objectives: as listed, in sentence case."""

    number: int
    file: str
    title: str
    minutes: int | None
    objectives: tuple[str, ...]
    exercises: tuple[Exercise, ...]

    def measured_by(self, objective: str) -> list[Exercise]:
        return [exercise for exercise in self.exercises if exercise.task.objective == objective]


def chapters(folder: Path = CHAPTERS, exercises: Iterable[Exercise] | None = None) -> list[Chapter]:
    """The chapters NN_name.ipynb of `folder` in order, each with its exercises."""
    known = list(all_exercises() if exercises is None else exercises)
    return [_read(path, known) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))]


def _read(path: Path, exercises: list[Exercise]) -> Chapter:
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    title, minutes = re.search(r"^# (?:\d+\. )?(.+)$", first, re.M), re.search(r"Allow (\d+) minutes", first)
    plain = [text.replace("**", "") for text in OBJECTIVE.findall(first)]
    number = int(path.name[:2])
    return Chapter(
        number,
        path.name,
        title[1] if title else path.stem,
        int(minutes[1]) if minutes else None,
        tuple(text[:1].upper() + text[1:] for text in plain),
        tuple(exercise for exercise in exercises if exercise.chapter == number),
    )


def gaps(found: Iterable[Chapter]) -> Iterator[str]:
    """What keeps the rubric from being whole, in sentences: none if each objective is measured and each exercise
    measures one of its chapter's."""
    for chapter in found:
        for objective in chapter.objectives if chapter.number != INTRODUCTION else ():
            if not chapter.measured_by(objective):
                yield f"{chapter.file}: no exercise measures {objective!r}"
        for exercise in chapter.exercises:
            if exercise.task.objective not in chapter.objectives:
                yield f"{exercise.name}: {exercise.task.objective!r} is no objective of {chapter.file}"
