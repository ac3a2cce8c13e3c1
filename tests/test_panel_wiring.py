"""What a panel does whatever it shows: controls moved from code, errors, re-running, and what is saved of it."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import ipywidgets as widgets
import matplotlib.figure
import pytest
from ipywidgets.widgets.widget import _instances
from PIL import Image as Bitmap

from notebooks import panels
from notebooks.panels import replacing
from notebooks.panels.controls import Choice, Draws, Stops
from notebooks.panels.frontend import NAMES_AND_KEYS
from notebooks.panels.scene import Scene

FOUR = panels.Context.from_probs("four", {"cat": 0.5, "dog": 0.3, "horse": 0.15, "axolotl": 0.05})


class Fails:
    """A drawing that raises for the even stops and counts how often it is asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        if x % 2 == 0:
            raise RuntimeError(f"no <even> number, got {x}")
        return Scene(10, 10, f"x={x}"), f"x={x}"


@pytest.fixture
def counting():
    draw = Fails()
    control = Stops("x", "x", range(10), 1, write=str, whole=True)
    panel = panels.Panel(draw, {"x": control})
    yield panel, draw
    panel.close()


@pytest.fixture
def panel():
    made = panels.reshape(FOUR)
    yield made
    made.close()


def test_an_error_is_shown_kept_raised_and_recovered_from(counting):
    panel, _draw = counting
    with pytest.raises(RuntimeError, match="no <even> number, got 2"):
        panel.set(x=2)
    assert 'role="alert"' in panel._picture.value
    assert "no &lt;even&gt; number, got 2" in panel._picture.value
    assert isinstance(panel.error, RuntimeError)
    assert panel.set(x=3) == "x=3"
    assert panel.error is None
    assert "alert" not in panel._picture.value


def test_a_move_in_the_page_never_raises(counting):
    panel, draw = counting
    panel.controls["x"].value = 4
    assert isinstance(panel.error, RuntimeError)
    panel.controls["x"].value = 5
    assert panel.error is None
    assert draw.calls == 3


def test_moving_several_controls_draws_once(panel, monkeypatch):
    calls = []
    draw = panel._draw
    monkeypatch.setattr(panel, "_draw", lambda **values: calls.append(values) or draw(**values))
    panel.set(tau=0.5, k=2, p=0.9, height="log", draws=100)
    assert calls == [panel.values]
    assert panel.values == {"tau": 0.5, "k": 2, "p": 0.9, "context": "four", "height": "log", "draws": 100}


@pytest.mark.parametrize(
    ("setting", "kind", "words"),
    [
        ({"temperature": 1.0}, TypeError, "the panel has no control 'temperature'; it has tau, k, p, context"),
        ({"tau": 0.05}, ValueError, 'tau must lie in [0.1, 3] or be "greedy", got 0.05'),
        ({"tau": "hot"}, TypeError, "tau must be a number, got 'hot'"),
        ({"tau": True}, TypeError, "tau must be a number, got True"),
        ({"tau": float("nan")}, ValueError, "tau must be finite, got nan"),
        ({"k": 5}, ValueError, "k must lie in [0, 4], got 5"),
        ({"k": 1.5}, TypeError, "k must be an integer, got 1.5"),
        ({"p": 0.0}, ValueError, "p must lie in [0.01, 1], got 0.0"),
        ({"context": "five"}, ValueError, "context must be one of four, got 'five'"),
        ({"draws": 10_001}, ValueError, "draws must be at most 10000, got 10001"),
        ({"draws": -1}, ValueError, "draws must be an integer >= 0, got -1"),
    ],
)
def test_a_wrong_value_is_named_and_moves_nothing(panel, setting, kind, words):
    before = panel.set(tau=2.0)
    with pytest.raises(kind, match=re.escape(words)):
        panel.set(**{"p": 0.5, **setting})
    assert panel.summary == before
    assert panel.values["p"] == 1.0


def test_a_number_between_the_stops_becomes_one(panel):
    assert panel.set(tau=1.64, p=0.685).startswith("tau=1.64 k=off p=0.685: ")
    numbers = [value for _label, value in panel.controls["tau"].options if value != "greedy"]
    assert 1.64 in numbers
    assert numbers == sorted(numbers)
    assert panel.reset().startswith("tau=1.00 k=off p=1.00: ")


