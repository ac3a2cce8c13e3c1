"""What a check found, as data: `card` words it, `progress` remembers it, a class report counts it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from solutions.vocabulary import Difference, Entry, Outcome

PASSED, WRONG, NOT_ATTEMPTED = "passed", "wrong", "not attempted"
DEADLY = ("time-out", "crash", "memory")  # after one of these the answer cannot be called again


@dataclass(frozen=True)
class Failure:
    """The smallest input found on which the answer is wrong."""

    names: list[str]
    args: tuple[Any, ...]
    expected: Outcome
    got: Outcome
    difference: Difference
    used_with: str = ""


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of checking one answer.

    right, total: inputs (code) or entries (values). groups: the same for each group of inputs: name -> (right, total).
    problem: why nothing could be compared, one sentence. mistakes: names of the page's wrong answers that do the same;
    likely: what is likely wrong, in sentences. entries: for values. notes: remarks that cost nothing.
    """

    exercise: str
    status: str
    right: int = 0
    total: int = 0
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)
    problem: str = ""
    failure: Failure | None = None
    entries: list[Entry] = field(default_factory=list)
    mistakes: tuple[str, ...] = ()
    likely: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    isolation: str = field(default="", compare=False)

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    def __repr__(self) -> str:
        return f"<{self.exercise}: {self.status}>"

    def _ipython_display_(self) -> None:
        """Nothing: the card has been shown already."""
