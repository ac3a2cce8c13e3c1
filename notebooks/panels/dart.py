"""Panel 5, throw the dart: the ruler from 0 to 1 cut into tokens, and which one a dart at u hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from llm_gen.text import _
from notebooks.panels.chart import WIDTH, figures, heading, new_scene
from notebooks.panels.context import Context
from notebooks.panels.controls import (
    context_picker,
    dart_slider,
    pick_contexts,
    temperature_slider,
    with_context,
)
from notebooks.panels.panel import Panel
from notebooks.panels.reshaping import reshaped, tally
from notebooks.panels.scene import Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.words import fixed, percent, two_decimals

COLDEST, HOTTEST, STEPS = 0.1, 3.0, 117
TAUS = tuple(COLDEST + (HOTTEST - COLDEST) * step / (STEPS - 1) for step in range(STEPS))
MOST_PIECES = 10
LEFT, RIGHT = 60, WIDTH - 10
MODEL_TOP, RULER_TOP, RULER_HEIGHT, MAP_TOP, MAP_HEIGHT = 116, 140, 36, 206, 216


def dart(*contexts: Context, u: float = 0.5, tau: float = 1.0) -> Panel:
    """The panel "Throw the dart" on the given contexts, or on a medium, a sure and an unsure stored one.

    Controls: u (where the dart lands, 0 to 0.999), tau (0.1 to 3), context (a name). With u held still, moving tau
    slides the borders between the tokens until the dart is in another one.
    """
    named = pick_contexts(contexts)
    controls = {
        "u": dart_slider(u),
        "tau": temperature_slider(tau, greedy=False),
        "context": context_picker(named),
    }

    def draw(u, tau, context) -> tuple[Scene, str]:
        throw = _throw(named[context], u, tau)
        summary = with_context(_summary(throw), context, named)
        return _picture(named[context], throw, summary), summary

    return Panel(draw, controls)


@dataclass(frozen=True)
class Throw:
    """A dart at `u` on the ruler at `tau`: the token that it hits, whose piece goes from `start` to `end`.

    edges: the right ends of the first pieces, likeliest first. flips: the temperatures at which the dart passes
    from each of these pieces to the next, rising; a ruler that is hotter has them further left.
    """

    u: float
    tau: float
    rank: int
    label: str
    start: float
    end: float
    edges: list[float]
    flips: list[float]


def _throw(context: Context, u: float, tau: float) -> Throw:
    shares = reshaped(context, tau).heated
    rank = tally(shares, torch.tensor([u], dtype=torch.float64)).last
    edges = shares.cumsum(dim=-1)
    start = float(edges[rank - 1]) if rank else 0.0
    flips = [_crossing(border, u) for border in edges_by_temperature(context)]
    return Throw(
        u,
        tau,
        rank,
        context.label_at(rank),
        start,
        float(edges[rank]),
        edges[:MOST_PIECES].tolist(),
        [flip for flip in flips if flip is not None],
    )


@lru_cache(maxsize=8)
def edges_by_temperature(context: Context) -> list[list[float]]:
    """For each of the first pieces, its right end at each of `TAUS`; it falls as the temperature rises."""
    borders = min(MOST_PIECES, len(context.labels) - 1)
    ends = [reshaped(context, tau).heated[:borders].cumsum(dim=-1) for tau in TAUS]
    return torch.stack(ends).T.tolist()


def _crossing(border: Sequence[float], u: float) -> float | None:
    """The temperature at which a falling border passes u, between two of `TAUS`; None if it does not."""
    for step in range(1, STEPS):
        before, after = border[step - 1], border[step]
        if before > u >= after:
            return TAUS[step - 1] + (TAUS[step] - TAUS[step - 1]) * (before - u) / (before - after)
    return None


def _summary(throw: Throw) -> str:
    words = _("u={u} tau={tau}: hits {label}, piece {start} to {end}, share {share}")
    summary = words.format(
        u=f"{throw.u:g}",
        tau=two_decimals(throw.tau),
        label=throw.label,
        start=fixed(throw.start, 3),
        end=fixed(throw.end, 3),
        share=percent(throw.end - throw.start),
    )
    if (flip := _next_flip(throw)) is None:
        return summary
    return _("{summary}; the next token from tau={flip}").format(summary=summary, flip=f"{flip:.2f}")


def _next_flip(throw: Throw) -> float | None:
    return next((flip for flip in throw.flips if flip > throw.tau), None)


def _picture(context: Context, throw: Throw, summary: str) -> Scene:
    scene = new_scene(context, MAP_TOP + MAP_HEIGHT + 34, summary)
    scene.add(*heading(context, WIDTH), *figures(_figures(throw), 36, (170, 190, 210, 170, 200)))
    scene.add(
        *_rulers(context, throw), *_names(context, throw.edges), *_map(context, throw.tau), *_pin(throw)
    )
    return scene


def _figures(throw: Throw) -> list[tuple[str, str]]:
    flip = _next_flip(throw)
    piece = _("{start} to {end}").format(start=fixed(throw.start, 3), end=fixed(throw.end, 3))
    return [
        (_("the dart lands at"), two_decimals(throw.u)),
        (_("and hits"), throw.label),
        (_("whose piece goes from"), piece),
        (_("its share"), percent(throw.end - throw.start)),
        (_("the next token from"), "\u2013" if flip is None else f"\u03c4 = {flip:.2f}"),
    ]


def _rulers(context: Context, throw: Throw) -> Iterator[Mark]:
    """The model's own ruler in grey, and the one at the temperature of the slider with the piece that is hit."""
    own = context.own[:MOST_PIECES].cumsum(dim=-1).tolist()
    yield from _ruler("\u03c4 = 1", own, ["grey"] * (len(own) + 1), MODEL_TOP, 12)
    fills = ["blue"] * len(own) + ["grey"]
    fills[min(throw.rank, len(own))] = "green"
    yield from _ruler(f"\u03c4 = {two_decimals(throw.tau)}", throw.edges, fills, RULER_TOP, RULER_HEIGHT)


