"""Panel 12, the frontier: how true the stories of a setting are against how different, and the stories themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from llm_gen.story.metrics import Estimate
from llm_gen.text import _
from notebooks.panels.chart import WIDTH, Plot, figures, legend, line_key
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.measured import Measured, setting_title, stored_frontier, stored_grammar, unbeaten
from notebooks.panels.panel import Panel
from notebooks.panels.reshaping import GREEDY
from notebooks.panels.scene import Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.story_lines import story_lines
from notebooks.panels.words import fixed, percent, two_decimals

PLOT = Plot(48, 92, 404, 300)
HEIGHT = PLOT.bottom + 44
STORY_LEFT = 492
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**6)
COLOURS = ("blue", "orange", "green", "purple")


class Listed(Stops):
    """A slider over the listed stops only."""

    def _insert(self, number: float) -> None:
        stops = ", ".join(f"{stop:g}" for stop in self._numbers)
        raise ValueError(f"{self.name} must be one of {stops}, got {number:g}")


def frontier(
    settings: Sequence[Measured] = (),
    grammar: Measured | None = None,
    *,
    tau: float | str = 1.0,
    cut: str = "off",
    story: int = 1,
) -> Panel:
    """The panel "Frontier" on measured settings, or on the stored ones; no model is called.

    Controls: tau (a temperature that was measured, or "greedy"), cut (what is cut off; greedy cuts all), story (which
    of the kept stories to read). Each point is a setting with its standard errors; the grey stairs join those that
    no other beats. grammar: what the language itself reaches, marked by a cross. An arrow: the point lies beyond.
    """
    chart = Chart(list(settings) or list(stored_frontier()), grammar or (None if settings else stored_grammar()))
    most = max(len(one.stories) for one in chart.settings)

    def draw(tau, cut, story) -> tuple[Scene, str]:
        chosen = chart.find(tau, cut)
        shown = min(int(story), len(chosen.stories))
        summary = _summary(chart, chosen, shown)
        return _picture(chart, chosen, shown, summary), summary

    controls = {
        "tau": Listed(
            "tau", _("temperature τ"), chart.temperatures, tau, write=two_decimals, word=chart.word, width=330
        ),
        "cut": Choice("cut", _("cut"), {name: _(name) for name in chart.cuts}, cut, 170),
        "story": Stops("story", _("story"), range(1, most + 1), story, write=str, whole=True, width=250),
    }
    return Panel(draw, controls)


@dataclass(frozen=True)
class Chart:
    """The settings as points of the plot: bits a story to the right, share of true stories upwards."""

    settings: list[Measured]
    grammar: Measured | None

    @property
    def temperatures(self) -> list[float]:
        return sorted({one.tau for one in self.settings if one.tau != GREEDY})

    @property
    def word(self) -> str | None:
        return GREEDY if any(one.tau == GREEDY for one in self.settings) else None

    @property
    def cuts(self) -> list[str]:
        return list(dict.fromkeys(one.cut for one in self.settings if one.tau != GREEDY))

    def find(self, tau: float | str, cut: str) -> Measured:
        """The measured setting. Raises ValueError if this pair was not measured."""
        for one in self.settings:
            if one.tau == tau and (one.cut == cut or tau == GREEDY):
                return one
        raise ValueError(f"tau={tau:g} with {cut} was not measured")

    def curve(self, cut: str) -> list[Measured]:
        return sorted((one for one in self.settings if one.cut == cut and one.tau != GREEDY), key=lambda one: one.tau)

    @cached_property
    def most(self) -> float:
        """The right end of the plot, in bits: what lies beyond twice the grammar's own is noise, however far."""
        widest = max(one.diversity.value + one.diversity.error for one in self.settings)
        return min(widest, 2 * self.grammar.diversity.value) if self.grammar else widest

    def x(self, bits: float) -> float:
        return PLOT.left + PLOT.width * min(max(bits, 0), self.most) / self.most

    def point(self, one: Measured) -> tuple[float, float]:
        return self.x(one.diversity.value), PLOT.y(one.true.value)

    def beaten_by(self, one: Measured) -> str:
        """A setting that is better in both, the truest of them, in words."""
        winners = [other for other in self.settings if other.beats(one)]
        return setting_title(max(winners, key=lambda other: other.true.value)) if winners else _("none")


def _summary(chart: Chart, one: Measured, shown: int) -> str:
    words = _("{name}: {true} true, {diversity} bits, beaten by {winner}; story {n}: {verdict}")
    return words.format(
        name=one.name,
        true=_share(one.true),
        diversity=_number(one.diversity, 1),
        winner=chart.beaten_by(one).replace("τ", "tau"),
        n=shown,
        verdict=one.stories[shown - 1].reason or _("true"),
    )


def _share(estimate: Estimate) -> str:
    return f"{percent(estimate.value)} ± {fixed(100 * estimate.error, 1)}"


