"""From a folder of submissions to jobs: whose they are, and the source of each answer. Nothing is run here.

A submission is a folder, a zip or a file. A file named like an exercise is that exercise's answer as it stands; out of
notebooks and other programs each answer is cut with all that it needs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from exercises.classroom.rubric import CHAPTERS
from exercises.classroom.sources import EDITION, Source, Unusable, files_of, is_skipped
from exercises.grader.catalog import NAME, Exercise
from exercises.grader.excerpt import Statement, excerpt, parses, statements
from llm_gen import __version__
from llm_gen.text import _

FLOAT64 = "import torch as _torch; _torch.set_default_dtype(_torch.float64)\n"  # as start_chapter() sets it
FOLDERS_OF_A_STUDENT = {"exercises", "notebooks"}


@dataclass(frozen=True)
class Job:
    """One submission, as plain data. answers: for each exercise the sources that may answer it, with their files."""

    id: str
    student: str
    answers: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    graded: bool = True  # False: the row says why not, and no answer is run

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"digest": self.digest}


def collect(folder: Path, exercises: Iterable[Exercise], pattern: str = "") -> Iterator[Job]:
    """The jobs of a folder, one after the other. `pattern`: a regular expression over the names in the folder, whose
    group `student` (or the first) is the student. Raises ValueError for a folder without submissions."""
    known = list(exercises)
    for id, student, paths, problems in _submissions(folder, re.compile(pattern) if pattern else None):
        try:
            yield _job(id, student, [found for path in paths for found in files_of(path)], known, problems)
        except Exception as error:  # whatever is strange about one submission, the others are graded
            told = (*problems, _("cannot be read: {error!r}").format(error=error))
            yield Job(id, student, problems=told, graded=False)


def count(folder: Path, pattern: str = "") -> int:
    """How many jobs `collect` will give; by the names alone."""
    return sum(1 for _submission in _submissions(folder, re.compile(pattern) if pattern else None))


def _submissions(folder: Path, pattern: re.Pattern | None) -> Iterator[tuple[str, str, list[Path], tuple[str, ...]]]:
    """id, student, paths and problems of each submission, by name."""
    if not folder.exists():
        raise ValueError(_("there is no folder {folder}").format(folder=folder))
    names = sorted(path.name for path in folder.iterdir() if not is_skipped(path.name)) if folder.is_dir() else []
    if folder.is_file() or (pattern is None and any(_is_part(name) for name in names)):
        yield folder.resolve().name, folder.resolve().stem, [folder], ()
        return
    if not names:
        raise ValueError(_("there are no submissions in {folder}").format(folder=folder))
    of_student: dict[str, list[str]] = defaultdict(list)
    for name in names:
        of_student[student_of(name, pattern)].append(name)
    for student, own in of_student.items():
        if student and len(own) > 1 and len({_rest(name) for name in own if (folder / name).is_file()}) == len(own):
            yield student, student, [folder / name for name in own], ()
            continue
        for name in own:
            others = ", ".join(other for other in own if other != name)
            yield name, student or name, [folder / name], _remarks(student, others)


def _remarks(student: str, others: str) -> tuple[str, ...]:
    """What the row says about the name that a submission was handed in under."""
    if not student:
        return (_("no student's name was found in the name of the file"),)
    return (_("the same student also handed in {others}").format(others=others),) if others else ()


def _is_part(name: str) -> bool:
    """Whether the name is that of a part of the course: then the folder is the work of one student."""
    return name in FOLDERS_OF_A_STUDENT or (Path(name).stem in _page_names() and Path(name).suffix in (".py", ".ipynb"))


@cache
def _page_names() -> set[str]:
    return {path.stem for path in CHAPTERS.glob("[0-9][0-9]_*.ipynb")} | {
        path.stem for path in CHAPTERS.parent.glob("exercises/e??_*.py")
    }


def student_of(name: str, pattern: re.Pattern | None = None) -> str:
    """The student by the name of a file or folder: what the pattern finds, else the name without that of a page."""
    if pattern:
        found = pattern.search(name)
        return ((found["student"] if "student" in pattern.groupindex else found[1]) or "") if found else ""
    stem = re.sub(r"\.(zip|py|ipynb)$", "", name, flags=re.I)
    rest = _rest(name)
    return stem.removesuffix(rest).removeprefix(rest).strip(" _-.") if rest else stem


def _rest(name: str) -> str:
    """The name of the page that a file's name begins or ends with, or ""."""
    stem = Path(name).stem
    pages = [page for page in _page_names() if stem.endswith(page) or stem.startswith(page)]
    return max(pages, key=len, default="")


