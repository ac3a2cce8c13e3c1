"""Every objective is measured, every exercise measures one, and the syllabus says so."""

from __future__ import annotations

import json

import pytest

from exercises.classroom import syllabus
from exercises.classroom.rubric import CHAPTERS, INTRODUCTION, chapters, gaps
from exercises.grader.catalog import all_exercises, find

FOUND = chapters()


@pytest.mark.parametrize("chapter", FOUND, ids=lambda chapter: chapter.file)
def test_each_objective_is_measured_and_each_exercise_measures_one(chapter):
    assert chapter.objectives
    assert chapter.exercises or chapter.number == INTRODUCTION
    assert list(gaps([chapter])) == []


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.name)
def test_an_exercise_names_its_objective_even_before_its_chapter_is_there(exercise):
    objective = exercise.task.objective
    assert objective[:1].isupper() and len(objective.split()) >= 3 and not objective.endswith(".")


def test_a_gap_is_found(tmp_path):
    first = "# 5. Top-p\n\n1. **implement** top-p filtering exactly;\n2. **sing** a song.\n"
    (tmp_path / "05_top_p.ipynb").write_text(json.dumps({"cells": [{"source": [first]}]}), encoding="utf-8")
    (found,) = chapters(tmp_path, [find("top_p"), find("nuclei"), find("ratio")])
    assert (found.number, found.title, found.minutes) == (5, "Top-p", None)
    assert list(gaps([found])) == [
        "05_top_p.ipynb: no exercise measures 'Sing a song'",
        "e05_nuclei: 'Find the nucleus of a small distribution by hand' is no objective of 05_top_p.ipynb",
    ]


def test_no_chapter_is_missed():
    assert len(FOUND) == len(list(CHAPTERS.glob("[0-9][0-9]_*.ipynb"))) > 3


def test_the_syllabus_is_up_to_date():
    """If not: python -m exercises syllabus --write"""
    assert syllabus.PAGE.read_text(encoding="utf-8") == syllabus.syllabus(FOUND)
