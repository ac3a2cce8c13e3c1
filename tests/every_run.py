"""The exact law of a random program: every run that its dice allow, each with its probability.

`law(program)` runs `program` once for each way in which `torch.rand(())` and `torch.multinomial(probs, 1)` can fall.
A uniform is never given a number: all that may be asked of it is `uniform * q >= p`, which holds with probability
max(0, 1 - p / q). Nothing is sampled and nothing is rounded but by float64.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from unittest import mock

import torch
from torch import Tensor


def law(program: Callable[[], Hashable]) -> dict[Hashable, float]:
    """The probability of each value that `program` can give."""
    found: dict[Hashable, float] = {}
    script: list[int] = []
    while True:
        dice = _Dice(script)
        with mock.patch.object(torch, "rand", dice.rand), mock.patch.object(torch, "multinomial", dice.multinomial):
            value = program()
        found[value] = found.get(value, 0.0) + dice.chance
        while dice.thrown and not dice.thrown[-1][1]:
            dice.thrown.pop()
        if not dice.thrown:
            return found
        # The next run does as this one, up to the last throw that can still fall another way.
        script = [face for face, _others in dice.thrown[:-1]] + [dice.thrown[-1][1][0]]


class _Dice:
    """Falls as the script says, then always on the first face that can be."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.chance = script, 1.0
        self.thrown: list[tuple[int, list[int]]] = []  # the face, and the possible ones after it

    def throw(self, chances: list[float]) -> int:
        possible = [face for face, chance in enumerate(chances) if chance > 0]
        place = len(self.thrown)
        face = self.script[place] if place < len(self.script) else possible[0]
        self.thrown.append((face, [other for other in possible if other > face]))
        self.chance *= chances[face]
        return face

    def rand(self, size: tuple, **_kind: object) -> _Uniform:
        assert size == ()
        return _Uniform(self)

    def multinomial(self, probs: Tensor, count: int, generator: object = None) -> Tensor:
        assert count == 1
        rows = probs if probs.ndim == 2 else probs[None]
        faces = torch.tensor([[self.throw((row / row.sum()).tolist())] for row in rows])
        return faces if probs.ndim == 2 else faces[0]


class _Uniform:
    """A number in [0, 1) that nobody has looked at yet."""

    def __init__(self, dice: _Dice, factor: float = 1.0) -> None:
        self.dice, self.factor = dice, factor

    def __mul__(self, factor: Tensor) -> _Uniform:
        return _Uniform(self.dice, self.factor * float(factor))

    def __ge__(self, threshold: Tensor) -> bool:
        above = max(0.0, 1 - float(threshold) / self.factor)
        return bool(self.dice.throw([1 - above, above]))
