"""Panel 7, the loop meter: each token's probability under greedy, and that of the phrase at each repetition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llm_gen.text import _
from notebooks.panels.chart import WIDTH, Plot, box_key, figures, legend, line_key
from notebooks.panels.context import visible_prompt
from notebooks.panels.controls import Choice, Walk
from notebooks.panels.panel import Panel
from notebooks.panels.scene import Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.scored import ScoredText, stored_texts
from notebooks.panels.words import percent, shortened, token_count

PLOT = Plot(60, 176, WIDTH - 60, 220)
HEIGHT = PLOT.bottom + 44
LINES, LINE_TOP, LINE_HEIGHT, SIZE, CHARACTER = 3, 98, 22, 13, 8.0
LABEL_ROOM, POINT, SHORTEST = 40, 8, 6


def loop_meter(*texts: ScoredText, step: int | None = None) -> Panel:
    """The panel "Loop meter" on the given texts, or on the stored ones.

    Controls: step (how many tokens are written; all at first), text (a name). No model is called: a `ScoredText` has
    its probabilities with it. The saved picture is the whole first text. Raises TypeError for what is no `ScoredText`,
    ValueError for two texts of one name.
    """
    texts = texts or tuple(stored_texts().values())
    for text in texts:
        if not isinstance(text, ScoredText):
            raise TypeError(f"texts must be ScoredText objects, got {type(text).__name__}")
    named = {text.name: text for text in texts}
    if len(named) < len(texts):
        raise ValueError(f"texts must have different names, got {[text.name for text in texts]}")
    longest = max(len(text.ids) for text in texts)

    def draw(step, text) -> tuple[Scene, str]:
        meter = read_meter(named[text], step)
        summary = _summary(meter)
        return _picture(meter, summary), summary

    controls = {
        "step": Walk(longest, longest if step is None else step),
        "text": Choice("text", _("text"), {name: _title(text) for name, text in named.items()}, texts[0].name, 470),
    }
    return Panel(draw, controls, lambda: draw(longest, texts[0].name)[0])


@dataclass(frozen=True)
class Meter:
    """A text after `step` of its tokens: the repetitions that are whole by then, and the phrase's probabilities."""

    text: ScoredText
    step: int
    rounds: list[tuple[int, int]]
    probs: list[float]


def read_meter(text: ScoredText, step: int) -> Meter:
    step = min(step, len(text.ids))
    rounds = [(start, end) for start, end in text.rounds if end <= step]
    return Meter(text, step, rounds, text.phrase_probs[: len(rounds)])


def _title(text: ScoredText) -> str:
    words = _("{name} (given to the model): {prompt}") if text.given else _("{name} (greedy): {prompt}")
    return words.format(name=text.name, prompt=shortened(visible_prompt(text.prompt), 42))


def _summary(meter: Meter) -> str:
    text, start = meter.text, _("{name}, step {step} of {n}")
    words = start.format(name=text.name, step=meter.step, n=len(text.ids))
    if text.loop is None:
        return _("{words}: no loop").format(words=words)
    phrase = _("{words}: a phrase of {tokens}, {often} so far")
    words = phrase.format(words=words, tokens=token_count(text.loop.period), often=_often(meter))
    if not meter.rounds:
        return words
    shares = _("{words}; its probability was {first} the first time, {last} the last")
    return shares.format(words=words, first=percent(meter.probs[0]), last=percent(meter.probs[-1]))


def _often(meter: Meter) -> str:
    count = len(meter.rounds)
    return _("once") if count == 1 else _("{count} times").format(count=count)


def _picture(meter: Meter, summary: str) -> Scene:
    scene = Scene(WIDTH, HEIGHT, f"{visible_prompt(meter.text.prompt)}: {summary}")
    keys = [
        (_("a token of the text"), box_key("grey")),
        (_("a token of the loop"), box_key("blue")),
        (_("the whole phrase"), line_key("orange", 3)),
    ]
    scene.add(Text(0, 15, shortened(visible_prompt(meter.text.prompt), 50), 15, mono=True), *legend(keys, WIDTH, 14))
    scene.add(*figures(_figures(meter), 36, (90, 210, 150, 130, 180, 160)), *_lines(meter))
    scene.add(*_bands(meter), *PLOT.axis(), *_bars(meter), *_shares(meter))
    return scene


