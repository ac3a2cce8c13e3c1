"""Panel 9, what the cache saves: layers by positions, computed, reused, or computed again for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from notebooks.panels.chart import WIDTH, Key, box_key, column_labels, figures, legend
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.panel import Panel
from notebooks.panels.reuse import Reuse, reuse
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text
from notebooks.panels.words import fixed, shortened

LEFT, TALLEST, WIDEST = 84, 112, 44


def caching(model: Any, tokenizer: Tokenizer, prompt: str, edited: str, new_tokens: int = 12) -> Panel:
    """The panel "What the cache saves": `new_tokens` greedy steps after the prompt, without a cache and with one.

    edited: the prompt with some token replaced, which the model without a cache reads if text is "edited".
    Controls: step (1 to `new_tokens`), text ("same" or "edited"). The model reads when the panel is made.
    """
    runs = {
        "same": reuse(model, tokenizer, prompt, new_tokens),
        "edited": reuse(model, tokenizer, prompt, new_tokens, edited),
    }
    names = {"same": _("stays as it is"), "edited": _("a word was changed, the cache was kept")}
    controls = {
        "step": Stops("step", _("step"), range(1, new_tokens + 1), 1, write=str, whole=True, width=420),
        "text": Choice("text", _("the text"), names, "same", 380),
    }

    def draw(step, text) -> tuple[Scene, str]:
        summary = _summary(runs[text], step)
        return _picture(runs[text], step, f"{prompt}: {summary}"), summary

    return Panel(draw, controls, lambda: draw(min(5, new_tokens), "same")[0])


def _summary(run: Reuse, step: int) -> str:
    words = _("step {step} of {n}: {one} fed with the cache, {other} without; so far {ones} and {others}")
    said = words.format(
        step=step,
        n=len(run.fresh),
        one=run.fed(step, True),
        other=run.fed(step, False),
        ones=run.fed_so_far(step, True),
        others=run.fed_so_far(step, False),
    )
    if run.stale.any():
        stale = _("{n} of {all} reused entries wrong")
        said += "; " + stale.format(n=run.stale_kept(step), all=run.layers * run.kept(step))
    return said + "; " + _("difference {gap}").format(gap=fixed(run.difference(step), 6))


@dataclass(frozen=True)
class Grid:
    """Layers as rows, positions as columns, `top` being the upper edge."""

    run: Reuse
    top: float

    @property
    def width(self) -> float:
        return min(WIDEST, (WIDTH - LEFT) / len(self.run.labels))

    @property
    def row(self) -> float:
        return min(24, TALLEST / self.run.layers)

    @property
    def bottom(self) -> float:
        return self.top + self.row * self.run.layers

    def x(self, position: int) -> float:
        return LEFT + self.width * position

    def box(self, layer: int, start: int, end: int, fill: str | None, stroke: str | None = None) -> Rect:
        """The positions from `start` to before `end` of a layer, as one rectangle."""
        y = self.top + self.row * layer
        return Rect(self.x(start) + 1, y + 1, self.width * (end - start) - 2, self.row - 2, fill, stroke, 1.5)

    def frame(self, title: str) -> Iterator[Mark]:
        yield Text(0, self.top - 10, title, 13, bold=True)
        for layer in range(self.run.layers):
            y = self.top + self.row * (layer + 0.5)
            yield Text(LEFT - 8, y + 4, _("layer {n}").format(n=layer + 1), 11, "muted", "end")

    def cuts(self, end: int) -> Iterator[Mark]:
        """Gaps between the positions of a wide rectangle."""
        for position in range(1, end):
            x = self.x(position)
            yield Line(x, self.top, x, self.bottom, "paper", 2)


def _picture(run: Reuse, step: int, label: str) -> Scene:
    without = Grid(run, 104)
    cached = Grid(run, without.bottom + 42)
    scene = Scene(WIDTH, cached.bottom + 84, label)
    scene.add(*figures(_figures(run, step), 0, (150, 150, 150, 180, 190)))
    scene.add(*legend(_keys(run), WIDTH, 62))
    scene.add(*without.frame(_("without a cache")), *_computed_again(without, step))
    scene.add(*cached.frame(_("with a cache")), *_reused(cached, step))
    labels = [(cached.x(i) + cached.width / 2, shortened(run.labels[i], 11)) for i in range(run.kept(step + 1))]
    scene.add(*column_labels(labels, cached.bottom + 4, cached.width))
    return scene


def _keys(run: Reuse) -> list[Key]:
    keys: list[Key] = [
        (_("computed"), box_key("blue")),
        (_("computed again for nothing"), _again_key),
        (_("kept and reused"), lambda x, y: [Rect(x + 2, y - 9, 16, 10, None, "green", 1.5)]),
    ]
    if run.stale.any():
        keys.append((_("kept, but wrong now"), _wrong_key))
    return keys


def _wrong_key(x: float, y: float) -> list[Mark]:
    return [Rect(x + 2, y - 9, 16, 10, "purple"), *_cross(x + 10, y - 4)]


def _again_key(x: float, y: float) -> list[Mark]:
    return [Rect(x + 2, y - 9, 16, 10, "orange"), Line(x + 2, y + 1, x + 18, y - 9, "paper", 1.5)]


def _cross(x: float, y: float) -> list[Mark]:
    return [Line(x - 4, y - 4, x + 4, y + 4, "ink", 1.5), Line(x - 4, y + 4, x + 4, y - 4, "ink", 1.5)]


def _figures(run: Reuse, step: int) -> Sequence[tuple[str, str]]:
    def both(with_cache: object, without: object) -> str:
        return f"{with_cache} / {without}"

    saved = run.fed_so_far(step, False) / run.fed_so_far(step, True)
    chosen = [shortened(label, 10) for label in run.chosen[step - 1]]
    return [
        (_("fed now: with / without"), both(run.fed(step, True), run.fed(step, False))),
        (_("so far: with / without"), both(run.fed_so_far(step, True), run.fed_so_far(step, False))),
        (_("ratio so far"), f"1 : {fixed(saved, 1)}"),
        (_("largest difference of logits"), fixed(run.difference(step), 6)),
        (_("chooses: with / without"), both(*chosen)),
    ]


def _computed_again(grid: Grid, step: int) -> Iterator[Mark]:
    """Without a cache: what earlier steps had computed already, and what is new."""
    old, end = grid.run.kept(step), grid.run.kept(step + 1)
    for layer in range(grid.run.layers):
        if old:
            yield grid.box(layer, 0, old, "orange")
        yield grid.box(layer, old, end, "blue")
    yield from grid.cuts(end)
    for position in range(old):
        x = grid.x(position)
        yield Line(x, grid.bottom, x + grid.width, grid.top, "paper", 1.5)


def _reused(grid: Grid, step: int) -> Iterator[Mark]:
    """With a cache: what lies in it, right or wrong, and what is new."""
    old, end = grid.run.kept(step), grid.run.kept(step + 1)
    for layer in range(grid.run.layers):
        for position in range(old):
            wrong = bool(grid.run.stale[layer, position])
            yield grid.box(layer, position, position + 1, "purple" if wrong else None, None if wrong else "green")
            if wrong:
                yield from _cross(grid.x(position + 0.5), grid.top + grid.row * (layer + 0.5))
        yield grid.box(layer, old, end, "blue")
    for position in range(old + 1, end):
        yield Line(grid.x(position), grid.top, grid.x(position), grid.bottom, "paper", 2)
