"""Panel 12a, the beam tree: every step of a search, what stays and what goes, with greedy's way through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from llm_gen.text import _
from notebooks.panels.chart import WIDTH, box_key, cross, cross_key, legend, line_key
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.growing import Node, Text, Tree, grow_tree
from notebooks.panels.panel import Panel
from notebooks.panels.read_once import ReadOnce
from notebooks.panels.scene import Line, Mark, Rect, Scene
from notebooks.panels.scene import Text as Words
from notebooks.panels.words import fixed, percent, shortened, visible

WIDEST = 5
TOP, HEIGHT, ROW = 46, 286, 26
ROOT, GAP = 44, 26  # where the first column begins; what a line needs to reach the next one
LETTER, DIGIT = 7.3, 6.1  # usual widths
LISTED = 3
FILLS = {"kept": "blue", "finished": "green"}


def beam_tree(
    model: Any,
    labels: Sequence[str],
    prompts: Mapping[str, Sequence[int]],
    *,
    eos: int | None = None,
    width: int = 2,
    steps: int = 5,
) -> Panel:
    """The panel "Beam tree": beam search after one of the prompts, step by step.

    labels: the texts of the V tokens. prompts: the text to show -> its ids. eos: the id that ends a text. Controls:
    step (0 to `steps`), width (1 to 5 beams, as the vocabulary allows), penalty (length penalty, 0 to 2: a finished
    text's sum is divided by its length to that power), prompt. The model reads when the panel is made and when another
    prompt is picked, each text once; sliders only look up.
    """
    words = [visible(label) for label in labels]
    widths = range(1, min(WIDEST, model.vocab_size - (eos is not None)) + 1)
    reader = ReadOnce(model)

    @cache
    def search(prompt: str, width: int, penalty: float) -> Tree:
        return grow_tree(reader, tuple(prompts[prompt]), steps, width, penalty, eos)

    @cache
    def read_all(prompt: str) -> None:
        for width in widths:
            search(prompt, width, 1.0)

    def draw(step, width, penalty, prompt) -> tuple[Scene, str]:
        read_all(prompt)
        tree = search(prompt, width, penalty)
        summary = _summary(tree, step, width, penalty, words)
        return _picture(tree, min(step, len(tree.columns)), steps, penalty, prompt, words, summary), summary

    names = {text: shortened(text, 34) for text in prompts}
    controls = {
        "step": Stops("step", _("step"), range(steps + 1), 0, write=str, whole=True),
        "width": Stops("width", _("beams"), widths, width, write=str, whole=True),
        "penalty": Stops("penalty", _("length penalty"), [i / 4 for i in range(9)], 1.0, write=lambda x: fixed(x, 2)),
        "prompt": Choice("prompt", _("prompt"), names, next(iter(names)), 330),
    }
    panel = Panel(draw, controls, lambda: draw(**panel.values | {"step": steps})[0])
    return panel


def spell(text: Text, words: Sequence[str]) -> str:
    """A text as its tokens, with spaces that are seen."""
    joined = [words[token] for token in text]
    between = "" if any("\u2423" in word for word in joined) else " "
    return between.join(joined)


def _summary(tree: Tree, step: int, width: int, penalty: float, words: Sequence[str]) -> str:
    done = min(step, len(tree.columns))
    best = tree.best_open(done)
    ranked = tree.finished[done - 1] if done else ()
    said = _("beams={width} step={step} penalty={penalty}: best open {open}; best finished {finished}")
    return said.format(
        width=width,
        step=step,
        penalty=fixed(penalty, 2),
        open=f"{spell(best.text, words)} {fixed(best.total, 2)}" if best else "–",
        finished=f"{spell(ranked[0][1], words)} {fixed(ranked[0][0], 2)}" if ranked else "–",
    )


def _picture(
    tree: Tree, step: int, steps: int, penalty: float, prompt: str, words: Sequence[str], summary: str
) -> Scene:
    scene = Scene(WIDTH, TOP + HEIGHT + 30 + 20 * (LISTED + 1), f"{prompt}: {summary}")
    scene.add(Words(0, 14, shortened(prompt, 40), 14, mono=True), *legend(_keys(), WIDTH, 14))
    scene.add(Rect(0, TOP + HEIGHT / 2 - 5, 10, 10, "blue"))
    room = (WIDTH - ROOT - 12) / steps
    ends = [(12.0, TOP + HEIGHT / 2)]
    for number, column in enumerate(tree.columns[:step]):
        spots = [(ROOT + number * room, y) for y in _heights(len(column))]
        labels = [_label(node, room - GAP, words) for node in column]
        for node, label, spot in zip(column, labels, spots):
            scene.add(_edge(*ends[node.parent], *spot, node), *_node(node, *label, *spot))
        ends = [(x + _width(node, *label) + 4, y) for node, label, (x, y) in zip(column, labels, spots)]
    scene.add(*_ranking(tree, step, penalty, words))
    return scene


def _keys() -> list:
    return [
        (_("goes on"), box_key("blue")),
        (_("finished"), box_key("green")),
        (_("dropped"), cross_key),
        (_("greedy's way"), line_key("orange", 3)),
    ]


def _heights(count: int) -> list[float]:
    """The middles of `count` rows, centred."""
    row = min(ROW * 1.6, HEIGHT / max(count, 1))
    return [TOP + HEIGHT / 2 + (place - (count - 1) / 2) * row for place in range(count)]


def _edge(x1: float, y1: float, x2: float, y2: float, node: Node) -> Line:
    colour = "orange" if node.greedy else "rule" if node.fate == "dropped" else FILLS[node.fate]
    return Line(x1, y1, x2 - 2, y2, colour, 3 if node.greedy else 1.5)


def _label(node: Node, room: float, words: Sequence[str]) -> tuple[str, str]:
    """The token, shortened, and its numbers: its probability, and the total of a text that stays."""
    share, total = percent(node.share, 0), fixed(node.total, 2)
    numbers = share if node.fate == "dropped" else f"{share} {total}"
    least = 3
    return shortened(words[node.text[-1]], max(least, int((room - 22 - DIGIT * len(numbers)) / LETTER))), numbers


def _width(node: Node, label: str, numbers: str) -> float:
    return 18 + LETTER * len(label) + DIGIT * len(numbers)


def _node(node: Node, label: str, numbers: str, x: float, y: float) -> Iterator[Mark]:
    dropped = node.fate == "dropped"
    yield from cross(x + 4, y, 4) if dropped else [Rect(x, y - 4, 8, 8, FILLS[node.fate])]
    yield Words(x + 13, y + 4, label, 12, "muted" if dropped else "ink", mono=True, bold=not dropped)
    yield Words(x + 18 + LETTER * len(label), y + 4, numbers, 11, "muted")


def _ranking(tree: Tree, step: int, penalty: float, words: Sequence[str]) -> Iterator[Mark]:
    """The best finished texts with their scores, and below them greedy's text."""
    top = TOP + HEIGHT + 26
    said = _("finished, by sum / length") if penalty == 1 else _("finished, by sum / length to the power {power}")
    yield Words(0, top, said.format(power=fixed(penalty, 2)), 12, "muted")
    ranked = tree.finished[step - 1] if step else ()
    for place, (score, text) in enumerate(ranked[:LISTED], start=1):
        y = top + 20 * place
        yield Words(0, y, f"{place}.", 12, "muted")
        yield Words(66, y, fixed(score, 3), 12, "ink", "end", bold=place == 1)
        yield Words(78, y, shortened(spell(text, words), 50), 12, "ink", mono=True, bold=text == tree.greedy)
    yield Words(WIDTH / 2 + 20, top, _("greedy's text"), 12, "muted")
    yield Words(WIDTH / 2 + 20, top + 20, shortened(spell(tree.greedy, words), 54), 12, "ink", mono=True)
