"""The exercises by their files: exercises/eNN_name.py is the task, solutions/eNN_name.py its answer.

A task is read as text and never run here, so a page that a student has broken still has its name and can be
mended.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from exercises.grader import stored
from llm_gen.text import _
from solutions.vocabulary import Check, ValueCheck

FOLDER = Path(__file__).resolve().parents[1]
PAGES = FOLDER.parent / "solutions"
NAME = re.compile(r"e(\d\d)_(\w+)")


class Brief(Exception):
    """An error that a notebook shows as its message alone, since the fault is in the student's own line."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in the place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class UnknownExercise(Brief, LookupError):
    """There is no exercise of that name; the message offers the close ones."""


class NoName(Brief, TypeError):
    """Something else stands where the name of an exercise belongs."""


class NoHint(Brief, ValueError):
    """There is no hint of that number; the message says how many there are."""


@dataclass(frozen=True)
class Exercise:
    """One task and the page that answers it.

    seed: draws inputs of its own for a function (`Check.with_seed`). variant: which of the page's `variants` of the
    numbers stands on both pages; 0 is as they are.
    """

    name: str
    folder: Path = field(default=FOLDER, repr=False)
    seed: str = ""
    variant: int = 0

    @property
    def short(self) -> str:
        """`top_p` for `e05_top_p`."""
        return NAME.fullmatch(self.name).group(2)

    @property
    def chapter(self) -> int:
        return int(NAME.fullmatch(self.name).group(1))

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.py"

    @cached_property
    def task(self) -> Task:
        return read_task(self.vary(self.path.read_text(encoding="utf-8")))

    @cached_property
    def is_stored(self) -> bool:
        """Whether this edition has stored answers in the place of the solution page."""
        return not (PAGES / f"{self.name}.py").exists()

    @cached_property
    def page(self) -> ModuleType:
        """The solution page."""
        if self.is_stored:
            return stored.load_page(PAGES / f"{self.name}{stored.SUFFIX}")
        return self._varied_page() if self.variant else importlib.import_module(f"solutions.{self.name}")

    @cached_property
    def page_source(self) -> str:
        return self.vary((PAGES / f"{self.name}.py").read_text(encoding="utf-8"))

    @property
    def variants(self) -> tuple[tuple[str, ...], ...]:
        """Numbers as the two pages write them, first, and for each other variant what stands in their places."""
        if self.is_stored:
            return ()
        return getattr(importlib.import_module(f"solutions.{self.name}"), "variants", ())

    def vary(self, text: str) -> str:
        """The text with the numbers of this variant."""
        for old, new in zip(self.variants[0], self.variants[self.variant]) if self.variant else ():
            text = text.replace(old, new)
        return text

    def _varied_page(self) -> ModuleType:
        page = ModuleType(f"solutions.{self.name}_{self.variant}")
        exec(compile(self.page_source, page.__name__, "exec"), vars(page))
        return page

    @cached_property
    def checks(self) -> list[Check | ValueCheck]:
        named = [value for name, value in vars(self.page).items() if name.startswith("check_")]
        found = [value for value in named if isinstance(value, (Check, ValueCheck))]
        return [check.with_seed(self.seed) if self.seed and isinstance(check, Check) else check for check in found]

    @property
    def reference(self) -> Callable:
        """The right answer: the function itself, or one without arguments that computes the right value."""
        return self.checks[0].reference

    @property
    def answer_name(self) -> str:
        """What the student's function or value is called."""
        return self.reference.__name__

    @property
    def is_code(self) -> bool:
        return isinstance(self.checks[0], Check)

    @cached_property
    def wrong(self) -> dict[str, Callable]:
        """The usual mistakes; each docstring names one."""
        return self._named("wrong_")

    @cached_property
    def right(self) -> dict[str, Callable]:
        """Other right answers."""
        return self._named("right_")

    def _named(self, prefix: str) -> dict[str, Callable]:
        found = {name: value for name, value in vars(self.page).items() if name.startswith(prefix)}
        return {name: value for name, value in found.items() if value is not self.reference}


@dataclass(frozen=True)
class Task:
    """What a task page says, as far as it can be read."""

    title: str = ""
    text: str = ""
    objective: str = ""
    difficulty: int = 0
    minutes: int = 0
    hints: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    stub: str = ""


def read_task(source: str) -> Task:
    """The parts of a task page. The stub is the last statement of the page; ValueError if the page has no stub."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return Task()
    text = ast.get_docstring(tree) or ""
    title, _blank, body = text.partition("\n")
    settings = {}
    for node in tree.body[:-1]:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            settings[node.targets[0].id] = _literal(node.value)
    known = {key: value for key, value in settings.items() if key in Task.__dataclass_fields__ and value is not None}
    return Task(title.rstrip("."), body.strip(), **known, stub=ast.get_source_segment(source, tree.body[-1]) or "")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def all_exercises(folder: Path = FOLDER) -> list[Exercise]:
    """Every exercise of the folder, by chapter and name."""
    return [Exercise(path.stem, folder) for path in sorted(folder.glob("e??_*.py")) if NAME.fullmatch(path.stem)]


def find(name: str, folder: Path = FOLDER) -> Exercise:
    """The exercise called `e05_top_p`, `top_p`, or by its function `keep_top_p`; UnknownExercise offers close names."""
    if not isinstance(name, str):
        text = _('the name of an exercise must be a text, such as "top_p", got {kind}; an answer comes after it')
        raise NoName(text.format(kind=type(name).__name__))
    wanted = name.strip().removesuffix(".py")
    exercises = all_exercises(folder)
    for exercise in exercises:
        if wanted in (exercise.name, exercise.short):
            return exercise
    for exercise in exercises:
        if wanted == exercise.answer_name:
            return exercise
    raise UnknownExercise(_unknown(wanted, exercises))


def _unknown(wanted: str, exercises: list[Exercise]) -> str:
    number = re.fullmatch(r"0*(\d+)(\.\d+)?", wanted)  # 3.1, as a chapter numbers it
    if number:
        close = [exercise.short for exercise in exercises if exercise.chapter == int(number.group(1))]
    else:
        close = _close(re.sub(r"^e\d\d_", "", wanted), [exercise.short for exercise in exercises])
    offer = _("Did you mean {names}?").format(names=" / ".join(close)) if close else _("progress() shows all names.")
    return _("There is no exercise called {name!r}. {offer}").format(name=wanted, offer=offer)


def _close(wanted: str, names: list[str]) -> list[str]:
    """At most three names that are like the wanted one, or of which a word is, or that hold it; the likest first."""
    words: dict[str, list[str]] = {name: [name] for name in names}
    for name in names:
        for word in name.split("_"):
            words.setdefault(word, []).append(name)
    like = [name for word in difflib.get_close_matches(wanted, words, n=5, cutoff=0.6) for name in words[word]]
    return list(dict.fromkeys(like))[:3] or [name for name in names if wanted and wanted in name][:3]
