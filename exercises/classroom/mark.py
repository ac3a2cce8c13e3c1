"""One submission to one row: every answer judged, points given. Plain data in and out, so any process can do it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

from exercises.classroom.identity import fingerprint
from exercises.classroom.marks import POINTS, points
from exercises.grader.answers import Written
from exercises.grader.card import Card
from exercises.grader.catalog import Exercise, all_exercises
from exercises.grader.isolate import Limits, isolation_level
from exercises.grader.judge import judge
from exercises.grader.verdict import NOT_ATTEMPTED, PASSED, WRONG, Verdict
from exercises.grader.wording import verdict_card
from llm_gen.text import _

if TYPE_CHECKING:
    from exercises.classroom.place import Launcher

CLASS = Limits(processor=2.0, clock=20.0, life=60)
MISSING = "missing"
GRADED, NOT_GRADED, FAILED = "graded", "not graded", "the grader failed"
LONGEST_TEXT = 4000
_one_at_a_time = threading.Lock()  # judging puts global state aside and back
_launchers: dict[Any, Launcher] = {}


@dataclass(frozen=True)
class Settings:
    """What decides about the marks besides the answers. names: the exercises; seed: further inputs, "" for none;
    vary: whether each student has numbers of their own, drawn from the seed; secrets: folders closed to answers."""

    names: tuple[str, ...]
    seed: str = ""
    vary: bool = False
    secrets: tuple[str, ...] = ()
    processor: float = CLASS.processor
    clock: float = CLASS.clock
    life: int = CLASS.life

    @property
    def limits(self) -> Limits:
        return Limits(self.processor, self.clock, self.life)


def variant_for(exercise: Exercise, seed: str, student: str) -> int:
    """Which numbers the student's edition has in this exercise."""
    return Random(f"{seed}/{student}/{exercise.name}").randrange(len(exercise.variants)) if exercise.variants else 0


def mark(job: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """The row of one job (`Job.as_json`) under `Settings` as a dict. Raises nothing: a fault of ours is a row too."""
    row = {key: job[key] for key in ("id", "student", "digest", "problems")}
    row |= {"status": GRADED, "score": 0.0, "max": 0.0, "isolation": "", "exercises": {}}
    if not job["graded"]:
        return row | {"status": NOT_GRADED, "max": POINTS * len(settings["names"])}
    try:
        with _one_at_a_time:
            found = _mark_all(job, Settings(**settings))
    except Exception as error:
        return row | {"status": FAILED, "problems": [*row["problems"], f"{type(error).__name__}: {error}"]}
    levels = sorted({own.pop("isolation") for own in found.values()} - {""})
    score, most = (round(sum(own[key] for own in found.values()), 2) for key in ("score", "max"))
    return row | {"exercises": found, "score": score, "max": most, "isolation": "; ".join(levels)}


def _mark_all(job: dict[str, Any], settings: Settings) -> dict[str, dict[str, Any]]:
    found = {}
    for name in settings.names:
        exercise = _exercise(name, settings.seed, 0)
        if settings.vary:
            exercise = _exercise(name, settings.seed, variant_for(exercise, settings.seed, job["student"]))
        found[name] = _mark_one(exercise, job["answers"].get(name, []), settings)
    return found


@cache
def _exercise(name: str, seed: str, variant: int) -> Exercise:
    """One object for each, so that right answers and known mistakes are worked out once."""
    return next(replace(exercise, seed=seed, variant=variant) for exercise in all_exercises() if exercise.name == name)


def _mark_one(exercise: Exercise, sources: list, settings: Settings) -> dict[str, Any]:
    """The first source that is an attempt counts."""
    result = {"status": MISSING, "score": 0.0, "max": POINTS, "right": 0, "total": 0, "mistakes": [], "likely": [],
              "problem": "", "text": "", "file": "", "code": "", "isolation": ""}  # fmt: skip
    for file, source in sources:
        verdict = _verdict(exercise, source, settings)
        if result["status"] in (MISSING, NOT_ATTEMPTED):
            result |= {
                "status": verdict.status, "score": points(verdict), "right": verdict.right, "total": verdict.total,
                "mistakes": list(verdict.mistakes), "likely": list(verdict.likely), "problem": verdict.problem,
                "text": _text(exercise, verdict), "file": file, "isolation": verdict.isolation,
                "code": fingerprint(source, exercise.answer_name) if exercise.is_code and _attempted(verdict) else "",
            }  # fmt: skip
        if _attempted(verdict):
            break
    return result


def _attempted(verdict: Verdict) -> bool:
    return verdict.status in (PASSED, WRONG)


def _verdict(exercise: Exercise, source: str, settings: Settings) -> Verdict:
    answer = Written(source, exercise.answer_name)
    if isolation_level() == "process":
        return judge(exercise, answer, place=_launcher(settings).place)
    return judge(exercise, answer, settings.limits)


def _launcher(settings: Settings) -> Launcher:
    """The launcher of this process for these settings: one at a time, kept from answer to answer."""
    from exercises.classroom.place import Launcher, folders_with_answers  # not on a system without fork

    key = (settings.secrets, settings.limits)
    if key not in _launchers:
        close_launcher()
        _launchers[key] = Launcher([*folders_with_answers(), *settings.secrets], settings.limits)
    return _launchers[key]


def close_launcher() -> None:
    while _launchers:
        _launchers.popitem()[1].close()


def _text(exercise: Exercise, verdict: Verdict) -> str:
    """The card that the student's own check would show, without the offer of hints."""
    card = verdict_card(exercise, verdict)
    return Card(card.title, [row for row in card.rows if row.label != _("Help")], card.tone).text[:LONGEST_TEXT]
