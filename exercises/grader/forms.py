"""A value in another form than is asked for, and how its wrong numbers relate to the right ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from exercises.grader import relations
from llm_gen.text import _
from solutions.vocabulary import Choice, Entry, ValueCheck
from solutions.vocabulary.compare import kind_of
from solutions.vocabulary.values import Place, in_words, tidy


def of_first(check: ValueCheck, entries: Sequence[Entry], options: Iterable[str] = ()) -> tuple[str, ...]:
    """What is wrong with the form of the first entry that has another one. options: the letters to choose from."""
    told = (words for entry in _wrong(entries) for words in _of_form(check, entry, tuple(options)))
    return tuple(islice(told, 1))


def of_numbers(check: ValueCheck, entries: Sequence[Entry]) -> tuple[str, ...]:
    """How the wrong entries relate to the right ones; nothing if all that are filled are right."""
    pairs = [(entry.expected, entry.got) for entry in _wrong(entries)]
    if not pairs:
        return ()
    if isinstance(check, Choice):
        words = _of_letters(*pairs[0]) if isinstance(pairs[0][0], set) else ""
    elif all(type(right) is float and type(got) in (int, float) for right, got in pairs):
        words = relations.in_words(pairs, precision=0.02) or _of_rows(check, entries)
    else:
        words = ""
    return (words,) if words else ()


def _of_rows(check: ValueCheck, entries: Sequence[Entry]) -> str:
    """What is wrong with whole rows of numbers: their order, or what they sum to."""
    rows: dict[Place, list[Entry]] = defaultdict(list)
    for entry in entries:
        if not entry.filled or type(entry.expected) is not float or not entry.place or isinstance(entry.place[-1], str):
            return ""
        rows[entry.place[:-1]].append(entry)
    if all(_same_numbers(check, row) for row in rows.values()):
        return _("The right numbers, but in other places.")
    sums = {place: [sum(pair) for pair in zip(*((e.expected, e.got) for e in row))] for place, row in rows.items()}
    if all(math.isclose(right, 1) for right, _got in sums.values()):
        off = [_named(place) for place, (_right, got) in sums.items() if abs(got - 1) > 0.02]
        return _("Shares of a whole sum to 1, and those in {place} do not.").format(place=off[0]) if off else ""
    return ""


def _named(place: Place) -> str:
    return repr(in_words(place)) if place else _("your answer")


def _same_numbers(check: ValueCheck, row: Sequence[Entry]) -> bool:
    pairs = zip(sorted(entry.expected for entry in row), sorted(float(entry.got) for entry in row))
    return all(check.equal(right, got) for right, got in pairs)


def _wrong(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.filled and not entry.right]


def _of_letters(expected: set, got: Iterable) -> str:
    letters = {tidy(item) for item in got if isinstance(item, str)}
    text = _("{n} of your letters fit, {m} do not; {k} more would.")
    return text.format(n=len(letters & expected), m=len(letters - expected), k=len(expected - letters))


def _of_form(check: ValueCheck, entry: Entry, options: tuple[str, ...]) -> Iterator[str]:
    place, got, expected = _named(entry.place), entry.got, entry.expected
    if isinstance(check, Choice) or (options and isinstance(expected, str)):
        yield from _of_choice(entry, options)
    elif isinstance(expected, set):
        yield from _of_set(entry, place)
    elif isinstance(expected, str) and not isinstance(got, str):
        text = _("A text is asked for in {place}, in quotes, and {kind} came.")
        yield text.format(place=place, kind=kind_of(got))
    elif type(expected) in (int, float) and not isinstance(got, (int, float)):
        yield _of_number(got, type(expected)).format(place=place, kind=kind_of(got))
    elif isinstance(got, float) and not math.isfinite(got):
        yield _("{got} is no answer: 0 / 0, inf - inf and 0 * inf give nan, 1 / 0 gives inf.").format(got=got)
    elif type(expected) is int and (isinstance(got, bool) or got != int(got)):
        kind = kind_of(got) if isinstance(got, bool) else repr(got)
        yield _("A whole number is asked for in {place}, and {kind} came.").format(place=place, kind=kind)


def _of_number(got: Any, expected: type) -> str:
    if isinstance(got, str):
        return _("A number is asked for in {place}, and a text came: leave out the quotes.")
    if isinstance(got, (tuple, list)) and len(got) == 2 and all(type(part) is int for part in got):
        if expected is int:
            return _("Two numbers came in {place}: thousands are written without a comma, as in 1000 or 1_000.")
        return _("Two numbers came in {place}: decimals are written with a point, as in 0.5.")
    return _("One number is asked for in {place}, and {kind} came.")


def _of_set(entry: Entry, place: str) -> Iterator[str]:
    if not isinstance(entry.got, (list, tuple, set)):
        kind = kind_of(entry.got)
        yield _("A set such as {{1, 2}} is asked for in {place}, and {kind} came.").format(place=place, kind=kind)
    elif {type(item) for item in entry.got} - {type(item) for item in entry.expected}:
        wanted = kind_of(next(iter(entry.expected), 1))
        yield _("Each item of the set in {place} is to be {kind}.").format(place=place, kind=wanted)


def _of_choice(entry: Entry, options: tuple[str, ...]) -> Iterator[str]:
    several, got = isinstance(entry.expected, set), entry.got
    if several and not isinstance(got, (list, tuple, set)):
        yield _('A list of letters is asked for, such as ["a", "b"], and {kind} came.').format(kind=kind_of(got))
        return
    for item in got if several else [got]:
        if options and not (isinstance(item, str) and tidy(item) in options):
            shown = repr(item[:30]) if isinstance(item, str) else kind_of(item)
            text = _("One of the letters {offer} is asked for, in quotes, and {got} came.")
            yield text.format(got=shown, offer=", ".join(options))
