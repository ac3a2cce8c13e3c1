"""What the panels' pictures have in common: headings, axes in per cent, tokens under their columns, legends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_gen.text import _
from notebooks.panels.context import Context, visible_prompt
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text, beside
from notebooks.panels.words import shortened

WIDTH = 940
STILL_WIDTH, STILL_GAP = 300, 20
KEY_GAP = 16
DECADES = 6


@dataclass(frozen=True)
class Plot:
    """The rectangle in which shares become heights; `log` shows the share from 10^-6 to 1 by its decades."""

    left: float
    top: float
    width: float
    height: float
    log: bool = False

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def right(self) -> float:
        return self.left + self.width

    def y(self, share: float) -> float:
        """The height of a share in [0, 1]; on the log scale all that is below 10^-6 lies on the floor."""
        if self.log:
            share = 1 + math.log10(share) / DECADES if share > 10.0**-DECADES else 0
        return self.bottom - min(share, 1) * self.height

    def bar(self, x: float, width: float, share: float, fill: str) -> Rect:
        top = self.y(share)
        return Rect(x, top, width, self.bottom - top, fill)

    def axis(self, gap: float = 8) -> list[Mark]:
        """Grid lines with their shares written on the left, `gap` away."""
        ticks = [10.0**-n for n in range(0, DECADES + 1, 2)] if self.log else [0, 0.25, 0.5, 0.75, 1]
        marks: list[Mark] = []
        for share in ticks:
            y = self.y(share)
            marks.append(Line(self.left, y, self.right, y))
            marks.append(Text(self.left - gap, y + 4, f"{share * 100:g}%", 11, "muted", "end"))
        return marks


def new_scene(context: Context, height: float, summary: str) -> Scene:
    """An empty picture of a panel; read aloud it says the context and the summary line."""
    return Scene(WIDTH, height, f"{visible_prompt(context.prompt) or context.name}: {summary}")


def heading(context: Context, width: float = WIDTH, size: float = 15) -> list[Mark]:
    """The prompt with a gap where the next token goes, or the name of a handmade context."""
    if not context.prompt:
        return [Text(0, size, context.name, size, bold=True)]
    room = int(width / (size * 0.62)) - 2
    prompt = visible_prompt(context.prompt)
    shown = prompt if len(prompt) <= room else "\u2026" + prompt[1 - room :]
    return [Text(0, size, f"{shown} \u2581\u2581", size, mono=True)]


def figures(pairs: Sequence[tuple[str, str]], top: float, widths: Sequence[float]) -> list[Mark]:
    """Numbers that the reader watches: a small name above each large value, in columns of the given widths."""
    marks: list[Mark] = []
    x = 0.0
    for (name, value), width in zip(pairs, widths):
        marks += [Text(x, top + 10, name, 11, "muted"), Text(x, top + 30, value, 17, bold=True)]
        x += width
    return marks


Key = tuple[str, Callable[[float, float], list[Mark]]]


def legend(keys: Sequence[Key], right: float, y: float) -> list[Mark]:
    """Keys in one line that ends at `right`, `y` being its baseline; each is words and a mark 18 wide, 10 high."""
    marks: list[Mark] = []
    x = right - legend_width(keys)
    for words, swatch in keys:
        marks += [*swatch(x, y), Text(x + 24, y, words, 11, "muted")]
        x += _key_width(words) + KEY_GAP
    return marks


def legend_width(keys: Sequence[Key]) -> float:
    return sum(_key_width(words) + KEY_GAP for words, _swatch in keys) - KEY_GAP


def row_of_stills(context: Context, keys: Sequence[Key], tiles: Sequence[Scene]) -> Scene:
    """The saved picture of a panel: some settings of one context side by side, under its prompt and the legend."""
    row = beside(tiles, STILL_GAP)
    scene = Scene(row.width, row.height + 34, row.label)
    scene.add(*heading(context, row.width - legend_width(keys) - KEY_GAP))
    scene.add(*legend(keys, row.width, 14))
    scene.add_at(0, 34, row.marks)
    return scene


def _key_width(words: str) -> float:
    return 24 + 6.3 * len(words)


def box_key(fill: str) -> Callable[[float, float], list[Mark]]:
    return lambda x, y: [Rect(x + 2, y - 9, 16, 10, fill)]


def line_key(stroke: str, width: float = 2, dashed: bool = False) -> Callable[[float, float], list[Mark]]:
    return lambda x, y: [Line(x, y - 4, x + 18, y - 4, stroke, width, dashed)]


def cross(x: float, y: float, arm: float = 3.5) -> list[Mark]:
    """The sign of what is thrown away, centred on (x, y)."""
    return [
        Line(x - arm, y - arm, x + arm, y + arm, "orange", 1.8),
        Line(x - arm, y + arm, x + arm, y - arm, "orange", 1.8),
    ]


def cross_key(x: float, y: float) -> list[Mark]:
    return cross(x + 12, y - 4)


def others_label(x: float, y: float, others: int) -> list[Mark]:
    """How many tokens the last, wide column stands for."""
    return [
        Text(x, y + 13, f"{others:,}", 12, anchor="middle", bold=True),
        Text(x, y + 28, _("other tokens"), 11, "muted", "middle"),
    ]


def column_labels(labels: Sequence[tuple[float, str]], y: float, room: float) -> list[Mark]:
    """Tokens under the middles of their columns: level if all fit, else all slanted so that none touch."""
    if max(len(label) for _x, label in labels) * 7.4 <= room:
        return [Text(x, y + 12, label, 12, anchor="middle", mono=True) for x, label in labels]
    return [
        Text(x + 4, y + 10, shortened(label, 11), 12, anchor="end", mono=True, turn=-48)
        for x, label in labels
    ]
