"""Panel 4, the order matters: the model, after filter A, after filter B, and what the other order would keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llm_gen.sampling import filter_logits
from llm_gen.text import _
from notebooks.panels.chart import WIDTH, box_key, cross, cross_key, heading, legend, new_scene
from notebooks.panels.context import Context
from notebooks.panels.controls import (
    Choice,
    context_picker,
    largest_vocabulary,
    pick_contexts,
    temperature_slider,
    top_k_slider,
    top_p_slider,
    with_context,
)
from notebooks.panels.panel import Panel
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text
from notebooks.panels.words import percent, shortened, token_count, two_decimals

FILTERS = ("temperature", "top-k", "top-p")
ORDERS = tuple(f"{first}, {then}" for first in FILTERS for then in FILTERS if first != then)
MOST_ROWS = 10
TOP, ROW, LABELS, STAGE, BAR = 78, 26, 128, 203, 138


def filter_order(
    *contexts: Context, order: str = "temperature, top-p", tau: float = 0.5, k: int = 2, p: float = 0.6
) -> Panel:
    """The panel "The order matters" on the given contexts, or on a medium, a sure and an unsure stored one.

    Controls: tau (0.1 to 3), k (0 = off), p (1 = off), context (a name), order (two of "temperature", "top-k",
    "top-p" with a comma between). Tokens that stay in only one of the two orders are framed.
    """
    named = pick_contexts(contexts)
    controls = {
        "tau": temperature_slider(tau, greedy=False),
        "k": top_k_slider(largest_vocabulary(named), k),
        "p": top_p_slider(p),
        "context": context_picker(named),
        "order": Choice("order", _("order"), {each: _in_words(each) for each in ORDERS}, order, 250),
    }

    own = {name: _stage(_("the model"), each.ranked[None]) for name, each in named.items()}

    def draw(tau, k, p, context, order) -> tuple[Scene, str]:
        first, then = (_filter(name, tau, k, p) for name in order.split(", "))
        for control, name in (("tau", "temperature"), ("k", "top-k"), ("p", "top-p")):
            controls[control].disabled = name not in order
        stages = [own[context], *run_both_ways(named[context], first, then)]
        summary = with_context(_summary(first, then, stages), context, named)
        return _picture(named[context], stages, summary), summary

    return Panel(draw, controls)


@dataclass(frozen=True)
class Filter:
    """One step of the pipeline, a part of `filter_logits` alone; `name` says which, with its setting."""

    name: str
    apply: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Stage:
    """What is left at one place of the pipeline: probabilities (V,) by the model's ranks, the first `kept` > 0."""

    title: str
    probs: Tensor
    kept: int


def _in_words(order: str) -> str:
    return " \u2192 ".join(_("temperature") if name == "temperature" else name for name in order.split(", "))


def _filter(name: str, tau: float, k: int, p: float) -> Filter:
    if name == "temperature":
        words = _("temperature {tau}").format(tau=two_decimals(tau))
        return Filter(words, lambda logits: filter_logits(logits, temperature=tau))
    if name == "top-k":
        return Filter(f"{name} {k or _('off')}", lambda logits: filter_logits(logits, top_k=k or None))
    return Filter(f"{name} {two_decimals(p)}", lambda logits: filter_logits(logits, top_p=p))


def run_both_ways(context: Context, first: Filter, then: Filter) -> list[Stage]:
    """What is left after the first filter, after both, and after both in the other order."""
    logits = context.ranked[None]
    halfway = first.apply(logits)
    return [
        _stage(f"1. {first.name}", halfway),
        _stage(f"2. {then.name}", then.apply(halfway)),
        _stage(_("the other order"), first.apply(then.apply(logits))),
    ]


def _stage(title: str, logits: Tensor) -> Stage:
    return Stage(title, logits[0].double().softmax(dim=-1), int((logits > -torch.inf).sum()))


def _summary(first: Filter, then: Filter, stages: Sequence[Stage]) -> str:
    *_before, this, other = stages
    words = _("{first}, then {then}: {kept}, top {top}; the other way {others}, top {other_top}")
    return words.format(
        first=first.name,
        then=then.name,
        kept=token_count(this.kept),
        top=percent(float(this.probs[0])),
        others=token_count(other.kept),
        other_top=percent(float(other.probs[0])),
    )


def _picture(context: Context, stages: Sequence[Stage], summary: str) -> Scene:
    shown = min(MOST_ROWS, len(context.labels))
    others = len(context.labels) - shown
    rows = shown + (others > 0)
    scene = new_scene(context, TOP + ROW * rows + 34, summary)
    keys = [
        (_("the model's own"), box_key("grey")),
        (_("what is left"), box_key("blue")),
        (_("thrown away"), cross_key),
        (_("in one order only"), lambda x, y: [Rect(x + 2, y - 9, 16, 10, stroke="green", line=2)]),
    ]
    scene.add(*heading(context, 400), *legend(keys, WIDTH, 14), *_labels(context, shown, others))
    for column, stage in enumerate(stages):
        scene.add_at(LABELS + STAGE * column, TOP, _column(stage, stages, shown, rows))
    return scene


def _labels(context: Context, shown: int, others: int) -> Iterator[Mark]:
    for row, label in enumerate(context.top_labels(shown)):
        yield Text(LABELS - 14, TOP + ROW * row + 17, shortened(label, 15), 12, anchor="end", mono=True)
    if others:
        words = _("{others:,} others").format(others=others)
        yield Text(LABELS - 14, TOP + ROW * shown + 17, words, 12, "muted", "end")


def _column(stage: Stage, stages: Sequence[Stage], shown: int, rows: int) -> Iterator[Mark]:
    """One stage, its upper left corner at the origin; the first holds the model's own distribution."""
    model, *_halfway, this, other = stages
    yield Text(0, -12, stage.title, 13, bold=True)
    yield Line(0, 0, 0, ROW * rows, "ink")
    own, left = _by_row(model.probs, shown, rows), _by_row(stage.probs, shown, rows)
    for row in range(rows):
        yield from _row(ROW * row, own[row], None if stage is model else left[row], row < stage.kept)
        if stage in (this, other) and _only_here(row, shown, stage, this, other):
            yield Rect(-4, ROW * row + 2, STAGE - 12, ROW - 4, stroke="green", line=2)
    yield Text(0, ROW * rows + 22, token_count(stage.kept), 13, bold=True)


def _by_row(probs: Tensor, shown: int, rows: int) -> list[float]:
    return [*probs[:shown].tolist(), *([float(probs[shown:].sum())] if rows > shown else [])]


def _row(y: float, own: float, left: float | None, kept: bool) -> Iterator[Mark]:
    yield Rect(0, y + 4, BAR * own, ROW - 8, "grey")
    if left is not None and kept:
        yield Rect(0, y + 8, BAR * left, ROW - 16, "blue")
    if not kept:
        yield from cross(BAR * own + 12, y + ROW / 2)
        return
    end = own if left is None else max(own, left)
    yield Text(BAR * end + 6, y + 17, percent(own if left is None else left), 12)


def _only_here(row: int, shown: int, stage: Stage, this: Stage, other: Stage) -> bool:
    """Whether a row holds tokens that stay at this stage and not in the other order."""
    away = min(this.kept, other.kept)
    if row == shown:
        return stage.kept > max(shown, away)
    return away <= row < stage.kept
