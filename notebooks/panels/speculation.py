"""Panel 12b, speculation: round by round what a draft guesses and the target keeps; expected tokens beside measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from llm_gen.beyond import Round
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from notebooks.panels.chart import WIDTH, Plot, box_key, cross, cross_key, figures, legend, line_key
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.drafting import MOST, SETTINGS, Drafted, draft_all, speed_up
from notebooks.panels.panel import Panel
from notebooks.panels.read_once import ReadOnce
from notebooks.panels.scene import Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.words import fixed, percent, shortened, two_decimals, visible

SHOWN, ROW, TOP = 8, 26, 104
NUMBER, COLUMNS, WIDEST = 24, 590, 104
HIGHEST = MOST + 1
PLOT = Plot(676, 108, 236, 204)


def speculation(
    model: Any,
    draft: Any,
    tokenizer: Tokenizer,
    *prompts: str,
    guesses: int = 4,
    cost: float = 0.2,
    setting: str = "greedy",
    tokens: int = 40,
) -> Panel:
    """The panel "Speculation": at most `tokens` tokens after one of the prompts, guessed by `draft`.

    Controls: guesses (1 to 8 a round), cost (0 to 1: a pass of the draft, in passes of the model), setting (a name in
    `drafting.SETTINGS`), prompt. The models run when the panel is made and when a list is used, with every number of
    guesses; the sliders only look up. The curve takes the acceptance rate of all of these runs together.
    """
    spelled = [tokenizer.token_bytes(i) for i in range(model.vocab_size)]
    words = [visible(text) or tokenizer.decode([i], show_control=True) for i, text in enumerate(spelled)]
    target, drafter = ReadOnce(model), ReadOnce(draft)
    ids = {text: tuple(tokenizer.encode(text)) for text in prompts}

    @cache
    def run(prompt: str, setting: str) -> Drafted:
        return draft_all(target, drafter, ids[prompt], setting, tokens, tokenizer.eos_id)

    def draw(guesses, cost, setting, prompt) -> tuple[Scene, str]:
        found = run(prompt, setting)
        summary = _summary(found, guesses, cost, setting)
        return _picture(found, guesses, cost, prompt, words, summary), summary

    names = {name: _in_words(name) for name in SETTINGS}
    controls = {
        "guesses": Stops("guesses", _("guesses a round"), range(1, MOST + 1), guesses, write=str, whole=True),
        "cost": Stops("cost", _("draft's cost"), [i / 20 for i in range(21)], cost, write=two_decimals),
        "setting": Choice("setting", _("setting"), names, setting, 210),
        "prompt": Choice("prompt", _("prompt"), {text: shortened(text, 34) for text in prompts}, prompts[0], 330),
    }
    return Panel(draw, controls)


def _in_words(setting: str) -> str:
    return _("greedy") if setting == "greedy" else setting.replace("tau", "τ")


def _summary(found: Drafted, guesses: int, cost: float, setting: str) -> str:
    run = found.runs[guesses - 1]
    said = _(
        "{setting} guesses={guesses} cost={cost}: {passes} passes for {count} tokens, {measured} a pass, expected "
        "{expected} at {rate} accepted; {speed} times as fast"
    )
    return said.format(
        setting=setting,
        guesses=guesses,
        passes=run.target_passes,
        count=sum(len(each.added) for each in run.rounds),
        measured=fixed(found.measured(guesses), 2),
        expected=fixed(found.expected(guesses), 2),
        rate=percent(found.rate),
        cost=two_decimals(cost),
        speed=fixed(speed_up(found.measured(guesses), guesses, cost), 2),
    )


def _picture(found: Drafted, guesses: int, cost: float, prompt: str, words: Sequence[str], summary: str) -> Scene:
    scene = Scene(WIDTH, TOP + ROW * SHOWN + 34, f"{prompt}: {summary}")
    run = found.runs[guesses - 1]
    scene.add(Text(0, 14, shortened(prompt, 40), 14, mono=True), *legend(_keys(), WIDTH, 14))
    scene.add(*figures(_figures(found, guesses, cost), 34, (150, 150, 190, 150, 150)))
    for number, each in enumerate(run.rounds[:SHOWN]):
        scene.add(*_round(number + 1, each, TOP + ROW * number, guesses, words))
    left = len(run.rounds) - SHOWN
    if left > 0:
        more = _("and {n} more rounds").format(n=left)
        scene.add(Text(NUMBER, TOP + ROW * SHOWN + 14, more, 11, "muted"))
    scene.add(*_axes(), *_curves(found, guesses, cost))
    return scene


def _keys() -> list:
    return [
        (_("kept"), box_key("blue")),
        (_("refused"), cross_key),
        (_("the target's own, measured"), box_key("green")),
        (_("expected"), line_key("blue", 2)),
        (_("speed"), line_key("orange", 2, dashed=True)),
    ]


def _figures(found: Drafted, guesses: int, cost: float) -> list[tuple[str, str]]:
    measured = found.measured(guesses)
    return [
        (_("passes of the target"), str(found.runs[guesses - 1].target_passes)),
        (_("accepted, all runs"), percent(found.rate)),
        (_("tokens a pass, measured"), fixed(measured, 2)),
        (_("expected"), fixed(found.expected(guesses), 2)),
        (_("times as fast"), fixed(speed_up(measured, guesses, cost), 2)),
    ]


def _round(number: int, each: Round, y: float, guesses: int, words: Sequence[str]) -> Iterator[Mark]:
    """The guesses that stayed and the target's own token; guesses after a refused one are never judged, nor shown."""
    room = min((COLUMNS - NUMBER) / (guesses + 1), WIDEST)
    most = int((room - 10) / 7.3)
    yield Text(NUMBER - 8, y + 14, str(number), 11, "muted", "end")
    for place, token in enumerate(each.guessed[: each.accepted]):
        x = NUMBER + place * room
        yield Text(x, y + 14, shortened(words[token], most), 12, mono=True)
        yield Rect(x, y + 18, room - 8, 3, "blue")
    yield from _after(each, NUMBER + each.accepted * room, y, room, words)


