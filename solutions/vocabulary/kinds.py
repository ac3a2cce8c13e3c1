"""Kinds of argument: each knows its awkward values, ordinary ones, and how to make one smaller.

A tensor kind is written with one letter per axis, `Logits("B", "V")`; a check chooses the size of each
letter, the same for all its arguments. The letter "*" stands for no, one or two leading axes. Numbers are
short fractions of a power of two where they can be, so that sums are exact and a boundary that looks exact is
exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Any

import torch
from torch import Tensor

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

    def drop(self, value: Any, axis: int, index: int) -> Any:
        """The tensor without one index of one axis."""
        kept = [i for i in range(value.shape[axis]) if i != index]
        return value.index_select(axis, torch.tensor(kept, dtype=torch.long))

    def axes(self, sizes: Sizes) -> tuple[str, ...]:
        """The letters with "*" written out, such as ("*0", "*1", "V")."""
        stars = tuple(f"*{i}" for i in range(sizes.get("*", 1)))
        return tuple(axis for letter in self.letters for axis in (stars if letter == "*" else (letter,)))


class TensorKind(Kind):
    """A tensor of floats, filled entry by entry."""

    dtype = torch.float32

    def __init__(self, *letters: str, without: tuple[str, ...] = ()) -> None:
        self.letters, self.without = letters, without

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(sizes[axis] for axis in self.axes(sizes))

    def rows(self, row: Callable[[int], list], sizes: Sizes) -> Tensor:
        """A tensor whose last axis is made by `row(length)`, again for every leading index."""
        *leading, length = self.shape(sizes)
        count = 1
        for size in leading:
            count *= size
        entries = [row(length) for _ in range(count)]
        return torch.tensor(entries, dtype=self.dtype).reshape(*leading, length)

    def specials(self) -> dict[str, Maker]:
        made = {name: self._by_rows(row) for name, row in self.special_rows().items()}
        made |= {"float64": self._double, "not contiguous": self._strided} if self.dtype.is_floating_point else {}
        return {name: maker for name, maker in made.items() if name not in self.without}

    def special_rows(self) -> dict[str, Callable[[Random, int], list]]:
        """Awkward rows: name -> row(rng, length)."""
        return {}

    def _by_rows(self, row: Callable[[Random, int], list]) -> Maker:
        return lambda rng, sizes: self.rows(lambda length: row(rng, length), sizes)

    def _double(self, rng: Random, sizes: Sizes) -> Tensor:
        return self.plain(rng, sizes).double()

    def _strided(self, rng: Random, sizes: Sizes) -> Tensor:
        return strided(self.plain(rng, sizes))


def strided(tensor: Tensor) -> Tensor:
    """The same values laid out with first and last axis swapped in memory: not contiguous."""
    return tensor.transpose(0, -1).contiguous().transpose(0, -1) if tensor.ndim > 1 else tensor


class Reals(TensorKind):
    """Any finite floats: queries, keys, values, log-probs. Quarters between -4 and 4."""

    def plain(self, rng: Random, sizes: Sizes) -> Tensor:
        return self.rows(lambda length: [rng.randint(-16, 16) / 4 for _ in range(length)], sizes)

    def special_rows(self) -> dict[str, Callable[[Random, int], list]]:
        return {
            "zeros": lambda rng, length: [0.0] * length,
            "all negative": lambda rng, length: [-rng.randint(1, 16) / 4 for _ in range(length)],
        }

    def simpler(self, value: Tensor) -> Iterator[Tensor]:
        flat = value.flatten()
        for i in range(min(len(flat), 16)):
            for new in (0.0, float(flat[i].round())):
                if flat[i].isfinite() and flat[i] != new and flat[i] != 0:
                    changed = flat.clone()
                    changed[i] = new
                    yield changed.reshape(value.shape)


class Logits(Reals):
    """Scores of tokens: also ties, all equal, -inf entries (never a whole row), +-1000, rows far apart."""

    def special_rows(self) -> dict[str, Callable[[Random, int], list]]:
        return super().special_rows() | {
            "ties": lambda rng, length: [float(rng.randint(0, 1)) for _ in range(length)],
            "all equal": lambda rng, length: [1.5] * length,
            "-inf entries": _some_at_minus_infinity,
            "near 1000": lambda rng, length: [1000.0 + rng.randint(-8, 8) / 4 for _ in range(length)],
            "+-1000": lambda rng, length: [rng.choice((-1000.0, 0.0, 1000.0)) for _ in range(length)],
            "rows far apart": _row_with_offset,
        }


def _some_at_minus_infinity(rng: Random, length: int) -> list:
    allowed = rng.randrange(length)
    return [rng.randint(-8, 8) / 4 if i == allowed or rng.random() < 0.5 else -torch.inf for i in range(length)]


def _row_with_offset(rng: Random, length: int) -> list:
    offset = rng.choice((-100.0, 0.0, 100.0, 500.0))
    return [offset + rng.randint(-8, 8) / 4 for _ in range(length)]


class Probs(TensorKind):
    """Distributions over the last axis: 32nds that sum to exactly 1, in any order."""

    def plain(self, rng: Random, sizes: Sizes) -> Tensor:
        return self.rows(lambda length: _parts_of_32(rng, length), sizes)

    def special_rows(self) -> dict[str, Callable[[Random, int], list]]:
        return {
            "all equal": lambda rng, length: [1 / length] * length,
            "ties": _halves,
            "one token is certain": _one_hot,
            "tokens of probability 0": lambda rng, length: _parts_of_32(rng, length, least=0),
            "likeliest first": lambda rng, length: sorted(_parts_of_32(rng, length), reverse=True),
            "likeliest last": lambda rng, length: sorted(_parts_of_32(rng, length)),
        }

    def drop(self, value: Tensor, axis: int, index: int) -> Tensor:
        """Without one token: its mass goes to a neighbour, so that the row still sums to 1."""
        smaller = super().drop(value, axis, index)
        if axis == value.ndim - 1 and value.shape[-1] > 1:
            smaller[..., max(index - 1, 0)] += value[..., index]
        return smaller


def _parts_of_32(rng: Random, length: int, least: int = 1) -> list[float]:
    least = least if length <= 32 else 0
    cuts = sorted(rng.randint(0, 32 - least * length) for _ in range(length - 1))
    edges = [0, *cuts, 32 - least * length]
    return [(high - low + least) / 32 for low, high in pairwise(edges)]


def _halves(rng: Random, length: int) -> list[float]:
    """1/2, 1/4, ... with the last two equal, shuffled; equal pairs make ties."""
    parts = [0.5 ** min(i + 1, length - 1) for i in range(length)]
    rng.shuffle(parts)
    return parts


def _one_hot(rng: Random, length: int) -> list[float]:
    certain = rng.randrange(length)
    return [float(i == certain) for i in range(length)]


class Uniforms(TensorKind):
    """Numbers in [0, 1) to draw with: 32nds, also 0 and the largest float32 below 1."""

    def plain(self, rng: Random, sizes: Sizes) -> Tensor:
        return self.rows(lambda length: [rng.randrange(32) / 32 for _ in range(length)], sizes)

    def special_rows(self) -> dict[str, Callable[[Random, int], list]]:
        return {
            "0": lambda rng, length: [0.0] * length,
            "just below 1": lambda rng, length: [1 - 2**-24] * length,
        }


class Ids(TensorKind):
    """Token ids (int64) in 0..below-1; `below` is a number or the letter of a size."""

    dtype = torch.int64

    def __init__(self, *letters: str, below: int | str) -> None:
        super().__init__(*letters)
        self.below = below

    def _row(self, rng: Random, sizes: Sizes, most: int | None = None) -> Callable[[int], list]:
        below = sizes[self.below] if isinstance(self.below, str) else self.below
        return lambda length: [rng.randrange(min(below, most or below)) for _ in range(length)]

    def plain(self, rng: Random, sizes: Sizes) -> Tensor:
        return self.rows(self._row(rng, sizes), sizes)

    def specials(self) -> dict[str, Maker]:
        return {
            "the same id everywhere": lambda rng, sizes: self.rows(self._row(rng, sizes, 1), sizes),
            "repeated ids": lambda rng, sizes: self.rows(self._row(rng, sizes, 2), sizes),
        }

    def simpler(self, value: Tensor) -> Iterator[Tensor]:
        flat = value.flatten()
        for i in range(min(len(flat), 16)):
            if flat[i] > 0:
                changed = flat.clone()
                changed[i] = 0
                yield changed.reshape(value.shape)


class Mask(TensorKind):
    """0 for padding on the left, 1 for text, at least one 1 a row; int64."""

    dtype = torch.int64

    def plain(self, rng: Random, sizes: Sizes) -> Tensor:
        return self.rows(lambda length: _padded(rng.randrange(length), length), sizes)

    def special_rows(self) -> dict[str, Callable[[Random, int], list]]:
        return {
            "no padding": lambda rng, length: _padded(0, length),
            "only the last is text": lambda rng, length: _padded(length - 1, length),
        }


def _padded(padding: int, length: int) -> list[int]:
    return [0] * padding + [1] * (length - padding)


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