def _figures(meter: Meter) -> list[tuple[str, str]]:
    text, step = meter.text, meter.step
    return [
        (_("step"), str(step)),
        (_("last token"), shortened(text.labels[step - 1], 20) if step else "–"),
        (_("its probability"), percent(text.probs[step - 1]) if step else "–"),
        (_("the phrase came"), _often(meter) if text.loop else _("no loop")),
        (_("the phrase had, the last time"), percent(meter.probs[-1]) if meter.probs else "–"),
        (_("a draw would leave it"), percent(1 - meter.probs[-1]) if meter.probs else "–"),
    ]


def _lines(meter: Meter) -> Iterator[Mark]:
    """The end of what is written so far, the loop in full ink, a stroke where each repetition begins."""
    text = meter.text
    strokes = {start for start, end in text.rounds if len("".join(text.labels[start:end])) >= SHORTEST}
    for row, line in enumerate(_wrapped(text.labels[: meter.step])[-LINES:]):
        y = LINE_TOP + LINE_HEIGHT * row
        # Fonts differ in width, so each piece has a place of its own and no stroke drifts away from its word.
        cuts = [i for i, (_x, token) in enumerate(line) if i == 0 or token in strokes or text.starts_loop(token)]
        for first, end in zip(cuts, [*cuts[1:], len(line)]):
            x, token = line[first]
            words = "".join(text.labels[each] for _x, each in line[first:end]).replace("\u2423", " ")
            yield Text(x, y, words, SIZE, "ink" if text.in_loop(token) else "muted", mono=True)
            if token in strokes:
                yield Line(x, y - 12, x, y + 4, "orange", 2)


def _wrapped(labels: Sequence[str]) -> list[list[tuple[float, int]]]:
    """Lines of (x, token); no token is cut in two."""
    lines: list[list[tuple[float, int]]] = [[]]
    x = 0.0
    for token, label in enumerate(labels):
        width = CHARACTER * len(label)
        if x + width > WIDTH and lines[-1]:
            lines.append([])
            x = 0.0
        lines[-1].append((x, token))
        x += width
    return lines


def _x(meter: Meter, token: float) -> float:
    return PLOT.left + PLOT.width * token / len(meter.text.ids)


def _bands(meter: Meter) -> Iterator[Mark]:
    """A band behind every other repetition, if they are wide enough to tell apart."""
    for start, end in meter.rounds[::2]:
        width = _x(meter, end) - _x(meter, start)
        if width >= POINT:
            yield Rect(_x(meter, start), PLOT.top, width, PLOT.height, "rule")


def _bars(meter: Meter) -> Iterator[Mark]:
    width = max(PLOT.width / len(meter.text.ids) - 1, 1)
    for token, p in enumerate(meter.text.probs[: meter.step]):
        yield PLOT.bar(_x(meter, token), width, p, "blue" if meter.text.in_loop(token) else "grey")
    yield Line(PLOT.left, PLOT.bottom, PLOT.right, PLOT.bottom, "ink")


def _shares(meter: Meter) -> Iterator[Mark]:
    """The phrase's probability as a point amid each repetition, and below, where there is room, both as numbers."""
    points = [(_x(meter, (start + end) / 2), PLOT.y(p)) for (start, end), p in zip(meter.rounds, meter.probs)]
    number_row, share_row = PLOT.bottom + 16, PLOT.bottom + 32
    if points:
        yield Polyline(points, "orange", 2)
        yield Text(PLOT.left - 8, number_row, _("repetition"), 11, "muted", "end")
        yield Text(PLOT.left - 8, share_row, _("phrase %"), 11, "muted", "end")
    drawn = written = -LABEL_ROOM
    for number, ((x, y), p) in enumerate(zip(points, meter.probs), start=1):
        if x - drawn >= 2 * POINT:
            yield Rect(x - POINT / 2, y - POINT / 2, POINT, POINT, "orange")
            drawn = x
        if x - written >= LABEL_ROOM:
            yield Text(x, number_row, str(number), 12, anchor="middle")
            yield Text(x, share_row, percent(p).removesuffix("%"), 12, anchor="middle", bold=True)
            written = x
