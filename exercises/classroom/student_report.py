"""The page of one student: points by objective, and what the check said about each answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from exercises.classroom.page import listing, page, table, text, tiles
from exercises.grader.catalog import Exercise
from exercises.grader.verdict import PASSED
from llm_gen.text import _

Row = dict[str, Any]


def student_report(row: Row, exercises: Iterable[Exercise]) -> str:
    """The page as HTML. exercises: those that were graded, in the order of the course."""
    graded = [exercise for exercise in exercises if exercise.name in row["exercises"]]
    return page(_("Results: {student}").format(student=row["student"]), _parts(row, graded))


def _parts(row: Row, exercises: list[Exercise]) -> Iterator[str]:
    passed = sum(own["status"] == PASSED for own in row["exercises"].values())
    points = f"{row['score']:g} / {row['max']:g}"
    yield tiles({_("points"): points, _("passed"): f"{passed} / {len(exercises)}", _("submission"): row["status"]})
    if row["problems"]:
        yield f"<h2>{text(_('About the submission'))}</h2>" + listing(map(text, row["problems"]))
    header = [_("exercise"), _("objective"), _("points"), _("result")]
    yield table(header, (_line(row["exercises"][e.name], e) for e in exercises), numbers=[2])
    for exercise in exercises:
        own = row["exercises"][exercise.name]
        if own["text"] and own["status"] != PASSED:
            yield f'<h2 id="{exercise.name}">{text(exercise.task.title)}</h2>'
            yield f'<p class="quiet">{text(own["file"])}</p><pre>{text(own["text"])}</pre>'
    yield f'<p class="quiet">{text(_("Isolation: {level}").format(level=row["isolation"] or _("nothing was run")))}</p>'


def _line(own: Row, exercise: Exercise) -> list[str]:
    name = text(exercise.short)
    linked = f'<a href="#{exercise.name}">{name}</a>' if own["text"] and own["status"] != PASSED else name
    return [linked, text(exercise.task.objective), f"{own['score']:g} / {own['max']:g}", text(_(own["status"]))]
