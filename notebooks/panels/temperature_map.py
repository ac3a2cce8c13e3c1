"""Panel 3, the temperature map: each token's share against the temperature, both limits, entropy, nucleus."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from llm_gen.text import _
from notebooks.panels.chart import WIDTH, Plot, heading, new_scene
from notebooks.panels.context import Context, entropy_bits
from notebooks.panels.controls import (
    context_picker,
    height_picker,
    pick_contexts,
    temperature_slider,
    top_p_slider,
    with_context,
)
from notebooks.panels.panel import Panel
from notebooks.panels.reshaping import reshaped
from notebooks.panels.scene import Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.sweep import sweep
from notebooks.panels.words import fixed, percent, shortened, token_count, two_decimals

COLDEST, HOTTEST, STEPS = 0.05, 20.0, 61
TAUS = tuple(COLDEST * (HOTTEST / COLDEST) ** (step / (STEPS - 1)) for step in range(STEPS))
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
# Colour, dashed, width. Where two tokens tie, the wide line still shows under the narrow one.
STROKES = (
    ("blue", False, 4.5),
    ("orange", False, 2.5),
    ("green", False, 2),
    ("purple", False, 2),
    ("blue", True, 2),
    ("orange", True, 2),
)
OTHERS = ("grey", False, 3)
MAIN, ENTROPY, NUCLEUS = Plot(84, 44, 560, 216), Plot(84, 318, 560, 56), Plot(84, 410, 560, 56)
LIST_LEFT = MAIN.right + 72


def temperature_map(*contexts: Context, tau: float = 1.0, p: float = 0.9, height: str = "linear") -> Panel:
    """The panel "Temperature map" on the given contexts, or on a medium, a sure and an unsure stored one.

    Controls: tau (0.1 to 3, the place of the cursor), p (for the size of the nucleus), context (a name), height
    ("linear" or "log").
    """
    named = pick_contexts(contexts)
    controls = {
        "tau": temperature_slider(tau, greedy=False),
        "p": top_p_slider(p),
        "context": context_picker(named),
        "height": height_picker(height),
    }

    def draw(tau, p, context, height) -> tuple[Scene, str]:
        cursor = _at(named[context], tau, p)
        summary = with_context(_summary(cursor), context, named)
        return _picture(named[context], cursor, replace(MAIN, log=height == "log"), summary), summary

    return Panel(draw, controls)


@dataclass(frozen=True)
class Cursor:
    """The numbers at the temperature of the slider; `others` tokens have no curve of their own."""

    tau: float
    p: float
    labels: list[str]
    shares: list[float]
    others: int
    bits: float
    kept: int


def _at(context: Context, tau: float, p: float) -> Cursor:
    shape = reshaped(context, tau, p=p)
    shares = shape.heated[: len(STROKES)].tolist()
    others = len(context.labels) - len(shares)
    return Cursor(
        tau, p, context.top_labels(len(shares)), shares, others, entropy_bits(shape.heated), shape.kept
    )


def _summary(cursor: Cursor) -> str:
    top = ", ".join(
        f"{label} {percent(share)}" for label, share in list(zip(cursor.labels, cursor.shares))[:3]
    )
    words = _("tau={tau}: {top}; entropy {bits} bits; p={p} keeps {kept}")
    tau, bits, kept = two_decimals(cursor.tau), fixed(cursor.bits, 2), token_count(cursor.kept)
    return words.format(tau=tau, top=top, bits=bits, p=two_decimals(cursor.p), kept=kept)


def _picture(context: Context, cursor: Cursor, main: Plot, summary: str) -> Scene:
    table, size = sweep(context, TAUS, len(STROKES)), len(context.labels)
    most_bits, most_kept = max(math.log2(size), 1), max(math.log(size), 1)
    sizes = [math.log(kept) / most_kept for kept in table.nucleus_sizes(cursor.p)]
    scene = new_scene(context, 502, summary)
    scene.add(*heading(context, WIDTH), *main.axis(gap=28), *_temperatures())
    scene.add(*_curves(table.shares.T.tolist(), cursor.others, main), *_limits(context, cursor.others, main))
    scene.add(
        *_strip(ENTROPY, _("entropy in bits"), fixed(most_bits, 1), [bits / most_bits for bits in table.bits])
    )
    name = _("tokens in the nucleus at top-p {p}, logarithmic").format(p=two_decimals(cursor.p))
    scene.add(*_strip(NUCLEUS, name, f"{size:,}", sizes, steps=size <= 30))
    scene.add(*_cursor(cursor), *_list(cursor))
    scene.add(
        Text(LIST_LEFT, ENTROPY.top + 36, _("{bits} bits").format(bits=fixed(cursor.bits, 2)), 17, bold=True)
    )
    scene.add(Text(LIST_LEFT, NUCLEUS.top + 36, token_count(cursor.kept), 17, bold=True))
    return scene


def _x(tau: float) -> float:
    return MAIN.left + MAIN.width * math.log(tau / COLDEST) / math.log(HOTTEST / COLDEST)


def _curves(shares: Sequence[Sequence[float]], others: int, plot: Plot) -> Iterator[Mark]:
    """One curve a token over `TAUS`, and one for all the others together."""
    if others:
        rest = [1 - sum(column) for column in zip(*shares)]
        yield _curve(rest, OTHERS, plot)
    for curve, stroke in zip(shares, STROKES):
        yield _curve(curve, stroke, plot)


def _curve(
    shares: Sequence[float], stroke: tuple[str, bool, float], plot: Plot, steps: bool = False
) -> Polyline:
    colour, dashed, width = stroke
    points = [(_x(tau), plot.y(max(share, 0))) for tau, share in zip(TAUS, shares)]
    if steps:
        corners = [(x, before) for (x, _y), (_x0, before) in zip(points[1:], points)]
        points = [points[0], *(point for pair in zip(corners, points[1:]) for point in pair)]
    return Polyline(points, colour, width, dashed)


def _limits(context: Context, others: int, plot: Plot) -> Iterator[Mark]:
    """Where the curves end: all mass on the likeliest tokens, shared by ties; and the same for every token."""
    possible = int((context.own > 0).sum())
    tied = int((context.ranked == context.ranked[0]).sum())
    for x, winners, name in (
        (MAIN.left - 14, tied, "\u2192 0"),
        (MAIN.right + 14, possible, "\u2192 \u221e"),
    ):
        yield Text(x, MAIN.bottom + 18, name, 11, "muted", "middle")
        if others:
            yield _dot(x, plot.y(max(winners - len(STROKES), 0) / winners), "grey")
        for rank in reversed(range(min(len(STROKES), len(context.labels)))):
            yield _dot(x, plot.y((rank < winners) / winners), STROKES[rank][0])


def _dot(x: float, y: float, fill: str) -> Rect:
    return Rect(x - 4, y - 4, 8, 8, fill)


def _strip(plot: Plot, name: str, most: str, shares: Sequence[float], steps: bool = False) -> Iterator[Mark]:
    """A small curve under the large one, from 0 to `most`."""
    yield Text(plot.left, plot.top - 8, name, 11, "muted")
    yield Text(plot.left - 8, plot.top + 4, most, 11, "muted", "end")
    yield Line(plot.left, plot.top, plot.right, plot.top)
    yield Line(plot.left, plot.bottom, plot.right, plot.bottom, "ink")
    yield _curve(shares, ("ink", False, 2), plot, steps)


def _temperatures() -> Iterator[Mark]:
    for tau in TICKS:
        x = _x(tau)
        yield Line(x, MAIN.top, x, MAIN.bottom)
        for plot in (MAIN, NUCLEUS):
            yield Text(x, plot.bottom + 18, f"{tau:g}", 11, "muted", "middle")
    yield Text(MAIN.right, NUCLEUS.bottom + 34, _("temperature \u03c4"), 11, "muted", "end")


def _cursor(cursor: Cursor) -> Iterator[Mark]:
    x = _x(cursor.tau)
    for plot in (MAIN, ENTROPY, NUCLEUS):
        yield Line(x, plot.top, x, plot.bottom, "ink", 1.5, dashed=True)


def _list(cursor: Cursor) -> Iterator[Mark]:
    """What the curves are, with their shares at the cursor; the order is by rank and never changes."""
    yield Text(LIST_LEFT, MAIN.top + 4, f"\u03c4 = {two_decimals(cursor.tau)}", 17, bold=True)
    rows = [(label, share, stroke) for label, share, stroke in zip(cursor.labels, cursor.shares, STROKES)]
    if cursor.others:
        rest = max(1 - sum(cursor.shares), 0)
        rows.append((_("{others:,} others").format(others=cursor.others), rest, OTHERS))
    for row, (label, share, (colour, dashed, width)) in enumerate(rows):
        y = MAIN.top + 32 + 24 * row
        yield Line(LIST_LEFT, y - 4, LIST_LEFT + 24, y - 4, colour, width, dashed)
        yield Text(LIST_LEFT + 34, y, shortened(label, 13), 12, mono=row < len(cursor.labels))
        yield Text(WIDTH, y, percent(share), 12, anchor="end", bold=True)
