"""A distribution as stairs: each token a block from the mass before it up to the mass with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from llm_gen.text import _
from notebooks.panels.chart import Plot, column_labels, cross, others_label
from notebooks.panels.context import Context
from notebooks.panels.reshaping import reshaped
from notebooks.panels.scene import Line, Mark, Rect, Text
from notebooks.panels.words import percent, two_decimals


@dataclass(frozen=True)
class Nucleus:
    """What top_p keeps, and what `cumsum <= top_p` would keep. before, after: masses (V,), likeliest first."""

    context: Context
    p: float
    before: Tensor
    after: Tensor
    kept: int
    wrong: int

    @property
    def crossing(self) -> int:
        """The rank of the last token that stays, with which the mass reaches the line."""
        return self.kept - 1

    def mass(self, kept: int) -> float:
        return float(self.after[kept - 1]) if kept else 0.0


def find_nucleus(context: Context, tau: float, p: float) -> Nucleus:
    """What stays is what `filter_logits` keeps; the wrong rule is spelled out here and nowhere else."""
    shape = reshaped(context, tau, p=p)
    after = shape.heated.cumsum(dim=-1).clamp(max=1)
    wrong = shape.kept if p >= 1 else int((after.float() <= p).sum())
    before = torch.cat([after.new_zeros(1), after[:-1]])
    return Nucleus(context, p, before, after, shape.kept, wrong)


@dataclass(frozen=True)
class Staircase:
    """Where the blocks go: `shown` columns of width `room`, then one of width `rest` for all others."""

    plot: Plot
    size: int
    limit: int
    rest: float

    GAP = 14

    @property
    def shown(self) -> int:
        return min(self.limit, self.size)

    @property
    def room(self) -> float:
        rest = self.rest + self.GAP if self.size > self.shown else 0
        return min((self.plot.width - rest) / self.shown, 200)

    def left(self, rank: int) -> float:
        return self.plot.right - self.rest if rank >= self.shown else self.plot.left + rank * self.room

    def tokens(self, context: Context) -> list[tuple[float, str]]:
        """The middle of each column and its token."""
        labels = context.top_labels(self.shown)
        return [(self.left(rank) + self.room / 2, label) for rank, label in enumerate(labels)]

    def edge(self, kept: int) -> float:
        """The right edge of the first `kept` tokens; among the others on a logarithmic scale of ranks."""
        if kept <= self.shown:
            return self.left(0) + kept * self.room
        return self.left(kept) + self.rest * math.log(kept / self.shown) / math.log(self.size / self.shown)


def draw_blocks(found: Nucleus, stairs: Staircase) -> Iterator[Mark]:
    plot, room = stairs.plot, stairs.room
    before, after = (masses[: stairs.shown].tolist() for masses in (found.before, found.after))
    for rank in range(stairs.shown):
        x, top = stairs.left(rank), plot.y(after[rank])
        stays = rank < found.kept
        fill = "green" if rank == found.crossing else "blue" if stays else "grey"
        yield _block(x + room * 0.05, room * 0.9, plot, before[rank], after[rank], fill)
        if not stays:
            yield from cross(x + room / 2, top - 8)
    if stairs.size > stairs.shown:
        yield from _rest(found, stairs)
    yield Line(plot.left, plot.bottom, plot.right, plot.bottom, "ink")


def _rest(found: Nucleus, stairs: Staircase) -> Iterator[Mark]:
    """All the other tokens as one block, cut where the nucleus ends inside it."""
    x, start = stairs.left(stairs.shown), float(found.before[stairs.shown])
    end = max(found.mass(found.kept), start)
    yield _block(x, stairs.rest, stairs.plot, end, 1, "grey")
    if found.kept > stairs.shown:
        yield _block(x, stairs.rest, stairs.plot, start, end, "blue")
        yield Line(x, stairs.plot.y(end), x + stairs.rest, stairs.plot.y(end), "green", 3)
    if found.kept < stairs.size:
        yield from cross(x + stairs.rest / 2, stairs.plot.y(1) - 8)


def _block(x: float, width: float, plot: Plot, low: float, high: float, fill: str) -> Rect:
    # A block stays visible when its mass is less than a pixel.
    return Rect(x, plot.y(high), width, max(plot.y(low) - plot.y(high), 1.5), fill)


def draw_threshold(found: Nucleus, stairs: Staircase) -> Iterator[Mark]:
    """The line top_p, and the token that crosses it: it starts below and ends above, and it stays."""
    plot, y = stairs.plot, stairs.plot.y(found.p)
    yield Line(plot.left, y, plot.right + 6, y, "orange", 2, dashed=True)
    yield Text(plot.right + 10, y + 4, f"p = {two_decimals(found.p)}", 12, "orange", bold=True)
    if found.kept < stairs.shown and found.p < 1:
        words = _("crosses, stays")
        # Left of a block all is free above it, right of it all below.
        if found.crossing * stairs.room > 110:
            yield Text(stairs.left(found.crossing) - 6, y - 7, words, 12, "green", "end", bold=True)
        else:
            yield Text(
                stairs.edge(found.kept) + 6, min(y + 17, plot.bottom - 6), words, 12, "green", bold=True
            )


def draw_spans(found: Nucleus, stairs: Staircase, y: float) -> Iterator[Mark]:
    """How far each rule reaches: the right one as a line, the wrong one dashed under it."""
    left, right = stairs.plot.left, stairs.plot.right
    rows = [(_("stays"), found.kept, "blue", False), (_("wrong rule"), found.wrong, "purple", True)]
    for row, (name, kept, stroke, dashed) in enumerate(rows):
        middle = y + 15 * row
        yield Text(left - 8, middle + 4, name, 11, "muted", "end")
        if kept:
            yield Line(left, middle, stairs.edge(kept), middle, stroke, 4, dashed)
        yield Text(right + 10, middle + 4, f"{kept:,}", 12, bold=True)


def draw_masses(found: Nucleus, stairs: Staircase, y: float) -> Iterator[Mark]:
    yield Text(stairs.plot.left - 8, y, _("before %"), 11, "muted", "end")
    ranks = range(min(stairs.shown + 1, stairs.size))
    for rank, mass in zip(ranks, found.before[: len(ranks)].tolist()):
        x = stairs.left(rank) + (stairs.room if rank < stairs.shown else stairs.rest) / 2
        size = 10 if stairs.room < 40 else 12
        yield Text(x, y, percent(mass).removesuffix("%"), size, anchor="middle", bold=rank < found.kept)


def draw_labels(found: Nucleus, stairs: Staircase, y: float) -> Iterator[Mark]:
    yield from column_labels(stairs.tokens(found.context), y, stairs.room)
    if others := stairs.size - stairs.shown:
        yield from others_label(stairs.plot.right - stairs.rest / 2, y, others)
