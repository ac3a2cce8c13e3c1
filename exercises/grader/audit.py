"""Judging the judge: every wrong answer and every mutant refused, every right alternative accepted; the public table.

A developer's tool for systems with fork and timers. A page lists in `equivalent` the mutants that do the same as the
reference, each with the reason.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
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
    """One row of the table. survivors: names of the mutants that were not refused."""

    name: str
    wrong: int
    wrong_refused: int
    mutants: int
    survivors: tuple[str, ...]
    right: int
    right_accepted: int


def audit(exercise: Exercise) -> Audit:
    """Check every known answer of the exercise."""
    wrong = [judge_known(exercise, function) for function in exercise.wrong.values()]
    right = [judge_known(exercise, function) for function in exercise.right.values()]
    made = list(mutants(exercise))
    return Audit(
        exercise.name,
        len(wrong),
        sum(not verdict.passed for verdict in wrong),
        len(made),
        tuple(mutant.name for mutant in surviving(exercise, made)),
        len(right),
        sum(verdict.passed for verdict in right),
    )


def judge_known(exercise: Exercise, function: Callable) -> Verdict:
    """The verdict on a function of the page, or on the value that it computes."""
    return judge(exercise, Given(function if exercise.is_code else function()), QUICK)


def surviving(exercise: Exercise, made: list[Mutant]) -> list[Mutant]:
    """The mutants that pass every check. They are of our own making, so they run in this process."""
    with clean_state():
        return [mutant for mutant in made if not _refused(exercise, mutant.answer)]


def _refused(exercise: Exercise, answer: Any) -> bool:
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


def table(audits: list[Audit]) -> str:
    """The table as Markdown, with a line of sums."""
    head = [
        "# Every judge is judged",
        "",
        "Made by `python -m exercises table`, held by a test. Refused of all; equivalent mutants do what the reference does",
        "and are listed with the reason on the solution page.",
        "",
        "| exercise | wrong answers refused | mutants refused | of these equivalent | alternatives accepted |",
        "|---|---|---|---|---|",
    ]
    rows = [_row(a.name, a.wrong_refused, a.wrong, a.mutants, len(a.survivors), a.right_accepted, a.right) for a in audits]
    sums = [
        sum(values)
        for values in zip(
            *((a.wrong_refused, a.wrong, a.mutants, len(a.survivors), a.right_accepted, a.right) for a in audits)
        )
    ]
    return "\n".join([*head, *rows, _row("**all**", *sums), ""])


def _row(name: str, refused: int, wrong: int, made: int, survived: int, accepted: int, right: int) -> str:
    return f"| {name} | {refused} / {wrong} | {made - survived} / {made} | {survived} | {accepted} / {right} |"


def universal_wrong(exercise: Exercise) -> dict[str, Callable]:
    """Answers that are wrong everywhere: constants, None, its own arguments, zeros, one argument ignored, inputs changed."""
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
    argument.flatten()[:1]
    argument.zero_() if argument.any() else argument.fill_(1)
    return answer
