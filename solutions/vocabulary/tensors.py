"""Kinds of tensor argument: each knows its awkward values, ordinary ones, and how to make one smaller.

A kind is written with one letter per axis, `Logits("B", "V")`; a check chooses the size of each letter, the same for
all its arguments. The letter "*" stands for no, one or two leading axes. Numbers are short fractions of a power of
two where they can be, so that sums are exact and a boundary that looks exact is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

import torch
from torch import Tensor

from solutions.vocabulary.kinds import Kind, Maker, Sizes


class TensorKind(Kind):
    """A tensor of floats, filled entry by entry."""

    dtype = torch.float32

    def __init__(self, *letters: str, without: tuple[str, ...] = ()) -> None:
        self.letters, self.without = letters, without

    def axes(self, sizes: Sizes) -> tuple[str, ...]:
        """The letters with "*" written out, such as ("*0", "*1", "V")."""
        stars = tuple(f"*{i}" for i in range(sizes.get("*", 1)))
        return tuple(axis for letter in self.letters for axis in (stars if letter == "*" else (letter,)))

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

    def drop(self, value: Tensor, axis: int, index: int) -> Tensor:
        """The tensor without one index of one axis."""
        kept = [i for i in range(value.shape[axis]) if i != index]
        return value.index_select(axis, torch.tensor(kept, dtype=torch.long))

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

    def simpler(self, value: Tensor) -> Iterator[Tensor]:
        """All equal where that is exact, else halves, quarters and so on."""
        length = value.shape[-1]
        halves = torch.tensor([0.5 ** min(i + 1, length - 1) for i in range(length)], dtype=value.dtype)
        equal = torch.full_like(halves, 1 / length) if length in (2, 4, 8) else halves
        for plain in (equal, halves):
            if torch.equal(value, plain.expand(value.shape)):
                return
            yield plain.expand(value.shape).clone()


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
