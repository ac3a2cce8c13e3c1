"""Exercises whose numbers may differ from student to student are as good with every set of numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from exercises.classroom.mark import close_launcher, mark, variant_for
from exercises.classroom.release import filled
from exercises.grader.answers import Given
from exercises.grader.catalog import all_exercises, find
from exercises.grader.judge import judge
from exercises.grader.verdict import PASSED, WRONG

VARIED = [replace(each, variant=number) for each in all_exercises() for number in range(1, len(each.variants))]
each_variant = pytest.mark.parametrize("exercise", VARIED, ids=lambda exercise: f"{exercise.name}-{exercise.variant}")


def test_some_exercises_vary():
    assert len({exercise.name for exercise in VARIED}) >= 6


@each_variant
def test_every_text_is_replaced_on_both_pages_or_one(exercise):
    base = replace(exercise, variant=0)
    page = re.sub(r"^variants = \(.*?^\)", "", base.page_source, flags=re.M | re.S)
    pages = base.path.read_text(encoding="utf-8"), page
    texts = exercise.variants[exercise.variant]
    assert len(texts) == len(exercise.variants[0])
    for old in exercise.variants[0]:
        assert any(old in page for page in pages), old
    shown = exercise.task.text + exercise.task.stub + " ".join(exercise.task.hints)
    for new in texts:
        shown = shown.replace(new, "")
    assert not [old for old in exercise.variants[0] if old in shown]
    assert exercise.reference() != base.reference()


@each_variant
def test_the_right_value_passes_and_each_mistake_is_named(exercise):
    assert judge(exercise, Given(exercise.reference())).status == PASSED
    for name, function in exercise.wrong.items():
        verdict = judge(exercise, Given(function()))
        assert (verdict.status, verdict.mistakes) == (WRONG, (name,))


@each_variant
def test_the_value_of_the_page_as_it_stands_is_refused(exercise):
    assert judge(exercise, Given(replace(exercise, variant=0).reference())).status == WRONG


def test_a_student_keeps_the_numbers_and_the_class_spreads():
    exercise = find("nuclei")
    drawn = [variant_for(exercise, "spring", f"student {i}") for i in range(60)]
    assert drawn == [variant_for(exercise, "spring", f"student {i}") for i in range(60)]
    assert set(drawn) == set(range(len(exercise.variants)))
    assert drawn != [variant_for(exercise, "autumn", f"student {i}") for i in range(60)]
    assert variant_for(find("top_p"), "spring", "student 1") == 0


def test_each_student_is_graded_with_the_numbers_of_the_own_edition():
    exercise = find("nuclei")
    names = [f"student {i}" for i in range(20)]
    student = next(name for name in names if variant_for(exercise, "spring", name))
    own = replace(exercise, variant=variant_for(exercise, "spring", student))
    settings = {"names": (exercise.name,), "seed": "spring", "vary": True}
    for edition, score in ((own, 10.0), (exercise, None)):
        answers = {exercise.name: [("a.py", filled(edition, edition.reference()))]}
        job = {"id": "1", "student": student, "digest": "1", "problems": [], "graded": True, "answers": answers}
        row = mark(job, settings)
        assert row["score"] == score if score else row["exercises"][exercise.name]["status"] == WRONG
    close_launcher()
