"""`python course.py test` counts truly: nothing that did not run passes, and what could not run is named."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import conftest
import nbformat
import pytest
import run

# A pytest of its own without the plugins of this project starts ten times faster.
QUICK = [option for plugin in ("hypothesispytest", "anyio", "nbval", "xdist") for option in ("-p", f"no:{plugin}")]
OUTCOMES = """
import pytest

def test_passes(): pass
def test_fails(): assert False
@pytest.fixture
def broken(): raise OSError
def test_cannot_start(broken): pass
@pytest.mark.skip(reason="another time")
def test_waits(): pass
"""


@pytest.fixture
def outcome_of(tmp_path):
    """What run.py counts for a test file with the given text."""

    def count(source: str) -> run.Outcome:
        (tmp_path / "test_some.py").write_text(source, encoding="utf-8")
        return run.run_pytest([str(tmp_path)], *QUICK)

    return count


def test_outcomes_are_counted(outcome_of):
    assert outcome_of(OUTCOMES) == run.Outcome(passed=1, failed=2, not_run=Counter({"another time": 1}))


@pytest.mark.parametrize(
    "source",
    ["", "import nothing_of_that_name", "import os\nos._exit(0)"],
    ids=["no test", "not importable", "breaks off"],
)
def test_a_run_without_a_test_fails(source, outcome_of):
    assert outcome_of(source) == run.Outcome(passed=0, failed=1)


@pytest.fixture
def part(monkeypatch):
    """Makes a test that needs a part, there or not, start."""

    def start(found: object) -> None:
        monkeypatch.setitem(conftest.PARTS, "organ", conftest.Part(lambda: found, "the organ (no pipes)"))
        conftest.pytest_runtest_setup(SimpleNamespace(iter_markers=lambda name: [pytest.mark.needs("organ")]))

    return start


def test_a_missing_part_is_skipped_by_its_name(part, monkeypatch):
    monkeypatch.delenv("COURSE_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"the organ \(no pipes\)"):
        part(None)


def test_a_missing_part_fails_where_all_is_required(part, monkeypatch):
    monkeypatch.setenv("COURSE_REQUIRE", "all")
    with pytest.raises(pytest.fail.Exception, match="cannot run: the organ"):
        part(None)


@pytest.mark.parametrize("required", ["", "all"])
def test_a_part_that_is_there_runs(required, part, monkeypatch):
    monkeypatch.setenv("COURSE_REQUIRE", required)
    part("/usr/bin/organ")


def test_the_closing_lines_say_what_ran_and_what_did_not():
    missing = Counter({"SmolLM2 (its file could not be had)": 12})
    outcomes = {"tests": run.Outcome(400, 1, missing), "notebook cells": run.Outcome(90)}
    assert run.summary(outcomes).splitlines() == [
        "ran: 401 tests, 90 notebook cells",
        "not run: SmolLM2 (its file could not be had), 12 tests",
        "490 passed, 1 failed, 12 skipped",
    ]


def test_the_two_parts_of_the_tests_are_all_of_them(monkeypatch):
    monkeypatch.setattr(run.sys, "argv", ["run.py"])
    monkeypatch.setattr(run, "fetch_weights", lambda: None)
    given = []
    monkeypatch.setattr(run, "run_pytest", lambda *words, **more: given.append(words) or run.Outcome(1))
    assert run.main() == 0
    (first, *_options), (rest, *options), *notebooks = given
    assert rest == ["tests"] and options[: len(first)] == [f"--ignore={path}" for path in first]
    assert first[0] == "tests/test_exercises.py" and all((run.ROOT / path).is_file() for path in first)
    assert [paths for paths, *_options in notebooks] == [["notebooks"]] * 2


@pytest.mark.parametrize(("failed", "status"), [(0, 0), (2, 1)])
def test_any_failure_is_the_status(failed, status, monkeypatch, capsys):
    monkeypatch.setattr(run.sys, "argv", ["run.py", "--notebooks"])
    outcomes = iter([run.Outcome(5), run.Outcome(5, failed), run.Outcome(5)])
    monkeypatch.setattr(run, "run_pytest", lambda *args, **kwargs: next(outcomes))
    assert run.main() == status
    said = capsys.readouterr().out
    assert f"15 passed, {failed} failed, 0 skipped" in said
    assert ("python course.py record" in said) == bool(failed)


def test_a_changed_chapter_fails_with_its_cell_and_both_outputs(tmp_path, capfd):
    """What an instructor sees who has changed a number in a chapter and has not recorded it."""
    cell = nbformat.v4.new_code_cell("share = 0.4 + 0.3\nprint(round(share, 2))", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", text="0.8\n")]
    chapter = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": {"name": "python3", "display_name": ""}})
    nbformat.write(chapter, tmp_path / "05_changed.ipynb")
    assert run.run_pytest([str(tmp_path)], *run.NBVAL, "-p", "no:xdist").failed == 1
    said = capfd.readouterr().out
    for part in ("05_changed.ipynb", "share = 0.4 + 0.3", "Cell outputs differ", "'0.8", "'0.7"):
        assert part in said
