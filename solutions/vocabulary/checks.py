"""`check_* = Check(reference, argument=kind, ...)`: how a solution page says what a function must do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from solutions.vocabulary.cases import Case, Inputs
from solutions.vocabulary.compare import TOLERANCE, Difference, difference
from solutions.vocabulary.kinds import Kind
from solutions.vocabulary.outcome import Outcome, observe
from solutions.vocabulary.shrink import shrink


class Counterexample(AssertionError):
    """Raised by a check: an input on which a function is wrong, or the place at which a value is."""


def fails(kind: str) -> Callable:
    """Declare how a `wrong_*` function fails where it is not by a wrong value: `@fails("shape")`."""

    def mark(function: Callable) -> Callable:
        function.fails = kind
        return function

    return mark


class Check:
    """A function is right if it does what `reference` does, on every input made from the kinds of its arguments.

    examples: argument tuples that the page cares about, tried first. valid(*args): which inputs count; it also
    keeps the shrinker honest. sizes: the sizes a letter may take, `{"V": (2, 3)}`. call(answer, *args): how the
    answer is used, where that is more than `answer(*args)`; used_with: what a student must know of that to follow
    an example, in words. tolerance: relative, for floats.
    """

    def __init__(
        self,
        reference: Callable,
        *,
        examples: Sequence[tuple] = (),
        valid: Callable[..., bool] | None = None,
        sizes: dict[str, tuple[int, ...]] | None = None,
        call: Callable | None = None,
        used_with: str = "",
        tolerance: float = TOLERANCE,
        **kinds: Kind,
    ) -> None:
        self.reference, self.call, self.used_with, self.tolerance = reference, call, used_with, tolerance
        self.inputs = Inputs(kinds, tuple(examples), valid, sizes)

    def with_seed(self, seed: str) -> Check:
        """The same check with further ordinary inputs, which only those know who know the seed."""
        seeded = copy.copy(self)
        for stale in ("cases", "answers"):
            seeded.__dict__.pop(stale, None)
        seeded.inputs = replace(self.inputs, seed=seed)
        return seeded

    @cached_property
    def cases(self) -> list[Case]:
        return self.inputs.cases()

    @property
    def names(self) -> list[str]:
        """The arguments' names."""
        return list(self.inputs.kinds)

    def observe(self, answer: Callable, args: Sequence[Any]) -> Outcome:
        """What `answer` does with `args` in this process."""
        return observe(answer, args, self.call)

    def expected(self, args: Sequence[Any]) -> Outcome:
        """What the reference does."""
        return self.observe(self.reference, args)

    @cached_property
    def answers(self) -> list[Outcome]:
        """What the reference does on each of the cases."""
        return [self.expected(case.args) for case in self.cases]

    def shrink(self, args: tuple, fails: Callable[[tuple], bool]) -> tuple:
        """A smaller input that fails too, if there is one."""
        return shrink(args, self.inputs, fails)

    def difference(self, expected: Outcome, got: Outcome) -> Difference | None:
        return difference(expected, got, self.names, self.tolerance)

    def __call__(self, answer: Callable) -> None:
        """Raise `Counterexample` for the first input on which `answer` is wrong (in this process, with no limit)."""
        for case, expected in zip(self.cases, self.answers):
            found = self.difference(expected, self.observe(answer, case.args))
            if found:
                shown = ", ".join(f"{name}={value}" for name, value in zip(self.names, case.args))
                raise Counterexample(f"{shown}: {found.text}")
