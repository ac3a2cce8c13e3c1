"""Panel 2, the nucleus: the mass before each token against the line top_p, beside the rule often written instead."""

from __future__ import annotations

from collections.abc import Sequence

from llm_gen.text import _
from notebooks.panels.chart import (
    STILL_WIDTH,
    WIDTH,
    Plot,
    box_key,
    column_labels,
    cross_key,
    figures,
    heading,
    legend,
    line_key,
    new_scene,
    row_of_stills,
)
from notebooks.panels.context import Context
from notebooks.panels.controls import (
    context_picker,
    pick_contexts,
    temperature_slider,
    top_p_slider,
    with_context,
)
from notebooks.panels.panel import Panel
from notebooks.panels.scene import Scene, Text
from notebooks.panels.stairs import (
    Nucleus,
    Staircase,
    draw_blocks,
    draw_labels,
    draw_masses,
    draw_spans,
    draw_threshold,
    find_nucleus,
)
from notebooks.panels.words import percent, token_count, two_decimals

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
        summary = with_context(_summary(found, tau), context, named)
        return _picture(found, summary), summary

    def still() -> Scene:
        first, start = next(iter(named.values())), {"tau": tau, "p": p}
        tiles = [_tile(find_nucleus(first, **start | each), **start | each) for each in stills]
        return row_of_stills(first, _keys(), tiles)

    return Panel(draw, controls, still)


def _summary(found: Nucleus, tau: float) -> str:
    words = _("tau={tau} p={p}: nucleus of {kept} with {mass}; cumsum <= p would keep {wrong} with {less}")
    return words.format(
        tau=two_decimals(tau),
        p=two_decimals(found.p),
        kept=token_count(found.kept),
        mass=percent(found.mass(found.kept)),
        wrong=token_count(found.wrong),
        less=percent(found.mass(found.wrong)),
    )


def _picture(found: Nucleus, summary: str) -> Scene:
    plot = Plot(70, 98, WIDTH - 140, 232)
    stairs = Staircase(plot, len(found.context.labels), 24, 90)
    scene = new_scene(found.context, 454, summary)
    scene.add(*heading(found.context, 460), *legend(_keys(), WIDTH, 14))
    scene.add(*figures(_figures(found), 36, (190, 130, 170, 190, 200)))
    scene.add(*plot.axis(), *draw_blocks(found, stairs), *draw_threshold(found, stairs))
    scene.add(*draw_masses(found, stairs, plot.bottom + 16), *draw_spans(found, stairs, plot.bottom + 28))
    scene.add(*draw_labels(found, stairs, plot.bottom + 54))
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
    before, after = float(found.before[last]), float(found.after[last])
    return [
        (_("tokens kept"), _("{kept:,} of {size:,}").format(kept=found.kept, size=size)),
        (_("their mass"), percent(found.mass(found.kept))),
        (_("the last that stays"), found.context.label_at(last)),
        (_("mass before and with it"), f"{percent(before, 2)}, {percent(after, 2)}"),
        (_("cumsum \u2264 p would keep"), f"{found.wrong:,}, {percent(found.mass(found.wrong))}"),
    ]


def _tile(found: Nucleus, tau: float, p: float) -> Scene:
    """A small picture of one setting."""
    plot = Plot(38, 56, STILL_WIDTH - 38 - 56, 168)
    stairs = Staircase(plot, len(found.context.labels), 8, 36)
    scene = Scene(STILL_WIDTH, 296)
    scene.add(Text(0, 14, f"tau={two_decimals(tau)} p={two_decimals(p)}", 13, bold=True))
    words = _("stay: {kept:,}, wrong rule: {wrong:,}").format(kept=found.kept, wrong=found.wrong)
    scene.add(Text(0, 31, words, 11, "muted"))
    scene.add(*plot.axis(), *draw_blocks(found, stairs), *draw_threshold(found, stairs))
    scene.add(*column_labels(stairs.tokens(found.context), plot.bottom + 4, stairs.room))
    return scene
