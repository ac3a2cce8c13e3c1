"""Answers that attack the grader of a class: no point, no end of the run, no look at a solution."""

from __future__ import annotations

import os

import pytest
from hostile_answers import HOSTILE, READING

from exercises.classroom import launcher
from exercises.classroom.mark import CLASS
from exercises.classroom.marks import points
from exercises.classroom.place import Launcher, folders_with_answers
from exercises.grader.answers import Written
from exercises.grader.catalog import find
from exercises.grader.excerpt import excerpt, statements
from exercises.grader.isolate import Limits, isolation_level
from exercises.grader.judge import judge
from exercises.grader.verdict import NOT_ATTEMPTED

EXERCISE = find("top_p")
RIGHT = excerpt(statements([EXERCISE.page_source]), "keep_top_p")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
pytestmark = pytest.mark.skipif(isolation_level() != "process", reason="this system isolates by threads only")


@pytest.fixture(scope="module")
def place():
    """One launcher for all, so that what one answer breaks would show in the next."""
    started = Launcher(folders_with_answers(), Limits(processor=0.3, clock=3.0, life=20))
    yield started.place
    started.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_an_attack_earns_nothing_and_the_next_answer_is_judged_as_ever(name, place):
    if not IS_ROOT and "all that it may" in name:
        pytest.skip("without another user it would end this test run: docs/instructors.md says so")
    verdict = judge(EXERCISE, Written(HOSTILE[name], "keep_top_p"), place=place)
    assert not verdict.passed and verdict.status != NOT_ATTEMPTED
    assert points(verdict) == 0
    assert judge(EXERCISE, Written(RIGHT, "keep_top_p"), place=place).passed


@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
@pytest.mark.parametrize("name", READING)
def test_under_root_nobody_reads_a_solution(name, place):
    verdict = judge(EXERCISE, Written(READING[name], "keep_top_p"), place=place)
    assert verdict.isolation.startswith("process of another user")
    assert not verdict.passed and points(verdict) == 0


@pytest.mark.parametrize("name", ["imports the solution", "runs the solution's file"])
def test_these_attacks_are_real_ones(name):
    """Where an answer runs as the student's own, as in a notebook, it can read what the student can read."""
    assert judge(EXERCISE, Written(READING[name], "keep_top_p")).passed


def test_the_level_is_that_of_the_user(place):
    verdict = judge(EXERCISE, Written(RIGHT, "keep_top_p"), place=place)
    assert verdict.isolation.startswith("process of another user" if IS_ROOT else "process of the same user")
    assert launcher.level(None, False) == "process of the same user"


@pytest.mark.skipif(not IS_ROOT, reason="only root can close a folder to another user")
def test_where_nothing_can_be_hidden_the_folders_are_closed(tmp_path, monkeypatch):
    """A system that has no file systems of its own for a process: then the rights of the folder must do."""
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o755)
    (secret / "answer.txt").write_text("42")
    tmp_path.chmod(0o755)
    monkeypatch.setattr(Launcher, "_answer", lambda self, ask=Launcher._answer: ask(self) | {"hidden": False})
    started = Launcher([secret], CLASS)
    started.close()
    assert secret.stat().st_mode & 0o777 == 0o700


def test_no_solution_is_in_the_launcher(place):
    """What an answer could find in the memory that it is forked from."""
    source = "import sys\nfound = [name for name in sys.modules if name.startswith('solutions.e')]\n"
    worker = place(EXERCISE, Written(source, "found"), None)
    assert worker.load().value == []
    worker.close()


def test_no_password_of_the_instructor_is_in_the_environment(monkeypatch):
    monkeypatch.setenv("COURSE_TOKEN", "secret")
    started = Launcher([], CLASS)
    worker = started.place(EXERCISE, Written("import os\nfound = sorted(os.environ)\n", "found"), None)
    names = worker.load().value
    worker.close()
    started.close()
    assert "PYTHONPATH" in names and "COURSE_TOKEN" not in names
