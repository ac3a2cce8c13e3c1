"""What goes out holds no answer, still checks, and runs; what is left out is gone."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from exercises.__main__ import main
from exercises.classroom import release as releasing
from exercises.classroom.harness import harness_source
from exercises.classroom.release import Plan, listed, release, solved
from exercises.grader import codec
from exercises.grader.answers import Given, Written
from exercises.grader.audit import judge_known
from exercises.grader.catalog import FOLDER, all_exercises, find
from exercises.grader.excerpt import excerpt, statements
from exercises.grader.judge import judge
from exercises.grader.stubs import reference_source

pytestmark = pytest.mark.slow
ROOT = FOLDER.parent
# One called plainly, one with a fake model, one with a cache, one that raises; a table, letters, an order, a guess.
SHORT = ("top_p", "generate_loop", "cache_update", "validate", "nuclei", "wrong_rule", "five_steps", "predict_kept_set")
STRICT = ["-q", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=60", "--nbval-kernel-startup-timeout=120"]


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """The student edition without the last chapters."""
    (folder,) = release(tmp_path_factory.mktemp("release") / "student", Plan(without=frozenset(range(7, 14))))
    return folder


def run(edition: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """A Python that finds the edition and not this course."""
    environment = os.environ | releasing.RECIPE | {"PYTHONPATH": str(edition), "LLM_COURSE_PROGRESS": "off"} | variables
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=edition, env=environment, capture_output=True, text=True)


def texts(folder: Path) -> dict[str, str]:
    """Every file of the edition that is text, packed ones unpacked."""
    found = {}
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() and path.suffix not in (".png", ".safetensors") else b""
        found[path.relative_to(folder).as_posix()] = (gzip.decompress(data) if path.suffix == ".gz" else data).decode(
            "utf-8", "replace"
        )
    return found


def taught() -> str:
    """What a student may read anyway: the library, and the code of the chapters."""
    library = [path.read_text(encoding="utf-8") for path in (ROOT / "llm_gen").rglob("*.py")]
    library += [path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").rglob("*.py")]
    cells = [cell.source for path in (ROOT / "notebooks").glob("*.ipynb") for cell in nbformat.read(path, 4).cells]
    return "\n".join(library + cells)


def lines_of(source: str) -> set[str]:
    return {line.strip() for line in source.splitlines() if len(line.strip()) > 25 and '"""' not in line}


def test_no_line_of_a_reference_or_of_a_wrong_answer_is_in_it(edition):
    stubs = "".join(exercise.task.stub for exercise in all_exercises())
    secret = set()
    for exercise in all_exercises():
        program = statements([exercise.page_source])
        names = [*exercise.wrong, *exercise.right] + ([exercise.answer_name] if exercise.is_code else [])
        for name in names:
            secret |= lines_of(_body(excerpt(program, name), name))
        if exercise.is_code:
            secret |= lines_of(reference_source(exercise).replace(exercise.task.stub.partition("    raise")[0], ""))
    secret -= lines_of(taught() + stubs) | shared_with_harnesses()
    assert len(secret) > 500
    parts = {name: text for name, text in texts(edition).items() if not name.startswith("llm_gen/")}
    assert [(name, line) for name, text in parts.items() for line in secret if line in text] == []


def _body(source: str, name: str) -> str:
    return source[source.index(f"def {name}(") :].partition("\n")[2]


def shared_with_harnesses() -> set[str]:
    """Lines of fake models and the like, which a check needs and a wrong answer may use too."""
    coded = [exercise for exercise in all_exercises() if exercise.is_code]
    return {line for e in coded for check in e.checks for line in lines_of(harness_source(e, check))}


def test_a_harness_holds_no_reference():
    for exercise in all_exercises():
        for check in exercise.checks if exercise.is_code else ():
            assert f"def {exercise.answer_name}(" not in harness_source(exercise, check)


def test_there_is_nothing_but_what_is_listed(edition):
    own = {"README.md", "exercises/settings.json", "exercises/edition.json"}
    listed_files = {path.as_posix() for path in listed()} | own
    others = {name for name in texts(edition) if "__pycache__" not in name} - listed_files
    kept = [exercise for exercise in all_exercises() if exercise.chapter < 7]
    expected = {f"exercises/{e.name}.py" for e in kept} | {f"solutions/{e.name}.json.gz" for e in kept}
    expected |= {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("0[0-6]_*.ipynb")}
    assert {name for name in others if not (edition / name).is_dir()} == expected
    assert not [
        name for name in listed_files if name.startswith(("exercises/classroom", "tests", "docs", "benchmarks"))
    ]


