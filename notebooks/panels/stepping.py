"""Panel 6, step through generation: a text token by token, what might have come, and a second run beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import traitlets

from llm_gen.checks import check_integer
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from notebooks.panels.chart import WIDTH, figures
from notebooks.panels.controls import STYLE, Choice, Walk
from notebooks.panels.panel import Panel
from notebooks.panels.reshaping import GREEDY, reshaped
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text
from notebooks.panels.words import fixed, percent, shortened
from notebooks.panels.writing import Setting, Written, parting, reader, write

SETTINGS: dict[str, Setting] = {
    GREEDY: {"tau": GREEDY},
    "tau=0.50": {"tau": 0.5},
    "tau=1.00": {"tau": 1.0},
    "tau=1.00 p=0.90": {"tau": 1.0, "p": 0.9},
    "tau=2.00": {"tau": 2.0},
}
SHOWN, LINES = 8, 2
TEXT_TOPS, LINE_HEIGHT, MOST_BITS = (50, 152), 34, 12
BARS_TOP, BAR_LEFT, ROW = 254, 150, 21
SIZE, CHARACTER = 13, 8.0


def stepping(
    model: Any,
    tokenizer: Tokenizer,
    *prompts: str,
    setting: str = "tau=1.00",
    other: str = "greedy",
    seed: int = 0,
    steps: int = 24,
) -> Panel:
    """The panel "Step through generation": two runs from one seed after one of the prompts.

    Controls: step (0 to `steps`: how much of the text is written; with buttons back and forward), setting and other
    (names in `SETTINGS`), seed (0 to 9), prompt, take ((step, rank): at that step your run takes that token instead
    of the one drawn; None).
    The model reads when the panel is made and when a list or button is used, each text once; `step` only looks up.
    """
    read, end = reader(model, tokenizer), tokenizer.eos_id
    starts = {text: tuple(tokenizer.encode(text)) for text in prompts}

    @lru_cache(maxsize=64)
    def run(prompt: str, setting: str, seed: int, taken: tuple[int, int] | None) -> list[Written]:
        return write(read, starts[prompt], SETTINGS[setting], seed, steps, end, taken)

    def draw(step, setting, other, seed, prompt, take) -> tuple[Scene, str]:
        own, second = run(prompt, setting, int(seed), take), run(prompt, other, int(seed), None)
        summary = _summary(own, second, step, other)
        after = own[step] if step < len(own) else None
        return _picture(prompt, own, second, step, (setting, other), after, summary), summary

    walk, names = Walk(steps), {name: _title(name) for name in SETTINGS}
    controls = {
        "step": walk,
        "setting": Choice("setting", _("your run"), names, setting, 200),
        "other": Choice("other", _("beside it"), names, other, 200),
        "seed": Choice("seed", _("seed"), {str(n): str(n) for n in range(10)}, str(seed), 110),
        "prompt": Choice("prompt", _("prompt"), {text: shortened(text, 34) for text in prompts}, prompts[0], 330),
        "take": Take(walk, steps),
    }

    def still() -> Scene:
        values = panel.values
        own = run(values["prompt"], values["setting"], int(values["seed"]), values["take"])
        return draw(**{**values, "step": _open_place(own)})[0]

    panel = Panel(draw, controls, still)
    return panel


def _open_place(own: Sequence[Written]) -> int:
    """A step for the saved picture: a few tokens stand there, and the next is surprising and still among the bars."""
    places = range(min(3, len(own) - 1), min(13, len(own)))
    return max(places, key=lambda step: own[step].surprise if own[step].rank < SHOWN else 0)


def _in_words(setting: str) -> str:
    return _("greedy") if setting == GREEDY else setting


def _title(setting: str) -> str:
    return _in_words(setting).replace("tau", "τ")


class Take(widgets.HBox):
    """Choose a token yourself: the number of a bar, and a button that takes it at the step of the slider."""

    value = traitlets.Any(None, allow_none=True)

    def __init__(self, walk: Walk, steps: int) -> None:
        self.walk, self.steps = walk, steps
        numbers = [(_("number {n}").format(n=n), n) for n in range(1, SHOWN + 1)]
        layout = widgets.Layout(width="130px")
        self.number = widgets.Dropdown(options=numbers, description=_("take"), style=STYLE, layout=layout)
        button = widgets.Button(description=_("Choose this token"), layout=widgets.Layout(width="150px"))
        button.on_click(self._take)
        super().__init__([self.number, button], layout=widgets.Layout(flex="0 0 auto"))

    def admit(self, value: object) -> tuple[int, int] | None:
        """(step, rank), both counted from 1, or None for what was drawn."""
        if value is None:
            return None
        step, rank = value
        step, rank = check_integer("step", step, 1), check_integer("rank", rank, 1)
        if step > self.steps or rank > SHOWN:
            raise ValueError(f"take must be (step <= {self.steps}, rank <= {SHOWN}), got {value!r}")
        return step, rank

    def _take(self, _button: object) -> None:
        step = self.walk.value + 1
        if step <= self.steps:
            self.value = (step, self.number.value)
            self.walk.value = step


def _summary(own: Sequence[Written], second: Sequence[Written], step: int, other: str) -> str:
    step = min(step, len(own))
    where = parting(own, second)
    words = _("the same text") if where is None else _("parts from {other} at step {n}")
    part = words.format(other=_in_words(other), n=where)
    if step == 0:
        return _("step 0 of {n}: nothing written; {part}").format(n=len(own), part=part)
    last, bits = own[step - 1], sum(written.surprise for written in own[:step])
    return _("step {step} of {n}: {label} {share}, {bits} bits, text {total} bits; {part}").format(
        step=step,
        n=len(own),
        label=last.label,
        share=percent(last.share),
        bits=fixed(last.surprise, 1),
        total=fixed(bits, 1),
        part=part,
    )


def _picture(prompt, own, second, step, names, after: Written | None, summary: str) -> Scene:
    scene = Scene(WIDTH, BARS_TOP + 30 + ROW * (SHOWN + 1), f"{prompt}: {summary}")
    where = parting(own, second)
    scene.add(*figures(_figures(own[:step], where), 0, (150, 200, 170, 200, 200)))
    for name, run, top in zip(names, (own, second), TEXT_TOPS):
        scene.add(Text(0, top + 8, _title(name), 12, "muted", bold=True))
        scene.add(*_lines(prompt, run[:step], where, top + 30))
    if after is not None:
        scene.add(*_bars(after, SETTINGS[names[0]]))
    return scene


def _figures(written: Sequence[Written], where: int | None) -> list[tuple[str, str]]:
    last = written[-1] if written else None
    return [
        (_("step"), str(len(written))),
        (_("last token"), shortened(last.label, 16) if last else "–"),
        (_("its probability"), percent(last.share) if last else "–"),
        (_("its surprise"), _("{bits} bits").format(bits=fixed(last.surprise, 1)) if last else "–"),
        (_("the runs part at step"), "–" if where is None else str(where)),
    ]


def _lines(prompt: str, written: Sequence[Written], where: int | None, top: float) -> Iterator[Mark]:
    """The text in lines; under each new token a bar as high as its surprise, from the parting on in another colour."""
    tokens = [(piece, None, "muted") for piece in prompt.split()]
    for step, each in enumerate(written, start=1):
        tokens.append((shortened(each.label, 24), each.surprise, "orange" if where and step >= where else "blue"))
    rows: list[list] = [[]]
    x = 0.0
    for label, bits, colour in tokens:
        width = CHARACTER * len(label) + 6
        if x + width > WIDTH:
            rows.append([])
            x = 0.0
        rows[-1].append((x, width, label, bits, colour))
        x += width
    for line, row in enumerate(rows[-LINES:]):
        y = top + line * LINE_HEIGHT
        for x, width, label, bits, colour in row:
            yield Text(x, y, label, SIZE, "muted" if bits is None else "ink", mono=True)
            if bits is not None:
                height = 1 + min(bits, MOST_BITS)
                yield Rect(x, y + 4, width - 6, height, colour)


def _bars(after: Written, setting: Setting) -> Iterator[Mark]:
    """The likeliest next tokens: the model's own share in grey, what is drawn from in blue, a mark on the next."""
    shape, context = reshaped(after.context, **setting), after.context
    shown, room = min(SHOWN, len(context.labels)), WIDTH - BAR_LEFT - 220
    yield Text(0, BARS_TOP + 8, _("what may come next: the model's own (grey), drawn from (blue)"), 12, "muted")
    for rank in range(shown):
        y = BARS_TOP + 20 + ROW * rank
        yield Text(16, y + 13, str(rank + 1), 11, "muted", "end")
        yield Text(BAR_LEFT - 8, y + 13, shortened(context.label_at(rank), 14), 12, "ink", "end", mono=True)
        yield Rect(BAR_LEFT, y + 2, room * float(context.own[rank]), 14, "grey")
        yield Rect(BAR_LEFT, y + 5, room * float(shape.sampled[rank]), 8, "blue")
        words = f"{percent(float(context.own[rank]))} → {percent(float(shape.sampled[rank]))}"
        yield Text(WIDTH, y + 13, words, 11, "ink", "end", bold=rank == after.rank)
        if rank == after.rank:
            yield Line(BAR_LEFT - 3, y, BAR_LEFT - 3, y + 18, "orange", 3)
    y = BARS_TOP + 20 + ROW * shown
    rest = percent(float(shape.sampled[shown:].sum()))
    others = _("{n:,} other tokens: {rest}").format(n=len(context.labels) - shown, rest=rest)
    yield Text(BAR_LEFT - 8, y + 12, others, 11, "muted")