def _number(estimate: Estimate, decimals: int) -> str:
    return f"{fixed(estimate.value, decimals)} ± {fixed(estimate.error, decimals)}"


def _picture(chart: Chart, one: Measured, shown: int, summary: str) -> Scene:
    scene = Scene(WIDTH, HEIGHT, _("Quality against diversity: {summary}").format(summary=summary))
    scene.add(*figures(_figures(chart, one), 0, (190, 180, 190, 190, 190)), *legend(_keys(chart), WIDTH, 62))
    scene.add(*_axes(chart), *_stairs(chart))
    for cut, colour in zip(chart.cuts, COLOURS):
        scene.add(*_curve(chart, chart.curve(cut), colour))
    scene.add(
        *_special(chart),
        *_chosen(chart, one),
        *story_lines(one.stories[shown - 1], shown, STORY_LEFT, PLOT.top, HEIGHT),
    )
    return scene


def _figures(chart: Chart, one: Measured) -> list[tuple[str, str]]:
    return [
        (_("setting"), setting_title(one)),
        (_("true stories"), _share(one.true)),
        (_("bits a story"), _number(one.diversity, 1)),
        (_("different pairs of words"), _number(one.pairs, 3)),
        (_("beaten by"), chart.beaten_by(one)),
    ]


def _keys(chart: Chart) -> list:
    lines = [(cut if cut != "off" else _("no cut"), line_key(colour)) for cut, colour in zip(chart.cuts, COLOURS)]
    special = [(_("the grammar itself"), lambda x, y: _ideal(x + 9, y - 4))] if chart.grammar else []
    return [*lines, (_("not beaten"), line_key("grey", 2, dashed=True)), *special]


def _axes(chart: Chart) -> Iterator[Mark]:
    yield from PLOT.axis()
    yield Text(PLOT.left, PLOT.top - 10, _("true stories"), 11, "muted")
    yield Text(PLOT.right, PLOT.bottom + 36, _("diversity: bits a story"), 11, "muted", "end")
    step = next(step for step in TICKS if chart.most / step <= 8)
    for bits in range(0, int(chart.most) + 1, step):
        x = chart.x(bits)
        yield Line(x, PLOT.bottom, x, PLOT.bottom + 4)
        yield Text(x, PLOT.bottom + 17, str(bits), 11, "muted", "middle")


def _stairs(chart: Chart) -> Iterator[Mark]:
    """The border of what was reached: from each unbeaten setting to the next, along the worse of both."""
    points = [chart.point(one) for one in unbeaten(chart.settings)]
    corners = [corner for (_x, y), (x, below) in pairwise(points) for corner in ((x, y), (x, below))]
    if corners:
        yield Polyline([points[0], *corners], "grey", 2, dashed=True)


def _curve(chart: Chart, curve: Sequence[Measured], colour: str) -> Iterator[Mark]:
    points = [chart.point(one) for one in curve]
    yield Polyline(points, colour, 1.5)
    for one, (x, y) in zip(curve, points):
        yield from _bars(chart, one, colour)
        yield Rect(x - 3.5, y - 3.5, 7, 7, colour)


def _bars(chart: Chart, one: Measured, colour: str) -> Iterator[Mark]:
    """One standard error to each side."""
    (x, y), true, spread = chart.point(one), one.true, one.diversity
    yield Line(x, PLOT.y(max(true.value - true.error, 0)), x, PLOT.y(min(true.value + true.error, 1)), colour, 1)
    yield Line(chart.x(spread.value - spread.error), y, chart.x(spread.value + spread.error), y, colour, 1)


def _special(chart: Chart) -> Iterator[Mark]:
    for one in chart.settings:
        if one.tau == GREEDY:
            x, y = chart.point(one)
            yield Rect(x - 4, y - 4, 8, 8, None, "ink", 2)
    if chart.grammar:
        yield from _ideal(*chart.point(chart.grammar))
    yield from _arrows(chart)


def _arrows(chart: Chart) -> Iterator[Mark]:
    """An arrow at each height at which settings lie beyond the right end; heights that nearly agree share one."""
    heights = sorted(chart.point(one)[1] for one in chart.settings if one.diversity.value > chart.most)
    last = 0.0
    for y in heights:
        if y - last > 12:
            yield Text(PLOT.right + 8, y + 4, "→", 12, "muted", bold=True)
            last = y


def _ideal(x: float, y: float, arm: float = 6) -> list[Mark]:
    """The sign of the grammar, centred on (x, y)."""
    return [Line(x - arm, y - arm, x + arm, y + arm, "ink", 2), Line(x - arm, y + arm, x + arm, y - arm, "ink", 2)]


def _chosen(chart: Chart, one: Measured) -> Iterator[Mark]:
    x, y = chart.point(one)
    yield Rect(x - 8, y - 8, 16, 16, None, "ink", 2)
