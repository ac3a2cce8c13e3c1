"""`check_* = Numbers(reference, tolerance=...)`, `Choice(reference)`, ...: what a value must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llm_gen.text import _
from solutions.vocabulary.checks import Counterexample
from solutions.vocabulary.compare import kind_of

UNFILLED = (None, Ellipsis)
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Entry:
    """One place of an answer and what stands there. place: keys and entry numbers from 1, () for a single value."""

    place: Place
    expected: Any
    got: Any
    right: bool

    @property
    def filled(self) -> bool:
        return not any(self.got is blank for blank in UNFILLED)


class ValueCheck:
    """A value is right if it equals what `reference()` computes; each entry of it counts on its own."""

    def __init__(self, reference: Callable[[], Any], tolerance: float = 0.0) -> None:
        self.reference, self.tolerance = reference, tolerance

    @cached_property
    def value(self) -> Any:
        return self.reference()

    def entries(self, value: Any) -> list[Entry]:
        """Each entry of `value` beside the right one. ValueError if it has not the form that is asked for."""
        pairs = self.pairs(self.value, value, ())
        return [Entry(place, expected, got, self.equal(expected, got)) for place, expected, got in pairs]

    def pairs(self, expected: Any, got: Any, place: Place) -> Iterator[tuple[Place, Any, Any]]:
        """Nested dicts and lists side by side, down to single entries."""
        if any(got is blank for blank in UNFILLED):
            yield from ((place, right, ...) for place, right, _same in self.pairs(expected, expected, place))
            return
        if isinstance(expected, (list, dict)):
            inner = _children(expected, got, place)
            yield from (pair for step in inner for pair in self.pairs(*step))
            return
        yield place, expected, got

    def equal(self, expected: Any, got: Any) -> bool:
        """Whole numbers exactly (7.0 is 7), floats within the tolerance, sets in any order, texts in any case."""
        if isinstance(expected, str):
            return tidy(expected) == tidy(got)
        if isinstance(expected, float):
            return type(got) in (int, float) and (abs(expected - got) <= self.tolerance or expected == got)
        if isinstance(expected, set):
            return isinstance(got, (list, tuple, set)) and expected == {_hashable(item) for item in got}
        if type(expected) is int:
            return type(got) in (int, float) and expected == got
        return type(expected) is type(got) and expected == got

    def __call__(self, value: Any) -> None:
        """Raise `Counterexample` naming the first entry that is wrong."""
        wrong = [entry for entry in self.entries(value) if not entry.right]
        if wrong:
            raise Counterexample(_("not right: {place}").format(place=in_words(wrong[0].place) or _("the answer")))


class Numbers(ValueCheck):
    """A number, list or table of numbers; `tolerance` is absolute and stated in the task. Whole numbers are exact, and
    7.0 is one: it is the number that counts and not how Python came by it. A bool is none."""


class Choice(ValueCheck):
    """Letters of options: one for each key of a dict, or one text, or a list of all that fit, in any order."""

    def pairs(self, expected: Any, got: Any, place: Place) -> Iterator[tuple[Place, Any, Any]]:
        if isinstance(expected, list):
            yield place, set(expected), got
        else:
            yield from super().pairs(expected, got, place)

    def equal(self, expected: Any, got: Any) -> bool:
        """A capital letter, or a blank or bracket beside it, makes no difference."""
        if isinstance(got, (list, tuple, set)):
            return super().equal(expected, [tidy(item) for item in got])
        return super().equal(expected, tidy(got))


class Order(ValueCheck):
    """A list in the right order, such as ["b", "a", "c"]."""


class Prediction(Numbers):
    """A value guessed before running: once an attempt is made, right or wrong, the result is shown."""


def _hashable(item: Any) -> Any:
    return repr(item) if isinstance(item, (list, dict, set, bool)) else item


def tidy(letter: Any) -> Any:
    """A text without capitals, and without what stands around a letter, as in " A) "."""
    return letter.strip(" \t\n.:()").lower() if isinstance(letter, str) else letter


def in_words(place: Place) -> str:
    """`to 0, entry 2`."""
    return ", ".join(_("entry {n}").format(n=part) if isinstance(part, int) else part for part in place)


def _children(expected: Any, got: Any, place: Place) -> Iterator[tuple[Any, Any, Place]]:
    """(expected, got, place) for each item of a list or dict; ValueError if the two are not alike."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or set(got) != set(expected):
            raise ValueError(_at(place, _keys_differ(expected, got)))
        yield from ((expected[key], got[key], (*place, str(key))) for key in expected)
        return
    if not isinstance(got, (list, tuple)):
        raise ValueError(_at(place, _("a list is asked for, {kind} came").format(kind=kind_of(got))))
    if len(got) != len(expected):
        raise ValueError(_at(place, _("{n} entries are asked for, {m} came").format(n=len(expected), m=len(got))))
    yield from ((right, own, (*place, i + 1)) for i, (right, own) in enumerate(zip(expected, got)))


def _keys_differ(expected: dict, got: Any) -> str:
    if not isinstance(got, dict):
        keys = ", ".join(map(repr, expected))
        return _("a dict with the keys {keys} is asked for, {kind} came").format(keys=keys, kind=kind_of(got))
    missing = ", ".join(repr(key) for key in expected if key not in got)
    unasked = ", ".join(repr(key)[:40] for key in got if key not in expected)[:200]
    texts = [_("keys that are asked for and missing: {keys}").format(keys=missing)] if missing else []
    texts += [_("keys that are not asked for: {keys}").format(keys=unasked)] if unasked else []
    return "; ".join(texts)


def _at(place: Place, text: str) -> str:
    return _("in {place!r}: {text}").format(place=in_words(place), text=text) if place else text
