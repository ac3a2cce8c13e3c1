"""The panels in a real browser: each slider has a name, answers to keys, and can be read in both themes."""

from __future__ import annotations

import contextlib
import inspect
import re
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright", reason="the browser test (playwright is not installed)")

from lab import (
    ROOT,
    browser,
    open_another,
    open_notebook,
    open_page,
    press,
    run_all,
    server,
    shut_down_kernels,
    write_notebook,
)

from notebooks import panels

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

# Presses of a key there and back: many where every panel is tried first, few in chapters and in the other front end.
MANY, FEW = 5, 2
MAKERS = {
    name: inspect.signature(getattr(panels, name)).parameters
    for name in panels.__all__
    if callable(getattr(panels, name)) and inspect.signature(getattr(panels, name)).return_annotation == "Panel"
}
HAS_PANEL = re.compile(rf"panels\.(?:{'|'.join(MAKERS)})\(")
IS_CHECK = re.compile(r"^(?:check|hint|solution|progress)\(", re.M)
EVERY_PANEL = "every_panel.ipynb"
SET_UP = """
from notebooks import panels
small = panels.Context("small", "", [3.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.0])
story = panels.stored_contexts()["story"]
"""
COUNT = "import ipywidgets\nprint('widgets:', len(ipywidgets.widgets.widget._instances))"
SLIDERS = ".noUi-target:not([disabled]) [role=slider]"
COLOURS = "svg => { const style = getComputedStyle(svg); return [style.fill, style.backgroundColor]; }"


def code_to_the_last_panel(chapter: Path) -> list[str]:
    """The code cells of a chapter without the checks of exercises, which take time and show no panel."""
    cells = [cell.source for cell in nbformat.read(chapter, 4).cells if cell.cell_type == "code"]
    last = max((number for number, cell in enumerate(cells) if HAS_PANEL.search(cell)), default=-1)
    return [cell for cell in cells[: last + 1] if HAS_PANEL.search(cell) or not IS_CHECK.search(cell)]


def shows_more(chapter: Path) -> bool:
    """Whether a chapter shows a panel that is not in the notebook of every panel; only then is it worth its kernel."""
    code = "\n".join(code_to_the_last_panel(chapter))
    return any(f"panels.{name}(" in code for name, parameters in MAKERS.items() if "contexts" not in parameters)


CHAPTERS = [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if shows_more(path)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The code of each chapter that leads to its panels, and a notebook with every panel that shows contexts."""
    folder = tmp_path_factory.mktemp("notebooks")
    for chapter in CHAPTERS:
        write_notebook(folder / chapter.name, *code_to_the_last_panel(chapter))
    cells = [f"panels.{name}(small, story)" for name, parameters in MAKERS.items() if "contexts" in parameters]
    write_notebook(folder / EVERY_PANEL, SET_UP, *cells, COUNT)
    return folder


@pytest.fixture(scope="module")
def window(chromium):
    with browser(chromium) as window:
        yield window


@pytest.fixture(scope="module")
def lab_page(window, folder, tmp_path_factory):
    """A page of JupyterLab with the notebook of every panel, run; shared, since the start takes long."""
    with started("lab", window, folder, tmp_path_factory) as page:
        yield page


@contextlib.contextmanager
def started(kind: str, window, folder: Path, tmp_path_factory):
    with server(kind, folder, tmp_path_factory.mktemp(kind)) as address:
        page, faults = open_page(window), []
        open_notebook(page, address, EVERY_PANEL)
        # Only from here on: Notebook 7 has a fault of its own while it loads.
        page.on("pageerror", lambda error: faults.append(str(error)))
        run_all(page)
        yield page
        shut_down_kernels(page)
        page.close()
        assert faults == []


def test_every_slider_answers_to_keys_in_jupyterlab(lab_page, folder):
    try_sliders(lab_page, folder / EVERY_PANEL)


def test_the_dark_theme_turns_ink_and_paper_round(lab_page, folder):
    picture = panels_in(lab_page, folder / EVERY_PANEL)[0].locator("svg[role=img]")
    light_ink, light_paper = map(brightness, picture.evaluate(COLOURS))
    lab_page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    lab_page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    dark_ink, dark_paper = map(brightness, picture.evaluate(COLOURS))
    assert light_ink < 100 < 200 < light_paper
    assert dark_paper < 100 < 200 < dark_ink


def test_running_the_cells_again_leaves_no_widget_behind(lab_page, folder):
    counts = []
    for _run in range(2):
        run_all(lab_page)
        panels_in(lab_page, folder / EVERY_PANEL)
        counts.append(lab_page.get_by_text("widgets: ").last.inner_text())
    assert re.fullmatch(r"widgets: [1-9]\d*\s*", counts[0])
    assert counts[1] == counts[0]


@pytest.mark.parametrize("name", [chapter.name for chapter in CHAPTERS])
def test_every_slider_of_a_chapter_answers_to_keys(lab_page, folder, name):
    open_another(lab_page, name)
    run_all(lab_page)
    try_sliders(lab_page, folder / name, FEW)


def test_every_slider_answers_to_keys_in_notebook_7(window, folder, tmp_path_factory):
    with started("notebook", window, folder, tmp_path_factory) as page:
        try_sliders(page, folder / EVERY_PANEL, FEW)


def try_sliders(page, path: Path, keys: int = MANY) -> None:
    for panel in panels_in(page, path):
        assert panel.locator("svg[role=img]").get_attribute("aria-label")
        sliders = panel.locator(SLIDERS).all()
        assert sliders
        for slider in sliders:
            assert slider.get_attribute("aria-label")
            try_keys(slider, keys)
            assert slider.get_attribute("aria-valuetext")
    assert page.locator(".llm-panel [role=alert]").count() == 0


def panels_in(page, path: Path) -> list:
    """The panels of the notebook at `path`, once the last of them has its picture."""
    panels = page.locator(".llm-panel")
    expected = len(HAS_PANEL.findall(path.read_text("utf-8")))
    panels.nth(expected - 1).locator("svg[role=img]").wait_for()
    return panels.all()


def try_keys(slider, keys: int) -> None:
    """So many steps away from the nearer end and back, or as many as there are."""
    least, most, now = (float(slider.get_attribute(f"aria-value{end}")) for end in ("min", "max", "now"))
    there, back = ("ArrowRight", "ArrowLeft") if most - now > now - least else ("ArrowLeft", "ArrowRight")
    steps = int(min(keys, max(most - now, now - least)))
    assert steps > 1
    for key in [there] * steps + [back] * steps:
        press(slider, key)


def brightness(colour: str) -> float:
    """The mean of red, green and blue in `rgb(r, g, b)` or `rgba(r, g, b, a)`, from 0 to 255."""
    channels = [float(number) for number in re.findall(r"[\d.]+", colour)][:3]
    return sum(channels) / 3
