"""Judging the judge: all wrong answers and mutants refused, all right alternatives accepted; the table.

A developer's tool for systems with fork and timers. A page lists in `equivalent` the mutants that do the same
as the reference, each with the reason.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from exercises.grader.answers import Given
from exercises.grader.catalog import Exercise
from exercises.grader.isolate import Limits, TimeUp
from exercises.grader.judge import judge
from exercises.grader.mutate import Mutant, mutants
from exercises.grader.state import clean_state
from exercises.grader.verdict import Verdict

TABLE = "answers.md"
QUICK = Limits(processor=0.5, clock=5.0)
MUTANT_SECONDS = 0.3


@dataclass(frozen=True)
class Audit:
    """What became of every known answer of one exercise. survivors: names of the mutants that were not refused."""

    name: str
    wrong: dict[str, Verdict]
    right: dict[str, Verdict]
    mutants: int
    survivors: tuple[str, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """wrong refused, wrong, mutants refused, mutants, equivalent, right accepted, right."""
        refused = sum(not verdict.passed for verdict in self.wrong.values())
        accepted = sum(verdict.passed for verdict in self.right.values())
        killed = self.mutants - len(self.survivors)
        return refused, len(self.wrong), killed, self.mutants, len(self.survivors), accepted, len(self.right)


def audit(exercise: Exercise) -> Audit:
    """Check every known answer of the exercise."""
    made = list(mutants(exercise))
    return Audit(
        exercise.name,
        {name: judge_known(exercise, function) for name, function in exercise.wrong.items()},
        {name: judge_known(exercise, function) for name, function in exercise.right.items()},
        len(made),
        tuple(mutant.name for mutant in surviving(exercise, made)),
    )


def judge_known(exercise: Exercise, function: Callable) -> Verdict:
    """The verdict on a function of the page, or on the value that it computes."""
    return judge(exercise, Given(function if exercise.is_code else function()), QUICK)


def surviving(exercise: Exercise, made: list[Mutant]) -> list[Mutant]:
    """The mutants that pass every check."""
    with clean_state():
        return [mutant for mutant in made if not refused(exercise, mutant.answer)]


def refused(exercise: Exercise, answer: Any) -> bool:
    """Whether a check refuses an answer of our own making, which may run in this process."""
    try:
        with _time_limit(MUTANT_SECONDS):
            for check in exercise.checks:
                check(answer)
    except (Exception, TimeUp):  # Counterexample, or whatever the fault makes torch say
        return True
    return False


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeUp in this thread after so many seconds of the processor."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


HEAD = """# Every judge is judged

Made by `python -m exercises table --write` and held by a test. Refused / all; an equivalent mutant does what the
reference does and stands on its solution page with the reason.

| exercise | wrong answers refused | mutants refused | equivalent mutants | alternatives accepted |
|---|---|---|---|---|
"""


def table(rows: Iterable[str]) -> str:
    """The table as Markdown from its rows, in order, with a line of sums."""
    ordered = sorted(rows)
    numbers = [map(int, re.findall(r"\d+", row.split("|", 2)[2])) for row in ordered]
    return HEAD + "\n".join([*ordered, _row("**all**", *map(sum, zip(*numbers))), ""])


def rows_of(text: str) -> dict[str, str]:
    """The rows of a table by exercise, without the sums."""
    lines = [line for line in text.splitlines() if re.match(r"\| e\d\d_", line)]
    return {line.split("|")[1].strip(): line for line in lines}


def row_of(seen: Audit) -> str:
    return _row(seen.name, *seen.numbers)


def _row(name: str, refused: int, wrong: int, killed: int, made: int, same: int, accepted: int, right: int) -> str:
    return f"| {name} | {refused} / {wrong} | {killed} / {made} | {same} | {accepted} / {right} |"


def universal_wrong(exercise: Exercise) -> dict[str, Callable]:
    """Answers wrong everywhere: constants, None, an argument, zeros, an argument ignored, an input changed."""
    if not exercise.is_code:
        return {}
    check = exercise.checks[0]
    reference, first, names = check.reference, check.cases[0].args, check.names
    always = check.answers[0].value
    found: dict[str, Callable] = {
        f"always {value!r}": lambda *args, value=value: value for value in (None, 0, 1, 0.0, True, "", [], (), {})
    }
    found["always the answer to the first input"] = lambda *args: always
    for i, name in enumerate(names):
        found[f"gives back {name}"] = lambda *args, i=i: args[i]
        found[f"ignores {name}"] = lambda *args, i=i: reference(*args[:i], first[i], *args[i + 1 :])
        if isinstance(first[i], Tensor):
            found[f"zeros like {name}"] = lambda *args, i=i: torch.zeros_like(args[i])
            found[f"ones like {name}"] = lambda *args, i=i: torch.ones_like(args[i])
            found[f"changes {name}"] = lambda *args, i=i: _then_change(reference(*args), args[i])
    return found


def _then_change(answer: Any, argument: Tensor) -> Any:
    argument.zero_() if argument.any() else argument.fill_(1)
    return answer
