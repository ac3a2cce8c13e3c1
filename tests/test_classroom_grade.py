"""A class is graded truly, whoever does the work, and a run that was broken off goes on where it stood."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_class import RIGHT, source_of, write_class, wrong_marks

from exercises.__main__ import main
from exercises.classroom.grade import grade
from exercises.classroom.mark import FAILED, Settings, mark
from exercises.classroom.marks import points
from exercises.classroom.release import posed
from exercises.classroom.run import failed, in_processes, one_by_one
from exercises.classroom.store import Store
from exercises.grader.answers import Given, Written
from exercises.grader.catalog import FOLDER, Exercise, all_exercises
from exercises.grader.isolate import isolation_level
from exercises.grader.judge import judge

# One of each kind: functions called plainly and in another way, tables, letters, an order, a guess.
SHORT = ("top_p", "nuclei", "generate_loop", "five_steps", "validate", "predict_kept_set", "ratio", "what_tau_does")
EXERCISES = [exercise for exercise in all_exercises() if exercise.short in SHORT]
NAMES = tuple(exercise.name for exercise in EXERCISES)
QUICK = Settings(NAMES, processor=0.5, clock=20.0, life=30)
SIZE = 20
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(isolation_level() != "process", reason="this system isolates by threads only"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a small class, the truth about it, and the results of an ordinary run."""
    folder = tmp_path_factory.mktemp("class")
    truths = write_class(folder / "submissions", SIZE, EXERCISES, slow_attacks=False)
    result = grade(folder / "submissions", folder / "out", QUICK)
    return folder, truths, result


def rows_in(out: Path) -> dict[str, dict]:
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in (out / "results").glob("*.json")]
    return {row["id"]: row for row in rows}


def test_every_submission_gets_the_marks_it_deserves(made):
    folder, truths, result = made
    assert (result.submissions, result.graded_now) == (len(truths), len(truths))
    assert wrong_marks(rows_in(folder / "out"), truths) == []
    assert all(row["problems"] for id, row in rows_in(folder / "out").items() if not truths[id].readable)


def test_two_processes_give_the_same_rows(made, tmp_path):
    folder, _truths, _result = made
    grade(folder / "submissions", tmp_path / "out", QUICK, run=in_processes(2), kinds=["csv"])
    assert rows_in(tmp_path / "out") == rows_in(folder / "out")
    assert (tmp_path / "out" / "marks.csv").read_bytes() == (folder / "out" / "marks.csv").read_bytes()


def test_a_second_run_grades_nothing_and_a_changed_submission_again(made):
    folder, _truths, _result = made
    assert grade(folder / "submissions", folder / "out", QUICK).graded_now == 0
    place = folder / "submissions" / "student_00000" / "e99_more.py"
    place.write_text("x = 1\n", encoding="utf-8")
    assert grade(folder / "submissions", folder / "out", QUICK).graded_now == 0
    place = place.rename(place.with_name("more.py"))
    place.write_text("ratio = {}\n", encoding="utf-8")
    assert grade(folder / "submissions", folder / "out", QUICK).graded_now == 1
    place.unlink()
    assert grade(folder / "submissions", folder / "out", QUICK).graded_now == 1


