"""Panel 2, the nucleus: the mass before each token against the line top_p, beside the rule often written instead."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llm_gen.text import _
from notebooks.panels.chart import (
    STILL_WIDTH,
    WIDTH,
    Plot,
    box_key,
    column_labels,
    cross,
    cross_key,
    figures,
    heading,
    legend,
    line_key,
    row_of_stills,
)
from notebooks.panels.context import Context
from notebooks.panels.controls import context_picker, pick_contexts, temperature_slider, top_p_slider
from notebooks.panels.panel import Panel
from notebooks.panels.reshaping import reshaped
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text
from notebooks.panels.words import percent, token_count

STILLS = ({"p": 0.5}, {"p": 0.9}, {"p": 0.9, "tau": 1.5})


def nucleus(*contexts: Context, p: float = 0.9, tau: float = 1.0, stills: Sequence[dict] = STILLS) -> Panel:
    """The panel "The nucleus" on the given contexts, or on a medium, a sure and an unsure stored one.

    Each token is a block from the mass before it up to the mass with it; it stays if it starts below the line.
    Controls: p, tau (0.1 to 3), context (a name). stills: as in `reshape`.
    """
    named = pick_contexts(contexts)
    controls = {
        "p": top_p_slider(p),
        "tau": temperature_slider(tau, greedy=False),
        "context": context_picker(named),
    }

    def draw(p, tau, context) -> tuple[Scene, str]:
        found = find_nucleus(named[context], tau, p)
        summary = ", ".join([context] * (len(named) > 1) + [_summary(found, tau)])
        return _picture(found, summary), summary

    def still() -> Scene:
        first, start = next(iter(named.values())), {"tau": tau, "p": p}
        tiles = [_tile(find_nucleus(first, **start | each), **start | each) for each in stills]
        return row_of_stills(first, _keys(), tiles)

    return Panel(draw, controls, still)


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


def _summary(found: Nucleus, tau: float) -> str:
    words = _("tau={tau} p={p}: nucleus of {kept} with {mass}; cumsum <= p would keep {wrong} with {less}")
    return words.format(
        tau=f"{tau:.2f}",
        p=f"{found.p:.2f}",
        kept=token_count(found.kept),
        mass=percent(found.mass(found.kept)),
        wrong=token_count(found.wrong),
        less=percent(found.mass(found.wrong)),
    )


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

    def edge(self, kept: int) -> float:
        """The right edge of the first `kept` tokens; among the others on a logarithmic scale of ranks."""
        if kept <= self.shown:
            return self.left(0) + kept * self.room
        return self.left(kept) + self.rest * math.log(kept / self.shown) / math.log(self.size / self.shown)


def _blocks(found: Nucleus, stairs: Staircase) -> Iterator[Mark]:
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


def _threshold(found: Nucleus, stairs: Staircase) -> Iterator[Mark]:
    """The line top_p, and the token that crosses it: it starts below and ends above, and it stays."""
    plot, y = stairs.plot, stairs.plot.y(found.p)
    yield Line(plot.left, y, plot.right + 6, y, "orange", 2, dashed=True)
    yield Text(plot.right + 10, y + 4, f"p = {found.p:.2f}", 12, "orange", bold=True)
    if found.kept < stairs.shown and found.p < 1:
        # Left of a block all is free above it, right of it all below.
        if found.crossing * stairs.room > 110:
            yield Text(
                stairs.left(found.crossing) - 6, y - 7, _("crosses, stays"), 12, "green", "end", bold=True
            )
        else:
            yield Text(stairs.edge(found.kept) + 6, y + 17, _("crosses, stays"), 12, "green", bold=True)


def _spans(found: Nucleus, stairs: Staircase, y: float) -> Iterator[Mark]:
    """How far each rule reaches: the right one as a line, the wrong one dashed under it."""
    left, right = stairs.plot.left, stairs.plot.right
    rows = [(_("stays"), found.kept, "blue", False), (_("wrong rule"), found.wrong, "purple", True)]
    for row, (name, kept, stroke, dashed) in enumerate(rows):
        middle = y + 15 * row
        yield Text(left - 8, middle + 4, name, 11, "muted", "end")
        if kept:
            yield Line(left, middle, stairs.edge(kept), middle, stroke, 4, dashed)
        yield Text(right + 10, middle + 4, f"{kept:,}", 12, bold=True)


def _masses(found: Nucleus, stairs: Staircase, y: float) -> Iterator[Mark]:
    yield Text(stairs.plot.left - 8, y, _("before %"), 11, "muted", "end")
    ranks = range(min(stairs.shown + 1, stairs.size))
    for rank, mass in zip(ranks, found.before[: len(ranks)].tolist()):
        x = stairs.left(rank) + (stairs.room if rank < stairs.shown else stairs.rest) / 2
        size = 10 if stairs.room < 40 else 12
        yield Text(x, y, percent(mass).removesuffix("%"), size, anchor="middle", bold=rank < found.kept)


def _labels(found: Nucleus, stairs: Staircase, y: float) -> Iterator[Mark]:
    labels = found.context.top_labels(stairs.shown)
    middles = [stairs.left(rank) + stairs.room / 2 for rank in range(stairs.shown)]
    yield from column_labels(list(zip(middles, labels)), y, stairs.room)
    if others := stairs.size - stairs.shown:
        x = stairs.plot.right - stairs.rest / 2
        yield Text(x, y + 13, f"{others:,}", 12, anchor="middle", bold=True)
        yield Text(x, y + 28, _("other tokens"), 11, "muted", "middle")


def _picture(found: Nucleus, summary: str) -> Scene:
    plot = Plot(70, 98, WIDTH - 140, 232)
    stairs = Staircase(plot, len(found.context.labels), 24, 90)
    scene = Scene(WIDTH, 454, f"{found.context.prompt or found.context.name}: {summary}")
    keys = _keys()
    scene.add(*heading(found.context, 460), *legend(keys, WIDTH, 14))
    scene.add(*figures(_figures(found), 36, (190, 130, 170, 190, 200)))
    scene.add(*plot.axis(), *_blocks(found, stairs), *_threshold(found, stairs))
    scene.add(*_masses(found, stairs, plot.bottom + 16), *_spans(found, stairs, plot.bottom + 28))
    scene.add(*_labels(found, stairs, plot.bottom + 54))
    return scene


def _keys() -> list:
    return [
        (_("in the nucleus"), box_key("blue")),
        (_("crosses, stays"), box_key("green")),
        (_("top-p"), line_key("orange", 2, dashed=True)),
        (_("thrown away"), cross_key),
    ]


def _figures(found: Nucleus) -> list[tuple[str, str]]:
    size, last = len(found.context.labels), found.crossing
    return [
        (_("tokens kept"), _("{kept:,} of {size:,}").format(kept=found.kept, size=size)),
        (_("their mass"), percent(found.mass(found.kept))),
        (_("the last that stays"), found.context.label_at(last)),
        (
            _("mass before and with it"),
            f"{percent(float(found.before[last]))}, {percent(float(found.after[last]))}",
        ),
        (_("cumsum \u2264 p would keep"), f"{found.wrong:,}, {percent(found.mass(found.wrong))}"),
    ]


def _tile(found: Nucleus, tau: float, p: float) -> Scene:
    """A small picture of one setting."""
    plot = Plot(38, 56, STILL_WIDTH - 38 - 56, 168)
    stairs = Staircase(plot, len(found.context.labels), 8, 36)
    words = _("stay: {kept:,}, wrong rule: {wrong:,}").format(kept=found.kept, wrong=found.wrong)
    scene = Scene(STILL_WIDTH, 296)
    scene.add(Text(0, 14, f"tau={tau:.2f} p={p:.2f}", 13, bold=True), Text(0, 31, words, 11, "muted"))
    scene.add(*plot.axis(), *_blocks(found, stairs), *_threshold(found, stairs))
    labels = found.context.top_labels(stairs.shown)
    middles = [stairs.left(rank) + stairs.room / 2 for rank in range(stairs.shown)]
    scene.add(*column_labels(list(zip(middles, labels)), plot.bottom + 4, stairs.room))
    return scene
