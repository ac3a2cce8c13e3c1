"""docs/syllabus.md: what each chapter is for, what each exercise measures, the usual mistakes and what is said of them.

Made from the chapters and the pages of the exercises: `python -m exercises syllabus --write`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from exercises.classroom.rubric import Chapter
from exercises.grader.catalog import FOLDER, Exercise

PAGE = FOLDER.parent / "docs" / "syllabus.md"
HEAD = """# Syllabus

Made by `python -m exercises syllabus --write` from the chapters and the exercises.

"Usual mistakes" are the wrong answers that the grader knows by name. Of a function it says *Your answers equal those
of a version that ...*, of a number *This is what comes out if one ...*; a choice of letters gets the sentence as it is.
*varies*: `release --seed` can give each student other numbers. How to teach with all this is in
[instructors.md](instructors.md).
"""


def syllabus(found: Iterable[Chapter]) -> str:
    """The page, in Markdown."""
    found = list(found)
    return "\n".join([HEAD, *_overview(found), *(line for chapter in found for line in _chapter(chapter))])


def _overview(found: list[Chapter]) -> Iterator[str]:
    yield "| chapter | minutes to read and answer | objectives | exercises |"
    yield "|---|---|---|---|"
    for chapter in found:
        row = (f"{chapter.number}. {chapter.title}", chapter.minutes or 10, len(chapter.objectives))
        yield f"| {row[0]} | {row[1]} | {row[2]} | {len(chapter.exercises)} |"
    yield ""


def _chapter(chapter: Chapter) -> Iterator[str]:
    if not chapter.exercises:
        return
    yield f"## {chapter.number}. {chapter.title}\n"
    yield "| objective | measured by |"
    yield "|---|---|"
    for objective in chapter.objectives:
        names = ", ".join(f"`{e.short}` ({e.task.minutes} min, difficulty {e.task.difficulty})" for e in
                          chapter.measured_by(objective))  # fmt: skip
        yield f"| {objective} | {names or 'practised on the page'} |"
    yield ""
    for exercise in chapter.exercises:
        yield from _exercise(exercise)


def _exercise(exercise: Exercise) -> Iterator[str]:
    varies = "; varies" if exercise.variants else ""
    yield f"**`{exercise.short}`** ({exercise.task.title}{varies}), usual mistakes:\n"
    for wrong in exercise.wrong.values():
        yield "- " + " ".join((wrong.__doc__ or "").split())
    yield ""


def write(found: Iterable[Chapter], page: Path = PAGE) -> None:
    page.write_text(syllabus(found), encoding="utf-8")
