"""One column a token: bars before and after the settings, and the cut between what stays and what goes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llm_gen.text import _
from notebooks.panels.chart import Plot, column_labels, cross, others_label
from notebooks.panels.context import Context
from notebooks.panels.reshaping import Reshaped, Tally
from notebooks.panels.scene import Line, Mark, Text
from notebooks.panels.words import percent

GAP = 18
WIDEST_COLUMN, WIDEST_BAR = 220, 100
BLUE_PART = 0.64


@dataclass(frozen=True)
class Column:
    """A token, or all the tokens that have no column of their own (`others` of them).

    x, room: the middle and the width. own, sampled: shares of the model and after the settings. hits: how often
    it was drawn, None without draws. kept: the part of the column, from the left, that can be drawn, 0 or 1 for
    a single token.
    """

    x: float
    room: float
    label: str
    own: float
    sampled: float
    hits: int | None
    kept: float
    others: int = 0

    @property
    def bar(self) -> float:
        """The width of the grey bar."""
        return min(self.room * 0.86, WIDEST_BAR)

    def inside(self, part: float) -> float:
        """The place at a part, 0 to 1, of the blue bar, which is narrower than the grey one behind it."""
        return self.x + (part - 0.5) * self.bar * BLUE_PART


def make_columns(
    context: Context, shape: Reshaped, drawn: Tally | None, plot: Plot, shown: int, rest: float
) -> list[Column]:
    """The likeliest `shown` tokens, then one column of width `rest` for all the others, if there are any."""
    size = len(context.labels)
    others = max(size - shown, 0)
    shown = size - others
    room = min((plot.width - (rest + GAP if others else 0)) / shown, WIDEST_COLUMN)
    own, sampled = context.own[:shown].tolist(), shape.sampled[:shown].tolist()
    hits = drawn.hits[:shown].tolist() if drawn else [None] * shown
    columns = [
        Column(
            plot.left + (rank + 0.5) * room,
            room,
            label,
            own[rank],
            sampled[rank],
            hits[rank],
            rank < shape.kept,
        )
        for rank, label in enumerate(context.top_labels(shown))
    ]
    return columns + ([_rest(context, shape, drawn, plot, shown, rest)] if others else [])


def _rest(
    context: Context, shape: Reshaped, drawn: Tally | None, plot: Plot, shown: int, width: float
) -> Column:
    size, tail = len(context.labels), slice(shown, None)
    # Thousands of ranks share one column: on a logarithmic scale the first of them still have some width.
    kept = math.log(max(shape.kept, shown) / shown) / math.log(size / shown)
    own, sampled = float(context.own[tail].sum()), float(shape.sampled[tail].sum())
    hits = int(drawn.hits[tail].sum()) if drawn else None
    return Column(plot.right - width / 2, width, "", own, sampled, hits, kept, size - shown)


def draw_bars(columns: Sequence[Column], plot: Plot) -> Iterator[Mark]:
    """Grey the model's own, wide; blue what is sampled, in front; a line across at the share that was drawn."""
    draws = sum(column.hits or 0 for column in columns)
    for column in columns:
        left, start = column.x - column.bar / 2, column.inside(0)
        yield plot.bar(left, column.bar, column.own, "grey")
        if column.kept:
            yield plot.bar(start, column.inside(column.kept) - start, column.sampled, "blue")
        if column.hits:
            y = plot.y(column.hits / draws)
            yield Line(left, y, left + column.bar, y, "purple", 3)
        if column.kept < 1:
            yield from cross(column.inside((1 + column.kept) / 2), plot.y(column.own) - 8)
    yield Line(plot.left, plot.bottom, plot.right, plot.bottom, "ink")


def draw_cut(columns: Sequence[Column], cause: str | None, plot: Plot) -> Iterator[Mark]:
    """The dashed line between what stays and what goes, with its cause; nothing without one."""
    if cause is None:
        return
    last = [column for column in columns if column.kept][-1]
    x = last.x + last.room / 2 if last.kept == 1 else last.inside(last.kept)
    yield Line(x, plot.top - 14, x, plot.bottom, "orange", 2, dashed=True)
    side, anchor = (-6, "end") if x > plot.right - 90 else (6, "start")
    yield Text(x + side, plot.top - 5, cause, 12, "orange", anchor, bold=True)


def draw_numbers(columns: Sequence[Column], plot: Plot) -> Iterator[Mark]:
    """Two rows under the bars: the exact share, and how often each token was drawn."""
    exact, drawn = plot.bottom + 16, plot.bottom + 31
    yield Text(plot.left - 8, exact, _("exact %"), 11, "muted", "end")
    if columns[0].hits is not None:
        yield Text(plot.left - 8, drawn, _("drawn"), 11, "muted", "end")
    for column in columns:
        size = 10 if column.room < 40 else 12
        if column.kept:
            share = percent(column.sampled).removesuffix("%")
            wide = size == 10 and (share.startswith("<") or len(share) > 4)
            yield Text(column.x, exact, share, 8.5 if wide else size, anchor="middle")
        if column.hits is not None:
            size = 8.5 if column.hits >= 1000 and size == 10 else size
            colour = "ink" if column.hits else "muted"
            yield Text(column.x, drawn, str(column.hits), size, colour, "middle", bold=column.hits > 0)


def draw_labels(columns: Sequence[Column], y: float) -> Iterator[Mark]:
    """The tokens under their columns."""
    tokens = [(column.x, column.label) for column in columns if not column.others]
    yield from column_labels(tokens, y, columns[0].room)
    for column in columns:
        if column.others:
            yield from others_label(column.x, y, column.others)