def test_every_stub_is_not_attempted_and_the_instructors_commands_are_gone(edition):
    done = run(edition, "-m", "exercises", "check", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 3 and {each["status"] for each in found} == {"not attempted"}
    assert {each["exercise"] for each in found} == {e.name for e in all_exercises() if e.chapter < 7}
    assert run(edition, "-m", "exercises", "grade", "x", "--out", "y").returncode == 2
    shown = run(edition, "-m", "exercises", "solution", "top_p", LLM_COURSE_SOLUTIONS="on request")
    assert "not shown" in shown.stdout
    before = (edition / "exercises" / "e05_top_p.py").read_text(encoding="utf-8")
    assert run(edition, "-m", "exercises", "reset", "top_p").returncode == 0
    assert (edition / "exercises" / "e05_top_p.py").read_text(encoding="utf-8") == before


JUDGE_ALL = """
import json, sys
from exercises.grader import codec
from exercises.grader.answers import Written
from exercises.grader.catalog import find
from exercises.grader.judge import judge
import exercises.grader.catalog as catalog

assert catalog.FOLDER.parent == __import__("pathlib").Path.cwd().resolve()
found = []
for short, source in json.load(open(sys.argv[1])):
    verdict = judge(find(short), Written(source, find(short).answer_name))
    found.append([verdict.status, verdict.right, verdict.total, list(verdict.mistakes), list(verdict.likely)])
print(json.dumps(found))
"""


def test_the_stored_checks_give_the_verdicts_of_the_real_ones(edition, tmp_path):
    """Right answers and mistakes alike, with the same words; only the example may be larger."""
    answers, expected = [], []
    for exercise in map(find, (name for name in SHORT if find(name).chapter < 7)):
        program = statements([exercise.page_source])
        for name in [exercise.answer_name, *list(exercise.wrong)[:4]]:
            function = exercise.reference if name == exercise.answer_name else exercise.wrong[name]
            call = "" if exercise.is_code else "()"
            answers.append((exercise.short, f"{excerpt(program, name)}\nanswer = {name}{call}\n"))
            answers[-1] = (exercise.short, _renamed(answers[-1][1], exercise.answer_name))
            verdict = judge_known(exercise, function)
            expected.append(
                [verdict.status, verdict.right, verdict.total, list(verdict.mistakes), list(verdict.likely)]
            )
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(answers), encoding="utf-8")
    done = run(edition, "-c", JUDGE_ALL, str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def _renamed(source: str, name: str) -> str:
    """The same program in a function, so that its last line may take a name that it uses itself."""
    lines = "".join(f"    {line}\n" for line in source.splitlines())
    return f"def made():\n{lines}    return answer\n\n\n{name} = made()\n"


@pytest.mark.parametrize("variables", [{}, {"ATEN_CPU_CAPABILITY": "default"}], ids=["this CPU", "plain kernels"])
def test_its_notebooks_pass_strict_nbval(edition, variables):
    """The first page, which shows where one stands, was run again; one other chapter stands for the rest, whose cells
    are those that the course itself proves."""
    chosen = ["00_start_here.ipynb", "03_temperature.ipynb"]
    done = run(
        edition, "-m", "pytest", *STRICT, *(f"notebooks/{name}" for name in chosen), LLM_COURSE_PROGRESS="", **variables
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_other_notebooks_are_the_courses_own(edition):
    for path in sorted((edition / "notebooks").glob("0[1-6]_*.ipynb")):
        original = nbformat.read(ROOT / "notebooks" / path.name, 4)
        assert nbformat.read(path, 4).cells == original.cells


def test_each_student_has_numbers_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(releasing, "_record", lambda folder, notebooks: None)  # proven above
    names = ["anna", "bo", 'Carl, "=1+1"']
    folders = list(release(tmp_path / "class", Plan(seed="spring", without=frozenset({1, 2, 6})), names))
    assert len({folder.name for folder in folders}) == 3
    seen = set()
    for folder, student in zip(folders, names):
        exercise = find("nuclei")
        varied = releasing.replace(exercise, variant=releasing.variant_for(exercise, "spring", student))
        page = (folder / "exercises" / "e05_nuclei.py").read_text(encoding="utf-8")
        assert varied.variants[varied.variant][0] in page
        chapter = (folder / "notebooks" / "05_top_p.ipynb").read_text(encoding="utf-8")
        assert f"The nuclei of ({varied.variants[varied.variant][0]})" in chapter
        value = json.loads(gzip.decompress((folder / "solutions" / "e05_nuclei.json.gz").read_bytes()))
        assert value["checks"][0]["value"] == codec.encode(varied.reference())
        seen.add(varied.variant)
    assert len(seen) > 1


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.name)
def test_the_solved_cell_passes(exercise):
    """What the solved edition puts into the chapter, run by itself."""
    assert judge(exercise, Written(solved(exercise), exercise.answer_name)).passed


def test_the_solved_edition_has_the_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(releasing, "_record", lambda folder, notebooks: None)
    (folder,) = release(tmp_path / "solved", Plan(answers=True))
    assert (folder / "solutions" / "e05_top_p.py").exists()
    cells = [cell.source for cell in nbformat.read(folder / "notebooks" / "05_top_p.ipynb", 4).cells]
    assert solved(find("top_p")).rstrip("\n") in cells
    done = run(folder, "-m", "exercises", "check", "top_p", "nuclei")
    assert done.returncode == 0 and done.stdout.count("passed") == 2


def test_a_folder_with_other_things_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["release", "--out", str(tmp_path)]) == 2
    assert "is not an edition" in capsys.readouterr().err
    assert main(["release", "--out", str(tmp_path / "new"), "--seed", "1"]) == 2
    assert "--students" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_given_answers_still_work_where_pages_are_stored(edition):
    """`check(name, function)` in a notebook of the edition."""
    program = "from exercises import check; import torch\ncheck('top_p', lambda probs, top_p: probs)\n"
    done = run(edition, "-c", program)
    assert "top_p: not right yet" in done.stdout and "Smallest input" in done.stdout
    assert not judge(find("top_p"), Given(lambda probs, top_p: probs)).passed