def _after(each: Round, x: float, y: float, room: float, words: Sequence[str]) -> Iterator[Mark]:
    """What comes after the guesses that stayed: the target's own token, and beside it the one that it replaced."""
    most = int((room - 10) / 7.3)
    if len(each.added) > each.accepted:
        yield Text(x, y + 14, shortened(words[each.added[-1]], most), 12, mono=True, bold=True)
        yield Rect(x, y + 18, room - 8, 3, "green")
    if each.accepted < len(each.guessed):
        x += room
        yield from cross(x + 4, y + 10)
        refused = shortened(words[each.guessed[each.accepted]], max(3, most - 1))
        yield Text(x + 13, y + 14, refused, 12, "muted", mono=True)


def _x(guesses: float) -> float:
    return PLOT.left + (guesses - 0.5) / MOST * PLOT.width


def _y(value: float) -> float:
    return PLOT.y(value / HIGHEST)


def _axes() -> Iterator[Mark]:
    for value in range(0, HIGHEST + 1, 3):
        yield Line(PLOT.left, _y(value), PLOT.right, _y(value))
        yield Text(PLOT.left - 8, _y(value) + 4, str(value), 11, "muted", "end")
    for guesses in range(1, MOST + 1):
        yield Text(_x(guesses), PLOT.bottom + 16, str(guesses), 11, "muted", "middle")
    yield Text(PLOT.left, PLOT.top - 8, _("tokens a pass, by guesses a round"), 11, "muted")


def _curves(found: Drafted, guesses: int, cost: float) -> Iterator[Mark]:
    numbers = range(1, MOST + 1)
    yield Line(_x(guesses), PLOT.top, _x(guesses), PLOT.bottom, "muted")
    yield Polyline([(_x(g), _y(found.expected(g))) for g in numbers], "blue", 2)
    speeds = [speed_up(found.expected(g), g, cost) for g in numbers]
    yield Polyline([(_x(g), _y(speed)) for g, speed in zip(numbers, speeds)], "orange", 2, dashed=True)
    for g in numbers:
        size = 10 if g == guesses else 7
        yield Rect(_x(g) - size / 2, _y(found.measured(g)) - size / 2, size, size, "green")
