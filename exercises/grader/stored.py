"""A page of answers without its code, for the student edition: inputs, right outcomes, outcomes of the known mistakes.

`python -m exercises release` writes these files. A check made of one does what the original does, except that it
cannot try inputs that are not stored, so a failing input is not made smaller.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import solutions.vocabulary as vocabulary
from exercises.grader import codec
from exercises.grader.sandbox import unpack
from solutions.vocabulary import Case, Check, Kind, Outcome, ValueCheck

SUFFIX = ".json.gz"


class StoredFunction:
    """The name of a function, and what it did on the inputs of each check."""

    def __init__(self, name: str, doc: str = "", fails: str = "value", outcomes: Sequence[list[dict]] = ()) -> None:
        self.__name__, self.__doc__, self.fails, self._packed = name, doc, fails, outcomes

    @cached_property
    def outcomes(self) -> list[list[Outcome]]:
        return [[unpack(outcome) for outcome in of_check] for of_check in self._packed]


class StoredCheck(Check):
    """A check of a function, from stored values. number: its place among the page's checks."""

    def __init__(self, number: int, data: dict[str, Any]) -> None:
        kinds = {name: Kind() for name in data["names"]}
        super().__init__(
            StoredFunction(data["reference"], outcomes=[data["answers"]]),
            call=harness(data["call"]),
            used_with=data["used_with"],
            tolerance=data["tolerance"],
            **kinds,
        )
        self._number, self._cases = number, data["cases"]

    @cached_property
    def cases(self) -> list[Case]:
        return [Case(tuple(map(codec.decode, args)), group, label) for args, group, label in self._cases]

    @cached_property
    def answers(self) -> list[Outcome]:
        return self.reference.outcomes[0]

    def observe(self, answer: Callable, args: Sequence[Any]) -> Outcome:
        if not isinstance(answer, StoredFunction):
            return super().observe(answer, args)
        place = next(i for i, case in enumerate(self.cases) if case.args is args)
        return answer.outcomes[0 if answer is self.reference else self._number][place]

    def shrink(self, args: tuple, fails: Callable[[tuple], bool]) -> tuple:
        return args


def harness(source: str) -> Callable | None:
    """The function `call` that the source defines: how a check uses an answer. None if there is no source."""
    if not source:
        return None
    space: dict[str, Any] = {"__name__": "harness"}
    exec(compile(source, "<harness>", "exec"), space)
    return space["call"]


def load_page(path: Path) -> ModuleType:
    """The page that a file stores: its checks and mistakes, by their names."""
    data = json.loads(gzip.decompress(path.read_bytes()))
    page = ModuleType(path.name.removesuffix(SUFFIX), data["doc"])
    page.stub = data["stub"]
    for name in {"not_checked"} & set(data):
        setattr(page, name, data[name])
    for number, check in enumerate(data["checks"]):
        setattr(page, check["name"], _value_check(check) if "value" in check else StoredCheck(number, check))
    for wrong in data["wrong"]:
        setattr(page, wrong["name"], _value(wrong) if "value" in wrong else StoredFunction(**wrong))
    return page


def _value_check(data: dict[str, Any]) -> ValueCheck:
    kind = getattr(vocabulary, data["kind"])
    return kind(_value(data | {"name": data["reference"], "doc": ""}), tolerance=data["tolerance"])


def _value(data: dict[str, Any]) -> Callable[[], Any]:
    def give() -> Any:
        return codec.decode(data["value"])

    give.__name__, give.__doc__ = data["name"], data["doc"]
    return give
