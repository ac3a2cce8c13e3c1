"""The self-test of the first chapter: what works here in words, and a slider that proves that sliders do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from llm_gen import CheckpointError, generate
from llm_gen.text import _
from llm_gen.weights import load_model
from notebooks.environment import requirements, unmet
from notebooks.panels.chart import WIDTH
from notebooks.panels.controls import Stops
from notebooks.panels.panel import Panel
from notebooks.panels.scene import Mark, Rect, Scene, Text
from notebooks.panels.words import shortened

MOST = 10
ROW, HEIGHT = 30, 190


@dataclass(frozen=True)
class Finding:
    """One thing that the course needs; `problem` says in words what is wrong with it, empty if it works."""

    name: str
    problem: str


def self_test() -> Panel:
    """What of the course works here, and a slider to try.

    Control: number (0 to 10). Where no slider can be shown, the saved picture stands in its place and says what to do.
    """
    found = [Finding(name, check()) for name, check in CHECKS.items()]
    slider = Stops("number", _("move me"), range(MOST + 1), 0, write=str, whole=True)

    def draw(number: float) -> tuple[Scene, str]:
        summary = _summary(found, int(number))
        return _picture(found, int(number), summary), summary

    return Panel(draw, {"number": slider}, lambda: _without_sliders(found))


def check_packages() -> str:
    missing = unmet(requirements(("notebooks",)))
    return (
        _("missing: {names}. Close this and start it again with: python course.py lab").format(names=", ".join(missing))
        if missing
        else ""
    )


def check_torch() -> str:
    shares = torch.tensor([0.0, 0.0], dtype=torch.float64).softmax(dim=-1).tolist()
    return "" if shares == [0.5, 0.5] else _("PyTorch calculates wrongly: install it anew")


def check_model() -> str:
    """Load the small model that comes with the course and let it write one token."""
    try:
        model = load_model("tiny")
    except CheckpointError:
        return _("missing or broken: fetch the course anew")
    written = generate(model, torch.tensor([[0]]), 1, do_sample=False)
    return "" if written.shape == (1, 2) else _("the model did not write a token")


CHECKS: dict[str, Callable[[], str]] = {
    _("the kernel and its packages"): check_packages,
    _("PyTorch"): check_torch,
    _("the small model"): check_model,
}


def _summary(found: list[Finding], number: int) -> str:
    problems = [f"{each.name} ({each.problem})" for each in found if each.problem]
    state = _("not working: {problems}").format(problems=", ".join(problems)) if problems else _("all works")
    return _("{state}; the slider says {number}").format(state=state, number=number)


def _picture(found: list[Finding], number: int, summary: str) -> Scene:
    scene = Scene(WIDTH, HEIGHT, summary)
    scene.add(*_findings(found), *_answer(number))
    return scene


def _findings(found: list[Finding]) -> Iterator[Mark]:
    for row, each in enumerate(found):
        sign, colour = ("\u2717", "orange") if each.problem else ("\u2713", "green")
        words = shortened(each.problem, 100) if each.problem else _("works")
        yield Text(0, ROW * row + 18, sign, 18, colour, bold=True)
        yield Text(28, ROW * row + 18, f"{each.name}: {words}", 14)


def _answer(number: int) -> Iterator[Mark]:
    """As many full boxes as the slider says."""
    top = ROW * len(CHECKS) + 24
    yield Text(0, top, _("Move the slider: the kernel fills as many boxes as it says."), 14)
    for box in range(MOST):
        yield Rect(36 * box, top + 14, 28, 28, "blue" if box < number else None, "grey")
    yield Text(36 * MOST + 8, top + 34, str(number), 18, bold=True)


def _without_sliders(found: list[Finding]) -> Scene:
    """What stands in the place of the slider where none can be shown."""
    advice = (
        _("No slider here? You see a saved picture. Run the cell: click on it and press Shift+Enter."),
        _("Still none? Close this and start the course from a terminal with: python course.py lab"),
        _("In VS Code: install its Jupyter extension, trust the folder, and choose the Python of the course."),
        _("You can go on without sliders: panel.set(tau=0.5) moves a panel from code, and tells what it shows."),
    )
    scene = Scene(WIDTH, ROW * (len(found) + len(advice)) + 16, advice[0])
    scene.add(*_findings(found))
    scene.add(*(Text(0, ROW * (len(found) + row) + 30, line, 14) for row, line in enumerate(advice)))
    return scene
