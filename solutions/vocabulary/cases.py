"""The inputs of a check: examples, awkward sizes, awkward values, ordinary ones. Always the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from torch import Tensor

from solutions.vocabulary.kinds import Kind, Sizes

Valid = Callable[..., bool]
BASIC, SHAPES, EDGES = "basic", "shapes", "edges"
RANDOM_CASES = 16
TRIES = 20


@dataclass(frozen=True)
class Case:
    """One input. group: "basic", "shapes" or "edges"; label: what is special about it."""

    args: tuple[Any, ...]
    group: str
    label: str = ""

    @property
    def size(self) -> int:
        """How much there is to read."""
        return sum(size_of(arg) for arg in self.args)


def size_of(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, (list, tuple)):
        return 1 + sum(map(size_of, value))
    return 1


@dataclass(frozen=True)
class Inputs:
    """How the arguments of one function are made. sizes: for a letter, the sizes it may take.

    seed: if given, as many further ordinary inputs are drawn from it.
    """

    kinds: Mapping[str, Kind]
    examples: tuple[tuple, ...] = ()
    valid: Valid | None = None
    sizes: Mapping[str, tuple[int, ...]] | None = None
    seed: str = ""

    def cases(self) -> list[Case]:
        """Examples first, then the others from small to large; none twice."""
        made = [case for make in (self._shapes, self._edges, self._random) for case in make()]
        found: dict[str, Case] = {}
        for case in [*(Case(args, BASIC, "example") for args in self.examples), *sorted(made, key=lambda c: c.size)]:
            found.setdefault(repr(case.args), case)
        return list(found.values())

    def is_valid(self, args: tuple) -> bool:
        return self.valid is None or bool(self.valid(*args))

    @property
    def letters(self) -> list[str]:
        return list(dict.fromkeys(letter for kind in self.kinds.values() for letter in kind.letters))

    def _shapes(self) -> Iterator[Case]:
        for label, sizes in self._awkward_sizes().items():
            yield from self._try(SHAPES, label, sizes)

    def _edges(self) -> Iterator[Case]:
        for name, kind in self.kinds.items():
            for label, maker in kind.specials().items():
                for turn in range(2):
                    yield from self._try(EDGES, f"{name}: {label}", None, {name: maker}, turn)
        # Of tensors that must have one dtype, none could be the only one in float64.
        doubles = {name: kind.specials().get("float64") for name, kind in self.kinds.items()}
        makers = {name: maker for name, maker in doubles.items() if maker}
        for turn in range(2 if len(makers) > 1 else 0):
            yield from self._try(EDGES, "all in float64", None, makers, turn)

    def _random(self) -> Iterator[Case]:
        for label in ("ordinary", f"ordinary, {self.seed}") if self.seed else ("ordinary",):
            for turn in range(RANDOM_CASES):
                yield from self._try(BASIC, label, None, {}, turn)

    def _try(
        self, group: str, label: str, sizes: Sizes | None, makers: Mapping[str, Any] | None = None, turn: int = 0
    ) -> Iterator[Case]:
        """One valid case of this description, if a few tries find one. The description is the seed."""
        rng = Random(f"{label} {turn}")
        for _ in range(TRIES):
            chosen = sizes or self._ordinary_sizes(rng)
            make = {name: (makers or {}).get(name, kind.plain) for name, kind in self.kinds.items()}
            args = tuple(maker(rng, chosen) for maker in make.values())
            if self.is_valid(args):
                yield Case(args, group, label)
                return

    def _ordinary_sizes(self, rng: Random) -> Sizes:
        return self._with_stars(
            {letter: rng.choice(self._allowed(letter)) for letter in self.letters}, rng.randint(0, 2)
        )

    def _awkward_sizes(self) -> dict[str, Sizes]:
        """All 1; all different, upwards and downwards; all equal; one letter 1 and the others not."""
        letters = [letter for letter in self.letters if letter != "*"]
        plans = {
            "sizes of 1": [1] * len(letters),
            "all sizes different": range(2, 2 + len(letters)),
            "all sizes different, downwards": range(len(letters) + 2, 2, -1),
            "equal sizes": [3] * len(letters),
        }
        for one in letters:
            plans[f"{one} is 1"] = [1 if letter == one else 3 + i for i, letter in enumerate(letters)]
        stars = range(3) if "*" in self.letters else range(1)
        return {
            f"{label} {star}": self._with_stars(
                {letter: self._nearest(letter, size) for letter, size in zip(letters, plan)}, star
            )
            for label, plan in plans.items()
            for star in stars
        }

    def _allowed(self, letter: str) -> tuple[int, ...]:
        return (self.sizes or {}).get(letter, (1, 2, 3, 4, 5))

    def _nearest(self, letter: str, size: int) -> int:
        return min(self._allowed(letter), key=lambda allowed: (abs(allowed - size), allowed))

    def _with_stars(self, sizes: Sizes, stars: int) -> Sizes:
        return sizes | {"*": stars, "*0": 2, "*1": 3} if "*" in self.letters else sizes
