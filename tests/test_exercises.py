"""What holds for every exercise, now and later. They are found by their files, so this file is never edited."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter

import pytest

from exercises.grader.answers import Given, Written, from_file
from exercises.grader.audit import TABLE, audit, refused, row_of, rows_of, table, universal_wrong
from exercises.grader.catalog import FOLDER, all_exercises
from exercises.grader.judge import judge
from exercises.grader.stubs import fill, reference_source, reset, stub
from exercises.grader.verdict import NOT_ATTEMPTED, PASSED, WRONG
from exercises.grader.wording import verdict_card
from solutions.vocabulary import identical

EXERCISES = all_exercises()
each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)


def test_every_task_has_its_page_and_every_page_its_task():
    tasks = {exercise.name for exercise in EXERCISES}
    assert tasks == {path.stem for path in (FOLDER.parent / "solutions").glob("e??_*.py")}
    assert tasks


def test_no_name_leads_to_two_exercises():
    """By its short name or its function's, and in a notebook or a class where all of them are defined."""
    names = [name for exercise in EXERCISES for name in {exercise.short, exercise.answer_name}]
    assert not [name for name, count in Counter(names).items() if count > 1]


@each_exercise
def test_the_task_says_what_a_student_needs(exercise):
    task = exercise.task
    assert task.title and task.text and task.objective
    assert 1 <= task.difficulty <= 5 and 1 <= task.minutes <= 30
    assert 2 <= len(task.hints) <= 5
    assert inspect.getdoc(exercise.page)


@each_exercise
def test_task_and_solution_have_one_signature_and_one_docstring(exercise):
    assert exercise.task.stub == stub(exercise)


@each_exercise
def test_a_function_is_tried_on_many_inputs(exercise):
    for check in exercise.checks if exercise.is_code else ():
        assert len(check.cases) >= 20
        assert {case.group for case in check.cases} >= {"basic", "edges"}
        assert check.inputs.examples


@each_exercise
def test_hints_before_the_last_hold_no_line_of_the_solution(exercise):
    body = [line.strip() for line in reference_source(exercise).splitlines()[1:]] if exercise.is_code else []
    lines = [line for line in body if len(line) > 12 and not line.startswith('"""')]
    assert not [line for line in lines for hint in exercise.task.hints[:-1] if line in hint]


@each_exercise
def test_the_solution_passes_and_the_stub_is_not_attempted_in_cell_and_file(exercise):
    answer = exercise.reference if exercise.is_code else exercise.reference()
    solved, unsolved = judge(exercise, Given(answer)), judge(exercise, from_file(exercise))
    assert (solved.status, solved.right) == (PASSED, solved.total)
    assert unsolved.status == NOT_ATTEMPTED
    assert judge(exercise, Written(fill(exercise), exercise.answer_name)) == solved


@each_exercise
def test_known_answers_get_what_they_deserve_and_stand_in_the_table(exercise):
    """Wrong answers are refused as they declare and told apart by name; other right answers pass, mutants do not."""
    seen = audit(exercise)
    assert len(seen.wrong) >= 5 and (len(seen.right) >= 2 or not exercise.is_code)
    for name, verdict in seen.wrong.items():
        function = exercise.wrong[name]
        assert verdict.status == WRONG, name
        assert verdict.mistakes == (name,)
        assert function.__doc__.strip().rstrip(".") in " ".join(verdict.likely)
        if exercise.is_code:
            assert verdict.failure.difference.kind == getattr(function, "fails", "value"), name
        check_report(exercise, verdict)
    assert {name for name, verdict in seen.right.items() if not verdict.passed} == set()
    assert set(seen.survivors) == set(getattr(exercise.page, "equivalent", {}))
    assert row_of(seen) in (FOLDER / TABLE).read_text(encoding="utf-8").splitlines()


def check_report(exercise, verdict):
    """At most 25 lines, no path, no line of the reference."""
    text = verdict_card(exercise, verdict).text
    assert len(text.splitlines()) <= 25
    assert not re.search(r"[\w.]+/\w+/|\.py\b|Traceback", text)
    lines = [line.strip() for line in reference_source(exercise).splitlines() if len(line.strip()) > 25]
    assert not [line for line in lines if exercise.is_code and line in text]


@each_exercise
def test_every_value_that_an_argument_may_have_is_tried(exercise):
    for check in exercise.checks if exercise.is_code else ():
        for place, (name, kind) in enumerate(check.inputs.kinds.items()):
            values = [value for value in getattr(kind, "values", ()) if not callable(value)]
            tried = [case.args[place] for case in check.cases]
            assert not [value for value in values if not any(identical(value, other) for other in tried)], name


@each_exercise
def test_constants_arguments_and_changed_inputs_are_refused(exercise):
    for name, answer in universal_wrong(exercise).items():
        assert refused(exercise, answer), name


@each_exercise
def test_reset_gives_the_page_back_and_keeps_what_was_there(exercise, tmp_path):
    copy = type(exercise)(exercise.name, tmp_path)
    copy.path.write_text(fill(exercise), encoding="utf-8")
    backup = reset(copy)
    assert copy.path.read_text(encoding="utf-8") == exercise.path.read_text(encoding="utf-8")
    assert backup.read_text(encoding="utf-8") == fill(exercise)


def test_the_table_has_every_exercise_and_right_sums():
    text = (FOLDER / TABLE).read_text(encoding="utf-8")
    assert table(rows_of(text).values()) == text
    assert list(rows_of(text)) == [exercise.name for exercise in EXERCISES]


def test_pages_import_nothing_of_the_grader():
    for path in (FOLDER.parent / "solutions").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [module for module in modules if module and module.split(".")[0] in ("exercises", "notebooks")]