@pytest.mark.parametrize("run", ["one_by_one", "in_processes(2)"])
def test_a_killed_run_goes_on_without_grading_anything_twice(run, made, tmp_path):
    """Killed outright after some rows: they stay as they are to the last byte, the rest is done, nothing runs on."""
    folder, truths, _result = made
    command = f"grade(Path({str(folder / 'submissions')!r}), Path({str(tmp_path / 'out')!r}), {QUICK!r}, run={run})"
    lines = ["from pathlib import Path", "from exercises.classroom.grade import grade",
             "from exercises.classroom.mark import Settings", "from exercises.classroom.run import *",
             "if __name__ == '__main__':", f"    {command}"]  # fmt: skip
    (tmp_path / "program.py").write_text("\n".join(lines), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parent)}
    process = subprocess.Popen([sys.executable, str(tmp_path / "program.py")], env=environment)
    while process.poll() is None and len(list(tmp_path.glob("out/results/*.json"))) < 3:
        time.sleep(0.02)
    process.kill()
    process.wait()
    wait_until_none_names(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/results/*.json")}
    assert 3 <= len(before) < len(truths)
    result = grade(folder / "submissions", tmp_path / "out", QUICK)
    assert result.graded_now == len(truths) - len(before)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert wrong_marks(rows_in(tmp_path / "out"), truths) == []


def wait_until_none_names(path: Path) -> None:
    """Until no process has the path on its command line, as the launchers of a run have the folder of results."""
    for _wait in range(6000):
        if not any(str(path).encode() in line for line in command_lines()):
            return
        time.sleep(0.01)
    raise AssertionError("a process of the killed run goes on")


def command_lines() -> Iterator[bytes]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            yield file.read_bytes()


def test_the_words_of_progress_say_how_long_it_will_take(tmp_path):
    said: list[str] = []
    few = tmp_path / "few"
    few.mkdir()
    (few / "anna.py").write_text("x = 1\n", encoding="utf-8")
    grade(few, tmp_path / "out", QUICK, say=said.append, kinds=[])
    assert said[0].startswith("1 of 1 graded (0 before)") and "s left" in said[0]


def test_a_fault_of_the_grader_is_a_row_and_overwrites_no_result(tmp_path):
    store = Store(tmp_path, "key")
    job = {"id": "anna", "student": "anna", "digest": "1", "problems": []}
    good = failed(job) | {"status": "graded", "score": 7.0}
    assert store.write(failed(job))["status"] == FAILED
    assert not store.has(job)
    store.write(good)
    assert store.has(job) and store.write(failed(job))["score"] == 7.0
    assert store.read("anna")["status"] == "graded"
    assert not Store(tmp_path, "another key").has(job)


def test_a_job_that_ends_its_process_does_not_end_the_others(monkeypatch, tmp_path):
    """The pool is made anew; a job in whose time a process dies twice is given up, with a row.

    Forked processes stand for the spawned ones of the tests above: six starts of Python would take most of the time.
    """
    job = {"student": "s", "digest": "1", "problems": []}
    jobs = [job | {"id": id} for id in [*map(str, range(6)), "bad"]]
    settings = {"names": ()}
    monkeypatch.setattr("exercises.classroom.run.mark", dies_on_bad)
    monkeypatch.setattr(multiprocessing, "get_context", lambda method, real=multiprocessing.get_context: real("fork"))
    rows = {row["id"]: row["status"] for row in in_processes(2)(jobs, settings)}
    assert rows.pop("bad") == FAILED
    assert len(rows) == 6


def dies_on_bad(job, settings):
    if job["id"] == "bad":
        os._exit(1)
    return job | {"status": "graded"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "0"], "a whole number from 1"),
        (["--pattern", "("], "not a regular expression"),
        (["--pattern", "x"], "needs a group"),
        (["--chapters", "one"], "written like 1,3-6"),
    ],
)
def test_wrong_words_are_refused_with_the_rule(words, said, capsys):
    with pytest.raises(SystemExit):
        main(["grade", "somewhere", "--out", "elsewhere", *words])
    assert said in capsys.readouterr().err


def test_wrong_folders_and_formats_are_errors_in_words(tmp_path, capsys):
    assert main(["grade", str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert main(["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--formats", "csv,pdf"]) == 2
    assert "formats must be of csv, json" in capsys.readouterr().err
    assert main(["grade", str(tmp_path), "--out", str(tmp_path / "out"), "--vary"]) == 2
    assert "needs the seed" in capsys.readouterr().err


def test_one_by_one_is_the_plain_loop():
    job = {"id": "1", "student": "s", "digest": "1", "problems": ["empty"], "graded": False, "answers": {}}
    (row,) = one_by_one([job], {"names": ("e05_top_p",)})
    assert (row["status"], row["max"], row["problems"]) == ("not graded", 10.0, ["empty"])


@pytest.mark.parametrize("chapter", ["03_temperature", "05_top_p"])
def test_a_chapter_as_handed_in_gets_the_verdicts_of_its_own_checks(chapter, tmp_path):
    """The whole notebook with its prose code, float64 and panels: right answers, and in each second cell a mistake."""
    own = [exercise for exercise in all_exercises() if exercise.name.startswith(f"e{chapter[:2]}_")]
    notebook = json.loads((FOLDER.parent / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    expected = {}
    for number, (_text, stub, exercise) in enumerate(posed(notebook["cells"], {each.name: each for each in own})):
        answer = next(iter(exercise.wrong)) if number % 2 else RIGHT
        stub["source"] = source_of(exercise, answer)
        function = exercise.wrong.get(answer, exercise.reference)
        verdict = judge(exercise, Given(function if exercise.is_code else function()))
        expected[exercise.name] = (verdict.status, verdict.right, verdict.total, list(verdict.mistakes))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"anna_{chapter}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    grade(tmp_path / "in", tmp_path / "out", Settings(tuple(expected)))
    (row,) = rows_in(tmp_path / "out").values()
    found = {name: (x["status"], x["right"], x["total"], x["mistakes"]) for name, x in row["exercises"].items()}
    assert (row["student"], found) == ("anna", expected)


def test_where_there_are_only_threads_the_row_says_so(monkeypatch):
    monkeypatch.setenv("LLM_COURSE_ISOLATION", "thread")
    answers = {"e03_ratio": [("a.py", "ratio = {'temperature 1': 1, 'temperature 0.5': 2, 'temperature 2': 3}")]}
    job = {"id": "1", "student": "s", "digest": "1", "problems": [], "graded": True, "answers": answers}
    row = mark(job, {"names": ("e03_ratio",)})
    assert (row["isolation"], row["exercises"]["e03_ratio"]["status"]) == ("thread", "wrong")


def test_hidden_inputs_refuse_an_answer_that_knows_the_published_ones():
    """A table of the stored inputs passes the student's check, and earns nothing under a seed."""
    lookup = (
        "import torch\nfrom exercises.grader.catalog import find\nfrom solutions.e05_top_p import keep_top_p as right\n"
        "known = {repr((c.args[0].tolist(), c.args[1])) for c in find('top_p').checks[0].cases}\n"
        "def keep_top_p(probs, top_p):\n"
        "    return right(probs, top_p) if repr((probs.tolist(), top_p)) in known else probs\n"
    )
    answer = Written(lookup, "keep_top_p")
    assert judge(Exercise("e05_top_p"), answer).passed
    verdict = judge(Exercise("e05_top_p", seed="spring"), answer)
    assert not verdict.passed and points(verdict) == 0
    again = judge(Exercise("e05_top_p", seed="spring"), answer)
    assert (again.right, again.total) == (verdict.right, verdict.total)