def test_the_buttons_draw_and_reset(panel):
    one, hundred = panel.controls["draws"].children
    one.click()
    hundred.click()
    assert panel.values["draws"] == 101
    assert "; 101 drawn: " in panel.summary
    reset = panel._box.children[0].children[-1]
    assert reset.description == "Reset"
    reset.click()
    assert panel.values["draws"] == 0


def test_running_a_cell_again_closes_the_panels_of_its_last_run(monkeypatch):
    run = iter(range(100))
    monkeypatch.setattr(replacing, "_made_by", {})
    counts = []
    for _ in range(20):
        number = next(run)
        monkeypatch.setattr(replacing, "_running_cell", lambda number=number: ("cell", str(number)))
        pair = panels.reshape(FOUR), panels.nucleus(FOUR)
        assert [panel._box.comm is not None for panel in pair] == [True, True]
        counts.append(len(_instances))
    assert set(counts[1:]) == {counts[0]}
    for panel in pair:
        panel.close()


def test_another_cell_closes_nothing(monkeypatch):
    monkeypatch.setattr(replacing, "_made_by", {})
    kept = []
    for cell in ("first", "second", None, None):
        monkeypatch.setattr(replacing, "_running_cell", lambda cell=cell: (cell, "run"))
        kept.append(panels.reshape(FOUR))
    assert all(panel._box.comm is not None for panel in kept)
    for panel in kept:
        panel.close()


def test_closing_leaves_no_widget_behind():
    before = set(_instances)
    panels.reshape(FOUR).close()
    assert set(_instances) <= before


def test_what_is_saved_of_a_panel(panel):
    panel.set(tau=0.8, k=2)
    bundle, metadata = panel._repr_mimebundle_()
    assert bundle["text/plain"] == f"[interactive panel] {panel.summary}"
    assert bundle["text/plain"].startswith("[interactive panel] tau=0.80 k=2 p=1.00: 2 tokens, top 65.4%")
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel._box.model_id
    assert bundle["image/png"] == panel._repr_mimebundle_()[0]["image/png"]
    assert len(bundle["image/png"]) < 40_000
    picture = Bitmap.open(io.BytesIO(bundle["image/png"]))
    assert picture.width == 2 * metadata["image/png"]["width"]
    assert "image/svg+xml" not in bundle


@pytest.mark.parametrize("make", [panels.nucleus, panels.temperature_map, panels.filter_order, panels.dart])
def test_every_panel_has_a_small_still(make):
    panel = make(FOUR)
    assert len(panel._repr_mimebundle_()[0]["image/png"]) < 40_000
    panel.close()


def test_stills_take_the_settings_they_are_given():
    one, other = (panels.reshape(FOUR, stills=[{"tau": tau}] * 3) for tau in (0.5, 2.0))
    assert one._still().marks != other._still().marks
    assert one.summary == other.summary
    for panel in (one, other):
        panel.close()


def test_no_move_draws_with_matplotlib(panel, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a move drew a matplotlib figure")

    monkeypatch.setattr(matplotlib.figure.Figure, "__init__", refuse)
    panel.set(tau=2.0, k=2, p=0.9, draws=10)
    assert panel.error is None


def test_pyplot_is_never_imported():
    code = (
        "import sys; from notebooks import panels; panels.reshape()._repr_mimebundle_(); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_controls_do_not_write_themselves_while_they_move(panel):
    seen = []
    for name, control in panel.controls.items():
        control.observe(lambda change, name=name: seen.append(name), "value")
    panel.controls["tau"].value = 0.5
    assert seen == ["tau"]


def test_each_control_is_named_and_of_fixed_width(panel):
    for control in panel.controls.values():
        if isinstance(control, (Stops, Choice)):
            assert control.description
            assert control.layout.width.endswith("px")
            assert control.style.description_width == "initial"
        else:
            assert isinstance(control, Draws)
            assert all(isinstance(button, widgets.Button) for button in control.children)


def test_the_helper_is_one_harmless_element():
    assert NAMES_AND_KEYS.count("<") == 1
    assert "data-lm-suppress-shortcuts" in NAMES_AND_KEYS
    assert "aria-label" in NAMES_AND_KEYS
