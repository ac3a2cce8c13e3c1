"""Which mistake is it? An answer that does what a known wrong answer does, input by input, is that mistake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from exercises.grader.catalog import Exercise
from exercises.grader.verdict import DEADLY
from llm_gen.text import _
from solutions.vocabulary import Check, Choice, Difference, Entry, Outcome, ValueCheck
from solutions.vocabulary.values import Place

EVERYWHERE = _("Your answers equal those of a version that {mistake}.")
WHERE_WRONG = _("Where your answers are wrong, they equal those of a version that {mistake}.")
WHERE_WRONG_SO = _("Where your answers are wrong in this way, they equal those of a version that {mistake}.")


@dataclass(frozen=True)
class Mistakes:
    """The known wrong answers that an answer behaves like. words: on which inputs it does, as a sentence."""

    functions: tuple[Callable, ...] = ()
    words: str = EVERYWHERE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(function.__name__ for function in self.functions)


def known_mistakes(
    exercise: Exercise, check: Check, outcomes: Sequence[Outcome], found: Sequence[Difference | None]
) -> Mistakes:
    """The wrong answers that agree with the outcomes on all inputs, or where it is wrong, or wrong as in the example.

    The last is for two faults at once, one of which changes the kind of the difference, such as a dtype.
    """
    number = exercise.checks.index(check)
    wrong = [i for i, difference in enumerate(found) if difference]
    so = [i for i in wrong if found[i].kind == found[smallest(check, found)].kind]
    for places, words in ((range(len(outcomes)), EVERYWHERE), (wrong, WHERE_WRONG), (so, WHERE_WRONG_SO)):
        alike = [
            function
            for name, function in exercise.wrong.items()
            if _agree_on(check, places, behaviour(exercise, number, name), outcomes, function)
        ]
        if alike and (words is EVERYWHERE or len(places) > 1):
            return Mistakes(tuple(alike), words)
    return Mistakes()


def smallest(check: Check, found: Sequence[Difference | None]) -> int:
    """The number of the smallest case on which an answer is wrong."""
    return min((i for i, difference in enumerate(found) if difference), key=lambda i: check.cases[i].size)


def agree(check: Check, mistakes: Mistakes, args: tuple, got: Outcome) -> bool:
    """Whether the named mistakes would do the same with this input, so that a smaller example still shows them."""
    return all(_alike(check, check.observe(function, args), got) for function in mistakes.functions)


def known_values(exercise: Exercise, check: ValueCheck, entries: Sequence[Entry]) -> Mistakes:
    """The wrong answers that explain the wrong entries, those that explain most first; two at most.

    Of numbers, each has to explain half of what is left: fewer may agree by chance.
    """
    least = 0 if isinstance(check, Choice) else 0.5
    unexplained = {i for i, entry in enumerate(entries) if entry.filled and not entry.right}
    same = {name: _same_entries(check, function(), entries) for name, function in exercise.wrong.items()}
    chosen: list[Callable] = []
    while unexplained and len(chosen) < 2:
        best = max(same, key=lambda name: (len(same[name] & unexplained), len(same[name])))
        if len(same[best] & unexplained) < max(1, least * len(unexplained)):
            break
        unexplained -= same.pop(best)
        chosen.append(exercise.wrong[best])
    return Mistakes(tuple(chosen))


def in_words(mistakes: Mistakes, check: Check | ValueCheck | None = None) -> tuple[str, ...]:
    """The likely mistake in sentences; of several that cannot be told apart, two."""
    told = [function.__doc__.strip() for function in mistakes.functions[:2]]
    if isinstance(check, Choice):
        return tuple(told)
    if isinstance(check, ValueCheck):
        return tuple(_("This is what comes out if one {mistake}.").format(mistake=text) for text in told)
    if not told:
        return ()
    return (mistakes.words.format(mistake=_(" or ").join(told)),)


@cache
def behaviour(exercise: Exercise, number: int, name: str) -> tuple[Outcome | None, ...]:
    """What a wrong answer does on each case of a check; None where it would not come back."""
    check, function = exercise.checks[number], exercise.wrong[name]
    if _deadly(function):
        return (None,) * len(check.cases)
    return tuple(check.observe(function, case.args) for case in check.cases)


def _agree_on(
    check: Check,
    places: Sequence[int],
    behaviour: Sequence[Outcome | None],
    outcomes: Sequence[Outcome],
    wrong: Callable,
) -> bool:
    if _deadly(wrong):
        return outcomes[-1].kind == wrong.fails
    return all(_alike(check, behaviour[i], outcomes[i]) for i in places)


def _deadly(function: Callable) -> bool:
    return getattr(function, "fails", "") in DEADLY


def _alike(check: Check, one: Outcome, other: Outcome) -> bool:
    if one.kind == "error" and other.kind == "error":
        return one.error[0] == other.error[0]
    return one.kind == other.kind and one.mutated == other.mutated and check.difference(one, other) is None


def _same_entries(check: ValueCheck, wrong: object, entries: Sequence[Entry]) -> set[int]:
    """Positions of the entries that are as in this wrong answer; numbers of one row only if the whole row is."""
    pairs = enumerate(zip(entries, check.entries(wrong)))
    same = {i for i, (own, other) in pairs if check.equal(_like(own.expected, other.got), own.got)}
    if isinstance(check, Choice):
        return same
    others = {_row(entry) for i, entry in enumerate(entries) if entry.filled and i not in same}
    return {i for i in same if _row(entries[i]) not in others}


def _row(entry: Entry) -> Place:
    """Where the entry's row stands in a table of rows; else the entry's own place."""
    in_table = len(entry.place) > 1 and isinstance(entry.place[-1], int)
    return entry.place[:-1] if in_table else entry.place


def _like(expected: object, value: object) -> object:
    """A whole number as a float where a float is expected, so that the tolerance counts for it."""
    return float(value) if isinstance(expected, float) and isinstance(value, int) else value
