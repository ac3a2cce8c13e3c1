"""A class of generated submissions whose marks are known: right answers, mistakes by name, attacks, unreadable files.

`benchmarks/class_throughput.py` grades a large one, the tests a small one.
"""

from __future__ import annotations

import json
import textwrap
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from hostile_answers import HOSTILE

from exercises.classroom.release import filled, solved
from exercises.grader.catalog import FOLDER, Exercise, find
from exercises.grader.excerpt import excerpt, statements
from exercises.grader.verdict import DEADLY

RIGHT, BLANK = "right", "blank"
ROOT_ONLY = "kills all that it may"
SLOW = {name for name in HOSTILE if any(word in name for word in ("loop", "without end", "sleeps", "stops"))}


@dataclass
class Truth:
    """What a submission must get: for each exercise RIGHT, BLANK, the name of a mistake, or "attack: name"."""

    answers: dict[str, str] = field(default_factory=dict)
    readable: bool = True


def write_class(
    folder: Path, size: int, exercises: Sequence[Exercise], seed: int = 0, slow_attacks: bool = True
) -> dict[str, Truth]:
    """Write `size` submissions; the truth about each, by its name in the folder. The same seed gives the same class."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, truths = Random(seed), {}
    attacks = sorted(HOSTILE.keys() - {ROOT_ONLY} - (set() if slow_attacks else SLOW - {"loops"}))
    for number in range(size):
        student = f"student_{number:05d}"
        if number % 10 == 9:
            truths |= _unreadable(folder, student, number // 10)
            continue
        truth = _plan(rng, number, exercises, attacks)
        write = FORMS[number % len(FORMS)]
        truths[write(folder, student, truth)] = truth
    return truths


def _plan(rng: Random, number: int, exercises: Sequence[Exercise], attacks: list[str]) -> Truth:
    """Two chapters' exercises: all right, mostly right, or with an attack among them."""
    chapters = rng.sample(sorted({exercise.chapter for exercise in exercises}), 2)
    own = [exercise for exercise in exercises if exercise.chapter in chapters]
    if number % 5 == 0:
        return Truth({exercise.name: RIGHT for exercise in own})
    answers = {exercise.name: _answer(rng, exercise) for exercise in own}
    if number % 5 == 2:
        answers["e05_top_p"] = "attack: " + attacks[number // 5 % len(attacks)]
    return Truth(answers)


def _answer(rng: Random, exercise: Exercise) -> str:
    usable = [name for name, wrong in exercise.wrong.items() if getattr(wrong, "fails", "") not in DEADLY]
    return rng.choices([RIGHT, BLANK, rng.choice(usable)], [6, 2, 4])[0]


def source_of(exercise: Exercise, answer: str) -> str:
    """The answer as a student would have written it, by itself."""
    if answer.startswith("attack: "):
        return HOSTILE[answer.removeprefix("attack: ")]
    if answer == BLANK:
        return exercise.path.read_text(encoding="utf-8")
    if answer == RIGHT:
        return solved(exercise)
    if not exercise.is_code:
        return "from math import inf, nan\n" + filled(exercise, exercise.wrong[answer]())
    program = textwrap.indent(excerpt(statements([exercise.page_source]), answer), "    ")
    head = f"def made():\n{program}\n    return {answer}\n\n\n"
    return f"{head}def {exercise.answer_name}(*given):\n    return made()(*given)\n"


def _as_files(folder: Path, student: str, truth: Truth) -> str:
    (folder / student).mkdir()
    for name, answer in truth.answers.items():
        (folder / student / f"{name}.py").write_text(source_of(find(name), answer), encoding="utf-8")
    return student


def _as_zip(folder: Path, student: str, truth: Truth) -> str:
    with zipfile.ZipFile(folder / f"{student}.zip", "w") as archive:
        for name, answer in truth.answers.items():
            archive.writestr(f"exercises/{name}.py", source_of(find(name), answer))
    return f"{student}.zip"


def _as_notebook(folder: Path, student: str, truth: Truth) -> str:
    """A cell for each answer, and cells that are nobody's answer and do harm if they are run."""
    cells = ["%matplotlib inline\nimport torch\nfrom notebooks import panels\npanels.start_chapter()"]
    for number, (name, answer) in enumerate(truth.answers.items()):
        cells.append(source_of(find(name), answer).replace("made()", f"made_{number}()"))
    cells += ["this does not parse", "while True:\n    pass"]
    made = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / f"{student}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return f"{student}.ipynb"


FORMS: tuple[Callable[[Path, str, Truth], str], ...] = (_as_files, _as_zip, _as_notebook, _as_files)


def _unreadable(folder: Path, student: str, number: int) -> dict[str, Truth]:
    """A submission of which nothing can be read."""
    kind = number % 6
    names = (f"{student}.ipynb", f"{student}.py", f"{student}.zip", student, student, f'=cmd("{student}", 1)\n.ipynb')
    place = folder / names[kind]
    if kind == 3:
        place.mkdir()
    elif kind == 4:
        place.symlink_to(FOLDER)
    else:
        place.write_bytes((b"{", b"\xff\xfe not UTF-8", b"PK\x03\x04", b"", b"", b"[1, 2]")[kind])
    return {place.name: Truth(readable=False)}


def wrong_marks(rows: dict[str, dict], truths: dict[str, Truth]) -> list[str]:
    """Every difference between the rows of a run, by submission, and the truth; in words."""
    found = [f"{id}: {where}" for id in truths.keys() ^ rows.keys() for where in ("in one of the two only",)]
    for id in truths.keys() & rows.keys():
        row, truth = rows[id], truths[id]
        if (row["status"] == "graded") != truth.readable:
            found.append(f"{id}: {row['status']} {row['problems']}")
        for name, own in row["exercises"].items():
            expected = truth.answers.get(name, "missing")
            if not _agrees(own, expected):
                found.append(f"{id} {name}: {own['status']} {own['mistakes']} {own['score']}, but it is {expected}")
    return found


def _agrees(own: dict, expected: str) -> bool:
    if expected in ("missing", BLANK):
        return own["status"] in ("missing", "not attempted") and own["score"] == 0
    if expected == RIGHT:
        return (own["status"], own["score"]) == ("passed", own["max"])
    if expected.startswith("attack: "):
        return own["status"] != "passed" and own["score"] == 0
    return own["status"] == "wrong" and own["mistakes"] == [expected] and own["score"] < own["max"]
