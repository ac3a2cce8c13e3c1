"""Kinds of argument that are no tensors: one of some values, a whole number, a list. And what every kind can do.

Each kind knows its awkward values, ordinary ones, and how to make one simpler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from solutions.vocabulary.outcome import identical

Sizes = dict[str, int]
Maker = Callable[[Random, Sizes], Any]


class Kind:
    """One argument. `letters`: its axes; () for what is not a tensor."""

    letters: tuple[str, ...] = ()

    def plain(self, rng: Random, sizes: Sizes) -> Any:
        """An ordinary value."""
        raise NotImplementedError

    def specials(self) -> dict[str, Maker]:
        """Awkward values: what is special about each, and how it is made."""
        return {}

    def simpler(self, value: Any) -> Iterator[Any]:
        """Values of the same shape that are easier to read, the simplest first."""
        return iter(())


class OneOf(Kind):
    """One of the given values, the simplest first. A value may be a function of the sizes: `lambda s: s["V"]`."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def _value(self, value: Any, sizes: Sizes) -> Any:
        return value(sizes) if callable(value) else value

    def plain(self, rng: Random, sizes: Sizes) -> Any:
        return self._value(rng.choice(self.values), sizes)

    def specials(self) -> dict[str, Maker]:
        return {
            f"value {i + 1}": lambda rng, sizes, v=value: self._value(v, sizes) for i, value in enumerate(self.values)
        }

    def simpler(self, value: Any) -> Iterator[Any]:
        fixed = [v for v in self.values if not callable(v)]
        known = [i for i, v in enumerate(fixed) if identical(v, value)]
        return iter(fixed[: known[0]] if known else fixed)


class Whole(Kind):
    """A whole number in low..high; both ends are tried."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def plain(self, rng: Random, sizes: Sizes) -> int:
        return rng.randint(self.low, self.high)

    def specials(self) -> dict[str, Maker]:
        ends = (self.low, self.low + 1, self.high)
        return {str(end): lambda rng, sizes, end=end: end for end in ends if end <= self.high}

    def simpler(self, value: int) -> Iterator[int]:
        for smaller in (self.low, (self.low + value) // 2, value - 1):
            if self.low <= smaller < value:
                yield smaller


class ListOf(Kind):
    """A list of values of another kind, `least` to `most` of them; also repeats."""

    def __init__(self, item: Kind, least: int = 0, most: int = 4) -> None:
        self.item, self.least, self.most = item, least, most

    def _list(self, rng: Random, sizes: Sizes, length: int) -> list:
        return [self.item.plain(rng, sizes) for _ in range(length)]

    def plain(self, rng: Random, sizes: Sizes) -> list:
        return self._list(rng, sizes, rng.randint(self.least, self.most))

    def specials(self) -> dict[str, Maker]:
        return {
            "shortest list": lambda rng, sizes: self._list(rng, sizes, self.least),
            "longest list": lambda rng, sizes: self._list(rng, sizes, self.most),
            "repeats": lambda rng, sizes: [self.item.plain(rng, sizes)] * max(self.least, min(3, self.most)),
        }

    def simpler(self, value: list) -> Iterator[list]:
        for i in range(len(value)):
            if len(value) > self.least:
                yield value[:i] + value[i + 1 :]
        for i, item in enumerate(value):
            for new in self.item.simpler(item):
                yield [*value[:i], new, *value[i + 1 :]]
