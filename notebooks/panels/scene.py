"""A picture as a list of marks, independent of who draws it: `svg` for the live view, `png` for the saved one.

Coordinates are CSS pixels, y grows downwards. Colours are roles of `theme`, so the reader's theme decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    stroke: str | None = None
    line: float = 1


@dataclass(frozen=True, slots=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str = "rule"
    width: float = 1
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Polyline:
    points: Sequence[tuple[float, float]]
    stroke: str = "blue"
    width: float = 2
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """`anchor` (start, middle, end) is the point at (x, y), on the baseline; `turn` is in degrees, clockwise."""

    x: float
    y: float
    text: str
    size: float = 12
    fill: str = "ink"
    anchor: str = "start"
    bold: bool = False
    mono: bool = False
    turn: float = 0


@dataclass(frozen=True, slots=True)
class Image:
    """A heat map: `values` is a row-major grid of numbers in [0, 1], drawn from dark blue to yellow (cividis)."""

    x: float
    y: float
    width: float
    height: float
    values: Any


Mark = Rect | Line | Polyline | Text | Image


MARGIN = 10


@dataclass
class Scene:
    """A picture of fixed size; `label` says in words what it shows, for people who do not see it.

    A margin of `MARGIN` surrounds it, so that marks may start at 0 and end at `width`.
    """

    width: float
    height: float
    label: str = ""
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        self.marks.extend(marks)

    def add_at(self, x: float, y: float, marks: Iterable[Mark]) -> None:
        """Add marks whose own origin lies at (x, y)."""
        self.marks.extend(moved(mark, x, y) for mark in marks)


def beside(scenes: Sequence[Scene], gap: float = 0) -> Scene:
    """The scenes in one row, tops aligned; the label joins theirs."""
    width = sum(scene.width for scene in scenes) + gap * (len(scenes) - 1)
    row = Scene(width, max(scene.height for scene in scenes), "; ".join(scene.label for scene in scenes))
    left = 0.0
    for scene in scenes:
        row.add_at(left, 0, scene.marks)
        left += scene.width + gap
    return row


def moved(mark: Mark, dx: float, dy: float) -> Mark:
    """The same mark, shifted."""
    kind = type(mark)
    x, *rest = _VALUES_OF[kind](mark)
    if kind is Polyline:
        return Polyline([(x + dx, y + dy) for x, y in mark.points], *rest)
    y, *rest = rest
    if kind is Line:
        x2, y2, *rest = rest
        return Line(x + dx, y + dy, x2 + dx, y2 + dy, *rest)
    return kind(x + dx, y + dy, *rest)


# Several times as fast as `dataclasses.replace`, and a picture has some hundred marks.
_VALUES_OF = {kind: attrgetter(*kind.__slots__) for kind in (Rect, Line, Polyline, Text, Image)}
