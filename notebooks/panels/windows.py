"""Panel 11, masks and windows: who may look at whom, and what becomes of a cache whose first tokens fall out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from llm_gen.attention import build_mask
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from notebooks.panels.chart import WIDTH, Key, box_key, legend, line_key
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.panel import Panel
from notebooks.panels.reuse import labels_of
from notebooks.panels.scene import Image, Line, Mark, Rect, Scene, Text
from notebooks.panels.staleness import PARTS, Staleness
from notebooks.panels.words import fixed, percent, shortened

PAST = 6
MAP_TOP, MAP_LEFT, MAP_SIDE = 58, 82, 342
HEAT_LEFT, HEAT_WIDTH, TALLEST = 512, 360, 170


def windows(models: Mapping[str, Any], tokenizer: Tokenizer, text: str, context: int = 12) -> Panel:
    """The panel "Masks and windows": the first `context` tokens of a text and up to 6 more, read by one of the models.

    Left, which keys each query sees; right, how far what a cache still holds is from what a fresh reading gives, once
    the first tokens have fallen out. Controls: past (0 to 6 tokens beyond the context), padding (0 to 6 columns on
    the left), window (1 to `context`, which is off), part ("values", "keys", "keys turned back"), model (a name).

    ValueError if the text has fewer than context + 6 tokens.
    """
    ids = tokenizer.encode(text)[: context + PAST]
    if len(ids) < context + PAST:
        raise ValueError(f"text must have at least context + {PAST} = {context + PAST} tokens, got {len(ids)}")
    labels = labels_of(tokenizer, torch.tensor(ids))
    readers = {name: Staleness(model, ids) for name, model in models.items()}
    parts = dict(zip(PARTS, (_("values"), _("keys"), _("keys, turned back"))))
    controls = {
        "past": _slider("past", _("tokens past the context"), range(PAST + 1), 0, width=400),
        "padding": _slider("padding", _("padding"), range(PAST + 1), 0),
        "window": _slider("window", _("sliding window"), range(1, context + 1), context, off=context),
        "part": Choice("part", _("compare"), parts, "values", 230),
        "model": Choice("model", _("model"), {name: name for name in models}, next(iter(models)), 300),
    }

    def draw(past, padding, window, part, model) -> tuple[Scene, str]:
        past, padding, window = int(past), int(padding), int(window)
        visible = mask_of(context, past, padding, window)
        gaps = readers[model].gaps(context, past, part)
        summary = _summary(visible, past, part, gaps)
        scene = Scene(WIDTH, MAP_TOP + MAP_SIDE + 4, f"{model}: {summary}")
        scene.add(*_map(visible, labels, past, padding), *_heat(gaps, past, parts[part], model))
        return scene, summary

    return Panel(draw, controls, lambda: draw(3, 0, context, "values", next(iter(models)))[0])


def _slider(
    name: str, description: str, stops: Sequence[int], value: int, off: int | None = None, width: int = 270
) -> Stops:
    def write(stop: float) -> str:
        return _("off") if stop == off else str(stop)

    return Stops(name, description, stops, value, write=write, whole=True, width=width)


def mask_of(context: int, past: int, padding: int, window: int) -> Tensor:
    """Which columns each column sees, (S, S) with S = context + past; the first `past` have fallen out and see none."""
    columns = torch.arange(context + past)
    padded = torch.tensor([padding]) if padding else None
    visible = build_mask(columns, columns, padded, window)[0, 0].clone()
    visible[:past], visible[:, :past] = False, False
    return visible


def _summary(visible: Tensor, past: int, part: str, gaps: Tensor) -> str:
    words = _("{past} past the context: the last token sees {seen} of {all}; {part} off by {gaps} (layer by layer)")
    shares = ", ".join(percent(float(gap)) for gap in gaps.mean(dim=1))
    seen, everything = int(visible[-1].sum()), len(visible)
    return words.format(past=past, seen=seen, all=everything, part=_(part), gaps=shares)


def _map(visible: Tensor, labels: Sequence[str], past: int, padding: int) -> Iterator[Mark]:
    """Queries as rows, keys as columns, in the order of the text."""
    total, cell = len(visible), MAP_SIDE / len(labels)
    x = [MAP_LEFT + cell * column for column in range(total + 1)]
    y = [MAP_TOP + cell * row for row in range(total + 1)]
    yield Text(0, 14, _("who sees whom"), 13, bold=True)
    yield from legend(_map_keys(), MAP_LEFT + MAP_SIDE + 52, 36)
    for row, label in enumerate(labels[:total]):
        real = row >= max(past, padding)
        word = shortened(label, 10) if row >= padding else _("pad")
        yield Text(MAP_LEFT - 6, y[row] + cell - 5, word, 11, "ink" if real else "muted", "end", mono=True)
    for row in range(past, total):
        yield from _hidden(x, y, row, past, padding)
        yield from _runs(visible[row], x, y[row], cell)
    for edge in range(1, total):
        yield Line(x[0], y[edge], x[-1], y[edge], "paper", 1.5)
        yield Line(x[edge], y[0], x[edge], y[-1], "paper", 1.5)
    yield Rect(x[0], y[0], x[-1] - x[0], y[-1] - y[0], None, "muted")
    for column in range(past):
        middle = x[column] + cell / 2
        yield Line(middle, y[0], middle, y[-1], "orange", 2, dashed=True)


def _map_keys() -> list[Key]:
    return [
        (_("seen"), box_key("blue")),
        (_("before it, hidden"), box_key("rule")),
        (_("padding"), box_key("grey")),
        (_("fallen out"), line_key("orange", 2, dashed=True)),
    ]


def _hidden(x: Sequence[float], y: Sequence[float], row: int, past: int, padding: int) -> Iterator[Mark]:
    """What stands before a query and may be out of its sight."""
    height, edge = y[row + 1] - y[row], min(max(padding, past), row + 1)
    if edge > past:
        yield Rect(x[past], y[row], x[edge] - x[past], height, "grey")
    yield Rect(x[edge], y[row], x[row + 1] - x[edge], height, "rule")


def _runs(row: Tensor, x: Sequence[float], top: float, height: float) -> Iterator[Mark]:
    """The keys that a query sees, which lie side by side."""
    seen = row.nonzero().flatten().tolist()
    yield Rect(x[seen[0]], top, x[seen[-1] + 1] - x[seen[0]], height, "blue")


def _heat(gaps: Tensor, past: int, part: str, model: str) -> Iterator[Mark]:
    """Layers as rows, the kept tokens as columns, lit by their distance from a fresh computation."""
    layers, context = gaps.shape
    row = min(34, TALLEST / layers)
    bottom = MAP_TOP + row * layers
    yield Text(HEAT_LEFT, 14, _("what the old cache still holds: {part}").format(part=part), 13, bold=True)
    yield Text(HEAT_LEFT, 34, _("bright: far from what a fresh reading of the window gives"), 11, "muted")
    yield Image(HEAT_LEFT, MAP_TOP, HEAT_WIDTH, row * layers, gaps.clamp(max=1).numpy())
    for layer in range(layers):
        y = MAP_TOP + row * (layer + 0.5) + 4
        yield Text(HEAT_LEFT - 8, y, _("layer {n}").format(n=layer + 1), 11, "muted", "end")
        yield Text(HEAT_LEFT + HEAT_WIDTH + 10, y, percent(float(gaps[layer].mean())), 12, bold=True)
    for place in (0, context - 1):
        x = HEAT_LEFT + HEAT_WIDTH * (place + 0.5) / context
        yield Text(x, bottom + 14, str(past + place + 1), 11, "muted", "middle")
    yield Text(HEAT_LEFT + HEAT_WIDTH / 2, bottom + 14, _("tokens that are still in the window"), 11, "muted", "middle")
    yield from _verdict(gaps, past, bottom + 48)


def _verdict(gaps: Tensor, past: int, y: float) -> Iterator[Mark]:
    """What the numbers mean, in words."""
    wrong = gaps.mean(dim=1) > 0.001
    if not past:
        said = [_("Nothing has fallen out: the cache may go on.")]
    elif not wrong[0]:
        said = [_("Layer 1 is still right."), _("Deeper layers have seen the tokens that are gone.")]
    else:
        said = [_("Wrong from layer 1 on:"), _("the positions of all tokens have shifted.")]
    for line, words in enumerate(said):
        yield Text(HEAT_LEFT, y + 20 * line, words, 13, bold=True)
    words = _("largest difference: {share} of an entry's own length")
    yield Text(HEAT_LEFT, y + 46, words.format(share=fixed(float(gaps.max()), 3)), 12)
