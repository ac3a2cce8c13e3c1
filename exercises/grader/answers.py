"""Where an answer comes from: an object of the notebook, or the text of a file; made inside the worker."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from exercises.grader.catalog import Exercise


class NoAnswer(LookupError):
    """The file does not define what the task asks for."""


@dataclass(frozen=True)
class Given:
    """A function or value that the student's own session holds."""

    value: Any

    def load(self) -> Any:
        return self.value


@dataclass(frozen=True)
class Written:
    """Source that defines `name`; it is run where the answer runs, under the same limits."""

    source: str
    name: str

    def load(self) -> Any:
        filename = f"<{self.name}>"
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(True), filename)
        module = sys.modules["answer"] = ModuleType("answer")  # a dataclass looks for the module it is made in
        exec(compile(self.source, filename, "exec"), vars(module))
        if self.name not in vars(module):
            raise NoAnswer(self.name)
        return vars(module)[self.name]


def from_file(exercise: Exercise) -> Written:
    return Written(exercise.path.read_text(encoding="utf-8"), exercise.answer_name)


Answer = Given | Written
