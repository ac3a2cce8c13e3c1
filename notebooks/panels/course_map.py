"""The map of the course: the chapters that exist, found by their files."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from exercises.grader.catalog import all_exercises
from llm_gen.text import _

FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Chapter:
    """A chapter by its file; minutes: what its first cell says, or None."""

    file: str
    title: str
    minutes: int | None
    exercises: int


@dataclass(frozen=True)
class CourseMap:
    """The chapters in order; as the last value of a cell it is a table with links."""

    chapters: tuple[Chapter, ...]

    def _repr_markdown_(self) -> str:
        head = [_("| chapter | minutes | exercises |"), "|---|---|---|"]
        rows = [f"| [{c.title}]({c.file}) | {c.minutes or ''} | {c.exercises or ''} |" for c in self.chapters]
        return "\n".join([*head, *rows])

    def __repr__(self) -> str:
        return "\n".join(f"{c.file}  {c.title}" for c in self.chapters)


def course_map(folder: Path = FOLDER) -> CourseMap:
    """The chapters NN_name.ipynb of `folder`, in the order of their numbers."""
    counts = Counter(exercise.chapter for exercise in all_exercises())
    files = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    return CourseMap(tuple(_read(path, counts[int(path.name[:2])]) for path in files))


def _read(path: Path, exercises: int) -> Chapter:
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    title = re.search(r"^# (.+)$", first, re.M)
    minutes = re.search(r"Allow (\d+) minutes", first)
    return Chapter(path.name, title[1] if title else path.stem, int(minutes[1]) if minutes else None, exercises)
