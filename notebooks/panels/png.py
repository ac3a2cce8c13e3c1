"""The saved view: a scene as a small PNG, the same bytes each time, for readers without a kernel."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from PIL import Image as Bitmap

from notebooks.panels.scene import MARGIN, Image, Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.svg import CIVIDIS
from notebooks.panels.theme import PRINTED

PIXELS_PER_UNIT = 2
COLOURS = 64
DASHES = (0, (4, 3))


def png(scene: Scene) -> bytes:
    """The scene on white, two pixels to the unit, in a palette of 64 colours."""
    width, height = scene.width + 2 * MARGIN, scene.height + 2 * MARGIN
    figure = Figure(figsize=(width / 72, height / 72), dpi=72 * PIXELS_PER_UNIT, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-MARGIN, width - MARGIN), ylim=(height - MARGIN, -MARGIN))
    axes.set_axis_off()
    for layer, mark in enumerate(scene.marks):
        _draw(axes, mark, layer)
    canvas.draw()
    return _palette_png(Bitmap.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba()))


def _palette_png(picture: Bitmap.Image) -> bytes:
    """The data colours exactly, the rest (edges, heat maps) by what covers the picture's colours best."""
    picture = picture.convert("RGB")
    exact = np.array([list(bytes.fromhex(colour[1:])) for colour in PRINTED.values()])
    free = COLOURS - len(exact)
    found = np.array(picture.quantize(free, Bitmap.Quantize.MAXCOVERAGE).getpalette()[: 3 * free]).reshape(
        -1, 3
    )
    # Pillow looks for a near colour only roughly, so a twin of an exact one would be taken for it.
    distinct = found[np.abs(found[:, None] - exact).max(axis=-1).min(axis=-1) > 8]
    palette = Bitmap.new("P", (1, 1))
    palette.putpalette(np.concatenate([exact, distinct]).flatten().tolist())
    buffer = io.BytesIO()
    picture.quantize(palette=palette, dither=Bitmap.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _draw(axes, mark: Mark, layer: int) -> None:
    if isinstance(mark, Text):
        _draw_text(axes, mark, layer)
    elif isinstance(mark, Image):
        edges = (mark.x, mark.x + mark.width, mark.y + mark.height, mark.y)
        pixels = CIVIDIS[(mark.values.clip(0, 1) * 255).round().astype(int)]
        axes.imshow(pixels, extent=edges, aspect="auto", interpolation="nearest", zorder=layer)
    elif isinstance(mark, Rect):
        axes.add_patch(_rectangle(mark, layer))
    else:
        axes.add_line(_line(mark, layer))


def _rectangle(mark: Rect, layer: int) -> Rectangle:
    fill, edge = PRINTED.get(mark.fill, "none"), PRINTED.get(mark.stroke, "none")
    look = {
        "facecolor": fill,
        "edgecolor": edge,
        "linewidth": mark.line if mark.stroke else 0,
        "zorder": layer,
    }
    return Rectangle((mark.x, mark.y), mark.width, mark.height, **look)


def _line(mark: Line | Polyline, layer: int) -> Line2D:
    points = mark.points if isinstance(mark, Polyline) else [(mark.x1, mark.y1), (mark.x2, mark.y2)]
    style = DASHES if mark.dashed else "solid"
    look = {"color": PRINTED[mark.stroke], "linewidth": mark.width, "linestyle": style, "zorder": layer}
    return Line2D(*zip(*points), **look, solid_capstyle="butt", dash_capstyle="butt")


def _draw_text(axes, mark: Text, layer: int) -> None:
    font = _font(mark.mono, mark.bold)
    axes.text(
        mark.x,
        mark.y,
        _drawable(mark.text, font),
        fontproperties=font,
        fontsize=mark.size,
        color=PRINTED[mark.fill],
        ha={"start": "left", "middle": "center", "end": "right"}[mark.anchor],
        va="baseline",
        rotation=-mark.turn,
        rotation_mode="anchor",
        parse_math=False,
        zorder=layer,
    )


@cache
def _font(mono: bool, bold: bool) -> FontProperties:
    # DejaVu travels with matplotlib, so the picture is the same on every machine.
    return FontProperties(
        family="DejaVu Sans Mono" if mono else "DejaVu Sans", weight="bold" if bold else "normal"
    )


def _drawable(text: str, font: FontProperties) -> str:
    """Characters that the font lacks become a box; matplotlib would warn about each of them."""
    known = _characters(findfont(font))
    return "".join(character if ord(character) in known else "\u25a1" for character in text)


@cache
def _characters(path: str) -> frozenset[int]:
    return frozenset(get_font(path).get_charmap())