def _x(place: float) -> float:
    return LEFT + (RIGHT - LEFT) * place


def _y(tau: float) -> float:
    return MAP_TOP + MAP_HEIGHT * (tau - COLDEST) / (HOTTEST - COLDEST)


def _ruler(
    name: str, edges: Sequence[float], fills: Sequence[str], top: float, height: float
) -> Iterator[Mark]:
    """The pieces side by side with a gap at each border; what lies beyond the last edge is one piece."""
    yield Text(LEFT - 8, top + height / 2 + 4, name, 11, "muted", "end")
    for start, end, fill in zip([0.0, *edges], [*edges, 1.0], fills):
        left, right = _x(start) + 0.5, _x(min(end, 1)) - 0.5
        if right > left:
            yield Rect(left, top, right - left, height, fill)


def _names(context: Context, edges: Sequence[float]) -> Iterator[Mark]:
    """Tokens in their pieces, where they fit."""
    others = len(context.labels) - len(edges)
    names = [*context.top_labels(len(edges)), _("{others:,} others").format(others=others)]
    for name, start, end in zip(names, [0.0, *edges], [*edges, 1.0]):
        if _x(end) - _x(start) > 7.4 * len(name) + 6:
            yield Text(_x((start + end) / 2), RULER_TOP + 22, name, 12, "white", "middle", mono=True)


def _map(context: Context, tau: float) -> Iterator[Mark]:
    """The borders at every temperature, cold above and hot below, with a line at the slider's."""
    for tick in (0.1, 0.5, 1, 1.5, 2, 2.5, 3):
        yield Line(LEFT, _y(tick), RIGHT, _y(tick))
        yield Text(LEFT - 8, _y(tick) + 4, f"\u03c4 = {tick:g}", 11, "muted", "end")
    for border in edges_by_temperature(context):
        yield Polyline([(_x(place), _y(each)) for each, place in zip(TAUS, border)], "blue", 1.5)
    yield Line(LEFT, _y(tau), RIGHT, _y(tau), "ink", 1.5, dashed=True)
    for place in (0, 0.25, 0.5, 0.75, 1):
        yield Text(_x(place), MAP_TOP + MAP_HEIGHT + 20, f"{place:g}", 11, "muted", "middle")


def _pin(throw: Throw) -> Iterator[Mark]:
    """The dart above and below its token, and the temperatures at which it passes into the next piece."""
    x = _x(throw.u)
    yield Line(x, MODEL_TOP - 14, x, RULER_TOP, "orange", 2)
    yield Line(x, RULER_TOP + RULER_HEIGHT, x, MAP_TOP + MAP_HEIGHT, "orange", 2)
    yield Text(x, MODEL_TOP - 8, "\u25bc", 14, "orange", "middle")
    for flip in throw.flips:
        yield Rect(x - 4, _y(flip) - 4, 8, 8, "orange")
    left = x - 43 if throw.u > 0.9 else x + 7
    for flip in _apart(throw):
        yield Rect(left, _y(flip) + 4, 36, 13, "paper")
        yield Text(left + 2, _y(flip) + 15, f"{flip:.2f}", 12, "orange", bold=True)


def _apart(throw: Throw) -> list[float]:
    """The flips that are far enough from the one before for its number to be read."""
    shown: list[float] = []
    for flip in throw.flips:
        if not shown or _y(flip) - _y(shown[-1]) > 14:
            shown.append(flip)
    return shown
