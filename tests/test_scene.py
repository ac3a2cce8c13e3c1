"""Scenes and their two renderers: well formed, readable in both themes, the same bytes each time."""

from __future__ import annotations

import io
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Bitmap

from notebooks.panels.png import COLOURS, png
from notebooks.panels.scene import Image, Line, Polyline, Rect, Scene, Text, beside, moved
from notebooks.panels.svg import CIVIDIS, heat_map_png, svg
from notebooks.panels.theme import CSS, DATA, PRINTED, VARIABLES

HOSTILE = ["<script>alert(1)</script>", "a & b", '"quoted"', "]]>", "$x^2$", "\u65e5\u672c", "\U0001f600", "\u2423"]


def some_scene() -> Scene:
    scene = Scene(200, 100, "a label")
    scene.add(Rect(0, 0, 50, 20, "blue"), Rect(60, 0, 50, 20, stroke="green", line=2))
    scene.add(Line(0, 30, 200, 30), Line(0, 40, 200, 40, "orange", 2, dashed=True))
    scene.add(Polyline([(0, 50), (100, 60), (200, 50)], "purple"), Text(10, 90, "words", turn=-30))
    scene.add(Image(120, 0, 40, 20, np.linspace(0, 1, 6).reshape(2, 3)))
    return scene


def test_svg_is_well_formed_and_holds_every_mark():
    root = ElementTree.fromstring(svg(some_scene()))
    tags = [child.tag for child in root]
    assert tags == ["rect", "rect", "line", "line", "polyline", "text", "image"]
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "a label"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_token_can_neither_break_the_page_nor_run_in_it(text):
    scene = Scene(100, 20, text)
    scene.add(Text(0, 10, text))
    root = ElementTree.fromstring(svg(scene))
    assert [child.tag for child in root] == ["text"]
    assert root[0].text == text
    assert root.attrib["aria-label"] == text


@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_coordinates_are_short_and_never_a_negative_zero(x, y):
    scene = Scene(10, 10)
    scene.add(Line(x, y, -0.0, -0.04))
    line = ElementTree.fromstring(svg(scene))[0].attrib
    assert float(line["x1"]) == pytest.approx(x, abs=0.051)
    assert float(line["y1"]) == pytest.approx(y, abs=0.051)
    assert (line["x2"], line["y2"]) == ("0", "0")


def test_the_same_scene_gives_the_same_png_in_a_small_palette():
    first, second = png(some_scene()), png(some_scene())
    assert first == second
    picture = Bitmap.open(io.BytesIO(first))
    assert picture.mode == "P"
    assert len(picture.convert("RGB").getcolors()) <= COLOURS


def test_the_png_keeps_the_data_colours_exactly():
    scene = Scene(400, 300)
    scene.add(*(Rect(50 * i, 50, 30, 3, colour) for i, colour in enumerate(DATA)))
    present = {colour for _count, colour in Bitmap.open(io.BytesIO(png(scene))).convert("RGB").getcolors()}
    assert {tuple(bytes.fromhex(colour[1:])) for colour in DATA.values()} <= present
    assert (255, 255, 255) in present


def test_the_png_places_a_rectangle_where_the_scene_says():
    scene = Scene(40, 20)
    scene.add(Rect(10, 5, 20, 10, "blue"))
    picture = np.asarray(Bitmap.open(io.BytesIO(png(scene))).convert("RGB"))
    rows, columns = np.nonzero((picture == (0x00, 0x72, 0xB2)).all(axis=-1))
    # Two pixels a unit, after a margin of ten units.
    assert (columns.min(), columns.max() + 1) == (40, 80)
    assert (rows.min(), rows.max() + 1) == (30, 50)


@pytest.mark.parametrize("text", HOSTILE)
def test_the_png_draws_any_token_without_a_warning(text):
    scene = Scene(100, 20)
    scene.add(Text(0, 10, text, mono=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert png(scene).startswith(b"\x89PNG")


def test_a_heat_map_is_one_pixel_a_cell_in_cividis():
    picture = Bitmap.open(io.BytesIO(heat_map_png([[0, 0.5, 1], [-1, 2, 1]])))
    assert picture.size == (3, 2)
    pixels = np.asarray(picture.convert("RGB"))
    assert (pixels[0] == CIVIDIS[[0, 128, 255]]).all()
    assert (pixels[1] == CIVIDIS[[0, 255, 255]]).all()


def test_scenes_side_by_side_keep_their_marks_and_labels():
    left, right = Scene(100, 50, "left"), Scene(60, 80, "right")
    left.add(Rect(1, 2, 3, 4, "blue"))
    right.add(Line(1, 2, 3, 4), Polyline([(0, 0), (1, 1)]), Text(5, 6, "x"))
    row = beside([left, right], gap=10)
    assert (row.width, row.height, row.label) == (170, 80, "left; right")
    assert row.marks[0] == Rect(1, 2, 3, 4, "blue")
    assert row.marks[1:] == [Line(111, 2, 113, 4), Polyline([(110, 0), (111, 1)]), Text(115, 6, "x")]
    assert moved(row.marks[1], -110, 0) == Line(1, 2, 3, 4)


@pytest.mark.parametrize("paper", ["#FFFFFF", "#111111"])
@pytest.mark.parametrize("colour", DATA)
def test_data_colours_stand_out_on_light_and_on_dark(colour, paper):
    assert contrast(DATA[colour], paper) >= 3


@pytest.mark.parametrize("colour", ["blue", "green", "grey"])
def test_white_words_can_be_read_on_the_colours_that_carry_them(colour):
    assert contrast("#FFFFFF", DATA[colour]) >= 3


def test_every_role_has_a_colour_in_both_renderers():
    assert CSS.keys() == PRINTED.keys()
    for variable in ("ink", "muted", "rule", "paper"):
        assert f"--{variable}:" in VARIABLES


def contrast(first: str, second: str) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = np.array(list(bytes.fromhex(colour[1:]))) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
