"""Whose a submission is, what is in it, and what is said of one that cannot be read."""

from __future__ import annotations

import json
import re
import zipfile

import pytest

from exercises.classroom.collect import collect, count, student_of
from exercises.classroom.identity import fingerprint
from exercises.classroom.sources import LARGEST_FILE, MOST_FILES
from exercises.grader.catalog import FOLDER, all_exercises, find
from exercises.grader.excerpt import excerpt, statements
from llm_gen import __version__

EXERCISES = all_exercises()
TOP_P = "def keep_top_p(probs, top_p):\n    return probs\n"


def jobs(folder, pattern=""):
    found = {job.id: job for job in collect(folder, EXERCISES, pattern)}
    assert len(found) == count(folder, pattern)
    return found


def notebook(*cells, metadata=None):
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": made, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5})


def test_every_form_of_submission_is_read(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "e05_top_p.py").write_text(TOP_P)
    (tmp_path / "bo_05_top_p.IPYNB").write_text(notebook(TOP_P, "tau_nucleus = 1.6"))
    (tmp_path / "carl.py").write_text(TOP_P + "ratio = {'temperature 1': 2}\n")
    with zipfile.ZipFile(tmp_path / "dora.zip", "w") as archive:
        archive.writestr("mine/exercises/e05_top_p.py", TOP_P)
        archive.writestr("mine/exercises/grader/judge.py", "def keep_top_p(): pass\n")
    (tmp_path / "emil_e05_top_p.py").write_text(TOP_P)
    (tmp_path / "emil_03_temperature.ipynb").write_text(notebook("ratio = {}"))
    found = jobs(tmp_path)
    assert {job.student for job in found.values()} == {"anna", "bo", "carl", "dora", "emil"}
    assert all("e05_top_p" in job.answers and not job.problems for job in found.values())
    assert set(found["emil"].answers) == {"e05_top_p", "e03_ratio"}
    assert found["dora.zip"].answers["e05_top_p"] == [("dora.zip/mine/exercises/e05_top_p.py", TOP_P)]
    assert set(found["bo_05_top_p.IPYNB"].answers) == {"e05_top_p", "e05_tau_nucleus"}


def test_the_courses_own_programs_are_nobodys_answer(tmp_path):
    """A student's copy of the whole edition: the library has functions of the names that exercises ask for."""
    names = {exercise.answer_name for exercise in EXERCISES}
    for folder in ("llm_gen", "exercises/grader", "solutions/vocabulary", "notebooks/panels"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "module.py").write_text("".join(f"def {name}(): pass\n" for name in sorted(names)))
    (tmp_path / "notebooks" / "05_top_p.ipynb").write_text(notebook(TOP_P))
    (found,) = jobs(tmp_path).values()
    assert set(found.answers) == {"e05_top_p"}


@pytest.mark.parametrize("parts", [["05_top_p.ipynb"], ["exercises", "notebooks"], ["e05_top_p.py"]])
def test_a_folder_that_is_a_course_is_one_submission(parts, tmp_path):
    for part in parts:
        (tmp_path / part).mkdir() if "." not in part else (tmp_path / part).write_text(notebook(TOP_P))
    (tmp_path / "more.py").write_text(TOP_P)
    (found,) = jobs(tmp_path).values()
    assert found.student == tmp_path.name and "e05_top_p" in found.answers


@pytest.mark.parametrize(
    ("name", "pattern", "student"),
    [
        ("anna_05_top_p.ipynb", "", "anna"),
        ("05_top_p-anna.ipynb", "", "anna"),
        ("anna.zip", "", "anna"),
        ("Anna Lee_12345_assignsubmission_file_", r"^(?P<student>[^_]+)_\d+", "Anna Lee"),
        ("s0042.final.py", r"s(\d+)", "0042"),
        ("nobody.py", r"s(\d+)", ""),
    ],
)
def test_students_by_their_files_names(name, pattern, student):
    assert student_of(name, re.compile(pattern) if pattern else None) == student


BAD = {
    "broken.ipynb": (b"{", "not a notebook"),
    "list.ipynb": (b"[]", "not a notebook"),
    "latin.py": (b"# caf\xe9\nx = 1\n", "not in UTF-8"),
    "utf16.ipynb": ("{}".encode("utf-16"), "not in UTF-8"),
    "cookie.py": (b"# coding: klingon\n", "not in UTF-8"),
    "broken.zip": (b"PK\x03\x04 no zip", "zip"),
    "picture.png": (b"\x89PNG", "no notebook and no Python file"),
    "deep.ipynb": (b'{"cells": ' + b"[" * 100_000, "not a notebook"),
    "broken.py": (b"def f(:\n", "a syntax error"),
    'comma, "quote".py': (b"\xff", "not in UTF-8"),
    "=formula().py": (b"\xff", "not in UTF-8"),
    "line\nbreak.py": (b"\xff", "not in UTF-8"),
}