def _job(id: str, student: str, found: list[Source | Unusable], known: list[Exercise], problems: tuple) -> Job:
    pages: dict[str, list[tuple[str, str]]] = defaultdict(list)
    told, readable = [*problems, *(str(item) for item in found if isinstance(item, Unusable))], 0
    by_name = {exercise.name: exercise for exercise in known}
    for source in sorted((item for item in found if isinstance(item, Source)), key=_priority):
        try:
            text = source.text()
            other = _other_version(source, text)
            if other:
                return Job(id, student, problems=(*told, other), graded=False)
            if source.path.endswith(EDITION):
                continue
            if source.kind == ".py" and not parses(text):
                told.append(_("{path}: a syntax error").format(path=source.path))
            for name, answer in _answers(source, text, by_name):
                pages[name].append((source.path, answer))
            readable += 1
        except Unusable as error:
            told.append(str(error))
    if not readable:
        told.append(_("no notebook and no Python file in it could be read"))
    return Job(id, student, dict(pages), tuple(told), graded=readable > 0)


def _priority(source: Source) -> tuple[int, str]:
    """An exercise's own file comes before a chapter, a chapter before other programs."""
    own = NAME.fullmatch(source.stem) and source.kind == ".py"
    return (0 if own else 1 if source.kind == ".ipynb" else 2, source.path)


def _other_version(source: Source, text: str) -> str:
    """Why a submission is for another version of the course, or ""."""
    data: Any = {}
    if source.path.endswith(EDITION):
        data = _json(source, text)
    elif source.kind == ".ipynb":
        data = (_json(source, text).get("metadata") or {}).get("course") or {}
    version = data.get("version", __version__) if isinstance(data, dict) else __version__
    words = _("it is for version {version} of the course, this is {own}")
    return words.format(version=version, own=__version__) if version != __version__ else ""


def _answers(source: Source, text: str, known: dict[str, Exercise]) -> Iterator[tuple[str, str]]:
    if source.kind == ".py" and NAME.fullmatch(source.stem):
        if source.stem in known:
            yield source.stem, text
        return
    cells = [text] if source.kind == ".py" else _cells(source, text)
    head = FLOAT64 if any("start_chapter(" in cell for cell in cells) else ""
    program, broken = statements(cells), [cell for cell in cells if not parses(cell)]
    for name, exercise in known.items():
        answer = _answer(exercise.answer_name, program, broken) if _may_hold(source.stem, exercise) else ""
        if answer:
            yield name, head + answer


def _may_hold(stem: str, exercise: Exercise) -> bool:
    """Whether a file of that name may hold the exercise: a chapter holds those of its own number."""
    page = _rest(stem + ".ipynb")
    return not page or NAME.fullmatch(page) is not None or int(page[:2]) == exercise.chapter


def _answer(name: str, program: list[Statement], broken: list[str]) -> str:
    """The excerpt for a name; if a cell that begins with it does not parse, that cell: its error is the verdict."""
    beginning = re.compile(rf"^(def {re.escape(name)}\b|{re.escape(name)}\s*[:=])", re.M)
    return next((cell for cell in broken if beginning.search(cell)), "") or excerpt(program, name)


def _cells(source: Source, text: str) -> list[str]:
    """The sources of a notebook's code cells; the forms 3 and 4 of the file."""
    notebook = _json(source, text)
    sheets = notebook.get("worksheets")
    cells = notebook.get("cells") or (sheets[0].get("cells") if isinstance(sheets, list) and sheets else None)
    if not isinstance(cells, list):
        raise Unusable(_("{path}: not a notebook").format(path=source.path))
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    return [_joined(cell.get("source", cell.get("input", ""))) for cell in code]


def _joined(lines: Any) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)


def _json(source: Source, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        words = _("{path}: not a notebook ({error})").format(path=source.path, error=str(error)[:80])
        raise Unusable(words) from None
    return data if isinstance(data, dict) else {}
