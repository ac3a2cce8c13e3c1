"""Panel 1, reshape the next token: what temperature, top-k and top-p do to one distribution."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from llm_gen.text import _
from notebooks.panels import bars
from notebooks.panels.chart import (
    STILL_WIDTH,
    WIDTH,
    Plot,
    box_key,
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
    MOST_DRAWS,
    Draws,
    context_picker,
    height_picker,
    largest_vocabulary,
    pick_contexts,
    temperature_slider,
    top_k_slider,
    top_p_slider,
    with_context,
)
from notebooks.panels.panel import Panel
from notebooks.panels.reshaping import Reshaped, Tally, reshaped, setting, tally
from notebooks.panels.scene import Scene, Text
from notebooks.panels.words import fixed, percent, token_count

STILLS = ({"tau": 0.5}, {"tau": 1.0, "p": 0.9}, {"tau": 2.0})


def reshape(
    *contexts: Context,
    tau: float | str = 1.0,
    k: int = 0,
    p: float = 1.0,
    height: str = "linear",
    stills: Sequence[dict] = STILLS,
) -> Panel:
    """The panel "Reshape the next token" on the given contexts, or on a medium, a sure and an unsure stored one.

    Controls: tau (0.1 to 3, or "greedy"), k (0 = off), p (1 = off), context (a name), height ("linear" or
    "log"), draws (0 to 10,000). The draws share their uniforms, so moving a slider never rolls again.
    stills: the settings in the saved picture, three of them, each as the controls that differ from the start.
    """
    named = pick_contexts(contexts)
    uniforms = torch.rand(MOST_DRAWS, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    controls = {
        "tau": temperature_slider(tau),
        "k": top_k_slider(largest_vocabulary(named), k),
        "p": top_p_slider(p),
        "context": context_picker(named),
        "height": height_picker(height),
        "draws": Draws(),
    }

    def draw(tau, k, p, context, height, draws) -> tuple[Scene, str]:
        chosen = named[context]
        shape = reshaped(chosen, tau, k, p)
        drawn = tally(shape.sampled, uniforms[:draws]) if draws else None
        summary = with_context(_summary(chosen, shape, setting(tau, k, p), drawn), context, named)
        return _picture(chosen, shape, drawn, height == "log", summary), summary

    def still() -> Scene:
        first, start = next(iter(named.values())), {"tau": tau, "k": k, "p": p}
        return row_of_stills(first, _keys(), [_tile(first, **start | each) for each in stills])

    return Panel(draw, controls, still)


def _picture(context: Context, shape: Reshaped, drawn: Tally | None, log: bool, summary: str) -> Scene:
    plot = Plot(60, 98, WIDTH - 60, 232, log)
    columns = bars.make_columns(context, shape, drawn, plot, shown=30, rest=116)
    scene = new_scene(context, 436, summary)
    scene.add(*heading(context, 460), *legend(_keys(drawn is not None), WIDTH, 14))
    scene.add(*figures(_figures(context, shape, drawn), 36, (190, 130, 130, 230, 200)))
    scene.add(*plot.axis(), *bars.draw_bars(columns, plot), *bars.draw_cut(columns, shape.cause, plot))
    scene.add(*bars.draw_numbers(columns, plot), *bars.draw_labels(columns, plot.bottom + 38))
    return scene


def _keys(drawn: bool = False) -> list:
    return [
        (_("the model's own"), box_key("grey")),
        (_("sampled"), box_key("blue")),
        *([(_("share drawn"), line_key("purple", 3))] if drawn else []),
        (_("cut"), line_key("orange", 2, dashed=True)),
        (_("thrown away"), cross_key),
    ]


def _figures(context: Context, shape: Reshaped, drawn: Tally | None) -> list[tuple[str, str]]:
    pairs = [
        (_("tokens kept"), _("{kept:,} of {size:,}").format(kept=shape.kept, size=len(context.labels))),
        (_("thrown away"), percent(shape.thrown_away)),
        (_("entropy"), _("{bits} bits").format(bits=fixed(shape.bits, 2))),
        (_("entropy as equally likely tokens"), f"{shape.equally_likely:,.1f}"),
    ]
    if drawn:
        draws = int(drawn.hits.sum())
        pairs.append((_("{draws:,} drawn, the last").format(draws=draws), context.label_at(drawn.last)))
    return pairs


def _summary(context: Context, shape: Reshaped, setting: str, drawn: Tally | None) -> str:
    summary = _("{setting}: {tokens}, top {top}, entropy {bits} bits").format(
        setting=setting, tokens=token_count(shape.kept), top=percent(shape.top), bits=fixed(shape.bits, 2)
    )
    if drawn is None:
        return summary
    often = drawn.hits.sort(descending=True, stable=True).indices[:3].tolist()
    counts = ", ".join(
        f"{context.label_at(rank)} {int(drawn.hits[rank])}" for rank in often if drawn.hits[rank]
    )
    return _("{summary}; {draws} drawn: {counts}").format(
        summary=summary, draws=int(drawn.hits.sum()), counts=counts
    )


def _tile(context: Context, tau: float | str, k: int, p: float) -> Scene:
    """A small picture of one setting."""
    shape, plot = reshaped(context, tau, k, p), Plot(38, 56, STILL_WIDTH - 38, 168)
    columns = bars.make_columns(context, shape, None, plot, shown=8, rest=64)
    scene = Scene(STILL_WIDTH, 296)
    words = _("{tokens}, entropy {bits} bits").format(
        tokens=token_count(shape.kept), bits=fixed(shape.bits, 2)
    )
    scene.add(Text(0, 14, setting(tau, k, p), 13, bold=True), Text(0, 31, words, 11, "muted"))
    scene.add(*plot.axis(), *bars.draw_bars(columns, plot), *bars.draw_cut(columns, shape.cause, plot))
    scene.add(*bars.draw_labels(columns, plot.bottom + 4))
    return scene
