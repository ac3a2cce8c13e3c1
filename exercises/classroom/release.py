"""The editions that go out: the student edition without any answer, and the solved one.

What goes out is on a list; whatever is added to the course stays here until it is put there. Chapters whose outputs
may be others than here are run again: solved ones, and those that show where the student stands.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pprint import pformat
from typing import Any

from exercises.classroom.mark import variant_for
from exercises.classroom.pack import write_stored
from exercises.classroom.sources import EDITION
from exercises.classroom.store import slug
from exercises.grader.catalog import FOLDER, Exercise, all_exercises
from exercises.grader.excerpt import excerpt, statements
from exercises.grader.stubs import fill
from llm_gen import __version__
from llm_gen.text import _

ROOT = FOLDER.parent
GOES_OUT = (
    "LICENSE", "course.py", "environment.yml", "pyproject.toml", "postBuild", "llm_gen/**/*", "notebooks/*.py",
    "notebooks/panels/**/*.py", "notebooks/data/**/*", "notebooks/images/**/*", "exercises/__init__.py",
    "exercises/__main__.py", "exercises/grader/*.py", "solutions/__init__.py", "solutions/vocabulary/*.py",
)  # fmt: skip
STAYS = {"exercises/grader/audit.py", "exercises/grader/mutate.py"}
RECIPE = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
CHECK = re.compile(r'check\("(\w+)"')
TELLS_OF_THE_EDITION = re.compile(r"\b(check|progress|solution|course_map)\(")


@dataclass(frozen=True)
class Plan:
    """answers: the solved edition. without: numbers of chapters. seed: draws each student's own numbers."""

    answers: bool = False
    without: frozenset[int] = frozenset()
    seed: str = ""


def release(out: Path, plan: Plan, students: Sequence[str] = ()) -> Iterator[Path]:
    """Write one edition to `out`, or one for each student to a folder in it; gives the folders.

    Raises ValueError for a folder that holds anything else, and where the plan contradicts itself.
    """
    if bool(plan.seed) != bool(students) or (plan.answers and students):
        raise ValueError(_("--seed and --students go together, and without --answers"))
    if out.exists() and not _is_ours(out):
        raise ValueError(_("{folder} is there and is not an edition of this course").format(folder=out))
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".edition-") as scratch:
        common = Path(scratch, "edition")
        write_edition(common, plan)
        if not students:
            yield _put(common, out)
        for student in students:
            own = Path(shutil.copytree(common, Path(scratch, "own")))
            personalise(own, student, plan)
            yield _put(own, out / slug(student))


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and (not any(folder.iterdir()) or any(folder.glob(f"**/exercises/{EDITION}")))


