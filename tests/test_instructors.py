"""The instructor's pages promise only what is so: commands, links, workflows, Colab's first cell, a new exercise."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from exercises.__main__ import _parser
from exercises.classroom.release import GOES_OUT
from exercises.grader.isolate import isolation_level

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "docs" / "github-classroom.yml"]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def commands_in(text: str) -> list[list[str]]:
    """Every `python -m exercises ...` of a page or a workflow, as words."""
    found = re.findall(r"python -m exercises ((?:release|grade|syllabus|check|table)\b[^\n`#|&]*)", text)
    return [shlex.split(words.replace("--jobs N", "--jobs 2")) for words in found]


@each_page
def test_the_commands_of_a_page_are_accepted(page):
    for words in commands_in(page.read_text(encoding="utf-8")):
        assert callable(_parser().parse_args(words).run), words


@each_page
def test_the_links_of_a_page_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_guide_has_every_command_and_is_short():
    text = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
    assert {words[0] for words in commands_in(text)} >= {"release", "grade", "syllabus"}
    assert len(text.splitlines()) <= 130
    for level in ("process of another user, solutions hidden", "process of another user", "process of the same user"):
        assert f"| {level} |" in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_whole(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow[True] and workflow["name"]  # YAML reads `on` as true
    for job in workflow["jobs"].values():
        assert job["runs-on"] and job["timeout-minutes"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            for words in commands_in(step.get("run", "")):
                assert callable(_parser().parse_args(words).run)


def test_the_classroom_workflow_hands_the_result_to_the_reporter():
    workflow = yaml.safe_load((ROOT / "docs" / "github-classroom.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["run-autograding-tests"]["steps"]
    reporter = steps[-1]
    (runner,) = reporter["with"]["runners"].split(",")
    assert reporter["env"] == {f"{runner.upper()}_RESULTS": "${{ steps.course.outputs.result }}"}
    assert [step for step in steps if step.get("id") == runner]
    tokens = [step for step in steps if "secrets." in json.dumps(step)]
    assert len(tokens) == 1 and tokens[0]["with"]["persist-credentials"] is False


def test_the_first_cell_for_colab_finds_the_course(tmp_path):
    """Run as Colab would, in an empty folder, against a repository on this machine."""
    (cell,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8"), re.S)
    source = tmp_path / "source"
    for folder in ("llm_gen", "exercises", "solutions", "notebooks"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    cell = cell.replace("https://github.com/OWNER/NAME", source.as_uri())
    check = "import exercises, llm_gen, notebooks.panels; print(exercises.__file__); exercises.check('ratio')"
    (tmp_path / "empty").mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"LLM_COURSE_PROGRESS": "off"}
    program = f"import sys\nsys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]\n{cell}\n{cell}\n{check}"
    program = program.replace(f"{cell}\n{cell}", f"{cell}\nos.chdir('../..')\n{cell}")  # a second run changes nothing
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "empty", env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "empty" / "course")) and "ratio: not attempted" in done.stdout


def test_binder_prepares_what_a_chapter_needs(tmp_path):
    for pattern in ("llm_gen", "exercises", "solutions", "notebooks"):
        shutil.copytree(ROOT / pattern, tmp_path / pattern, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    shutil.copy(ROOT / "postBuild", tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(tmp_path / "postBuild")],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("llm_gen/__pycache__/*.pyc")) and "postBuild" in GOES_OUT


FIRST_CELL = "# 77. Scaling\n\nAllow 60 minutes.\n\n1. **renormalise** what a filter leaves.\n"


@pytest.mark.slow
@pytest.mark.skipif(isolation_level() != "process", reason="this system isolates by threads only")
def test_an_exercise_and_a_chapter_are_added_by_their_files_alone(tmp_path):
    """One name, two pages, as exercises/README.md prints them, and a notebook: listed, released, checked, graded."""
    for folder in ("llm_gen", "exercises", "solutions", "notebooks"):
        unwanted = shutil.ignore_patterns("__pycache__", "*.ipynb", "e0[1-9]_*", "e1*")
        shutil.copytree(ROOT / folder, tmp_path / "course" / folder, ignore=unwanted)
    for name in ("LICENSE", "course.py"):
        shutil.copy(ROOT / name, tmp_path / "course")
    task, page = re.findall(
        r"```python\n(.*?)```", (ROOT / "exercises" / "README.md").read_text(encoding="utf-8"), re.S
    )
    (tmp_path / "course" / "exercises" / "e77_scale.py").write_text(task, encoding="utf-8")
    (tmp_path / "course" / "solutions" / "e77_scale.py").write_text(page, encoding="utf-8")
    cell = {"cell_type": "markdown", "source": [FIRST_CELL], "metadata": {}}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "course" / "notebooks" / "77_scaling.ipynb").write_text(json.dumps(notebook), encoding="utf-8")

    def run(*arguments, where="course"):
        environment = os.environ | {"PYTHONPATH": str(tmp_path / where), "LLM_COURSE_PROGRESS": "off"}
        command = [sys.executable, "-m", "exercises", *arguments]
        return subprocess.run(command, cwd=tmp_path / where, env=environment, capture_output=True, text=True)

    syllabus = run("syllabus").stdout
    assert "| 77. Scaling | 60 | 1 | 1 |" in syllabus and "| Renormalise what a filter leaves | `scale`" in syllabus
    assert run("release", "--out", str(tmp_path / "student"), "--without", "0").returncode == 0
    assert (tmp_path / "student" / "notebooks" / "77_scaling.ipynb").exists()
    assert "scale: not attempted" in run("check", "scale", where="student").stdout
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "anna.py").write_text("def renormalise(weights):\n    return weights / weights.sum()\n")
    assert run("grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--chapters", "77").returncode == 0
    (row,) = json.loads((tmp_path / "out" / "marks.json").read_text(encoding="utf-8"))
    assert row["exercises"]["e77_scale"]["mistakes"] == ["wrong_whole_batch"]