def test_every_bad_submission_is_a_job_with_its_reason_and_the_good_one_stays(tmp_path):
    for name, (data, _reason) in BAD.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "good.py").write_text(TOP_P)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(FOLDER)
    found = jobs(tmp_path)
    assert set(found) == {*BAD, "good.py", "empty", "link"}
    for name, (_data, reason) in BAD.items():
        assert reason in " ".join(found[name].problems), name
        assert found[name].graded == (name == "broken.py")
    assert not found["empty"].graded and not found["link"].graded
    assert "a link, which is not followed" in found["link"].problems[0] and not found["link"].answers
    assert found["good.py"].answers and not found["good.py"].problems


def test_huge_files_many_files_and_archives_that_lie_are_not_read(tmp_path):
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("e05_top_p.py", b"#" * (LARGEST_FILE + 1))
        archive.writestr("../../outside.py", TOP_P)
    (tmp_path / "many").mkdir()
    for number in range(MOST_FILES + 5):
        (tmp_path / "many" / f"file{number}.py").write_text("x = 1\n")
    found = jobs(tmp_path)
    assert "more than 20,000,000" in found["huge.py"].problems[0]
    assert "more than 20,000,000" in found["bomb.zip"].problems[0]
    assert found["bomb.zip"].answers == {} and not found["bomb.zip"].graded
    assert not list(tmp_path.parent.parent.glob("outside.py"))
    assert f"more than {MOST_FILES} files" in " ".join(found["many"].problems)


def test_a_link_inside_a_folder_is_named_and_the_rest_is_read(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "e05_top_p.py").write_text(TOP_P)
    (tmp_path / "anna" / "e03_ratio.py").symlink_to("/etc/passwd")
    (found,) = collect(tmp_path, EXERCISES)
    assert set(found.answers) == {"e05_top_p"} and "not followed" in found.problems[0]


def test_a_student_who_hands_in_twice_gets_two_rows_that_say_so(tmp_path):
    (tmp_path / "anna.py").write_text(TOP_P)
    (tmp_path / "anna.zip").write_bytes(b"")
    (tmp_path / "bo_05_top_p.ipynb").write_text(notebook(TOP_P))
    (tmp_path / "bo_05_top_p.py").write_text(TOP_P)
    found = jobs(tmp_path)
    assert found["anna.py"].problems == ("the same student also handed in anna.zip",)
    assert "anna.py" in found["anna.zip"].problems[0]
    assert "also handed in" in found["bo_05_top_p.ipynb"].problems[0]


def test_a_submission_for_another_version_is_not_graded(tmp_path):
    (tmp_path / "anna.ipynb").write_text(notebook(TOP_P, metadata={"course": {"version": "0.0.1"}}))
    (tmp_path / "bo.ipynb").write_text(notebook(TOP_P, metadata={"course": {"version": __version__}}))
    (tmp_path / "carl" / "exercises").mkdir(parents=True)
    (tmp_path / "carl" / "exercises" / "edition.json").write_text('{"version": "9"}')
    (tmp_path / "carl" / "exercises" / "e05_top_p.py").write_text(TOP_P)
    found = jobs(tmp_path)
    assert found["bo.ipynb"].graded and not found["anna.ipynb"].graded and not found["carl"].graded
    assert found["anna.ipynb"].problems == (f"it is for version 0.0.1 of the course, this is {__version__}",)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_submissions_is_an_error(name, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"there (is no folder|are no submissions)"):
        list(collect(tmp_path / name, EXERCISES))


def test_an_answer_in_a_cell_that_does_not_parse_is_that_cell(tmp_path):
    (tmp_path / "anna.ipynb").write_text(notebook("def keep_top_p(probs, top_p:\n    return 1", "tau_nucleus = 1.6"))
    (found,) = collect(tmp_path, EXERCISES)
    assert found.answers["e05_top_p"][0][1].startswith("def keep_top_p(probs, top_p:")
    assert found.answers["e05_tau_nucleus"][0][1] == "tau_nucleus = 1.6\n"


def test_old_notebooks_and_a_chapters_number_format_are_understood(tmp_path):
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": [TOP_P]}]}], "metadata": {}, "nbformat": 3}
    (tmp_path / "anna.ipynb").write_text(json.dumps(old))
    (tmp_path / "bo.ipynb").write_text(notebook("from notebooks import panels\npanels.start_chapter()", TOP_P))
    found = jobs(tmp_path)
    assert found["anna.ipynb"].answers["e05_top_p"][0][1] == TOP_P
    assert "set_default_dtype" in found["bo.ipynb"].answers["e05_top_p"][0][1]


def test_one_piece_of_code_has_one_fingerprint_whatever_its_names():
    page = find("top_p").page_source
    ours = excerpt(statements([page]), "keep_top_p")
    other = ours.replace("mass_before", "before").replace("ranked", "r").replace(": Tensor", "").replace("  # ", "  #")
    other = "import torch as torch  # comment\nfrom torch import *\n" + other.replace('"""', "'''", 2)
    assert fingerprint(ours, "keep_top_p") == fingerprint(other, "keep_top_p") != ""
    changed = ours.replace("mass_before < top_p", "mass_before <= top_p")
    assert fingerprint(changed, "keep_top_p") not in ("", fingerprint(ours, "keep_top_p"))
    assert fingerprint(ours.replace(".sort(", ".sum("), "keep_top_p") != fingerprint(ours, "keep_top_p")
    assert fingerprint(TOP_P, "keep_top_p") == fingerprint("def keep_top_p(:", "keep_top_p") == ""