def _put(made: Path, place: Path) -> Path:
    """An edition appears whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    return made.rename(place)


def write_edition(folder: Path, plan: Plan) -> None:
    """The edition that all students share."""
    exercises = [exercise for exercise in all_exercises() if exercise.chapter not in plan.without]
    for path in listed():
        _copy(path, folder)
    for exercise in exercises:
        _write_exercise(exercise, folder, plan.answers)
    _write_json(folder / "exercises" / "settings.json", {"solutions": "on request" if plan.answers else "never"})
    edition = {"version": __version__, "solved": plan.answers, "without": sorted(plan.without)}
    _write_json(folder / "exercises" / EDITION, edition)
    shutil.copy(Path(__file__).with_name("student_readme.md"), folder / "README.md")
    _write_notebooks(folder, plan, {exercise.name: exercise for exercise in exercises})


def personalise(folder: Path, student: str, plan: Plan) -> None:
    """Give an edition the student's own numbers: in tasks, stored answers and chapters."""
    chosen = [replace(e, variant=variant_for(e, plan.seed, student)) for e in all_exercises()]
    varied = {e.name: e for e in chosen if e.variant and e.chapter not in plan.without}
    for exercise in varied.values():
        _write_exercise(exercise, folder, answers=False)
    for path in sorted((folder / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for text, stub, exercise in posed(notebook["cells"], varied):
            for cell in (text, stub):
                _replace(cell, exercise.vary("".join(cell["source"])))
        _write_notebook(path, notebook)


def listed() -> list[Path]:
    """The files of the list, as paths within the course."""
    found = {path.relative_to(ROOT) for pattern in GOES_OUT for path in ROOT.glob(pattern) if path.is_file()}
    hidden = {path for path in found if any(part.startswith(".") or part == "__pycache__" for part in path.parts)}
    return sorted(path for path in found - hidden if path.as_posix() not in STAYS)


def _copy(path: Path, folder: Path) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / path, folder / path)


def _write_json(path: Path, data: dict[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _write_exercise(exercise: Exercise, folder: Path, answers: bool) -> None:
    page = fill(exercise) if answers else exercise.vary(exercise.path.read_text(encoding="utf-8"))
    (folder / "exercises" / exercise.path.name).write_text(page, encoding="utf-8")
    if answers:
        _copy(Path("solutions", exercise.path.name), folder)
    else:
        write_stored(exercise, folder / "solutions")


def _write_notebooks(folder: Path, plan: Plan, exercises: dict[str, Exercise]) -> None:
    again = []
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        if int(path.name[:2]) in plan.without:
            continue
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for _text, stub, exercise in posed(notebook["cells"], exercises) if plan.answers else ():
            _replace(stub, solved(exercise))
        _write_notebook(folder / "notebooks" / path.name, notebook)
        if plan.answers or _tells_of_the_edition(notebook["cells"]):
            again.append(folder / "notebooks" / path.name)
    _record(folder, again)
    for path in again:  # recording leaves nothing in the head of a notebook but its kernel
        _write_notebook(path, json.loads(path.read_text(encoding="utf-8")))


def _write_notebook(path: Path, notebook: dict[str, Any]) -> None:
    notebook["metadata"]["course"] = {"version": __version__}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def posed(cells: list[dict[str, Any]], exercises: dict[str, Exercise]) -> Iterator[tuple[dict, dict, Exercise]]:
    """The exercises that a chapter poses: the cell of the task, that of the stub, the exercise."""
    for text, stub, check in zip(cells, cells[1:], cells[2:]):
        found = CHECK.match("".join(check["source"])) if check["cell_type"] == "code" else None
        if found and found[1] in exercises:
            yield text, stub, exercises[found[1]]


def _tells_of_the_edition(cells: list[dict[str, Any]]) -> bool:
    """Whether an output is other than here, where answers are known: all but the plain check of a stub."""
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return any(TELLS_OF_THE_EDITION.search(source) and not CHECK.match(source) for source in sources)


def _replace(cell: dict[str, Any], source: str) -> None:
    cell["source"] = source.rstrip("\n").splitlines(keepends=True)


def solved(exercise: Exercise) -> str:
    """What stands in the cell of a solved exercise: the reference with all it needs, or the value."""
    if exercise.is_code:
        return excerpt(statements([exercise.page_source]), exercise.answer_name)
    return filled(exercise, exercise.reference())


def filled(exercise: Exercise, value: Any) -> str:
    """The stub of a value with this one in it."""
    head = exercise.task.stub.partition(" = ")[0]
    return f"{head} = {pformat(_rounded(value), width=100, sort_dicts=False)}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def _record(folder: Path, notebooks: list[Path]) -> None:
    """Run notebooks of the edition with the edition's own code and keep their outputs."""
    if not notebooks:
        return
    with tempfile.TemporaryDirectory() as scratch:
        progress = {"LLM_COURSE_PROGRESS": str(Path(scratch, "progress.json"))}
        environment = os.environ | RECIPE | progress | {"PYTHONPATH": str(folder)}
        command = [sys.executable, str(folder / "notebooks" / "record.py"), *map(str, notebooks)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(_("a chapter of the edition does not run: {error}").format(error=done.stderr.strip()[-500:]))
