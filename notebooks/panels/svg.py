"""The live view: a scene as one SVG string that follows the theme of the page."""

from __future__ import annotations

import base64
import html
import io

import matplotlib
import numpy as np
from PIL import Image as Bitmap

from notebooks.panels.scene import MARGIN, Image, Line, Mark, Polyline, Rect, Scene, Text
from notebooks.panels.theme import CSS, MONO, SANS, VARIABLES

CIVIDIS = (matplotlib.colormaps["cividis"](np.arange(256))[:, :3] * 255).astype(np.uint8)


def svg(scene: Scene) -> str:
    """The scene as an `<svg>` element as wide as its column, at most its own width, with the label as its name."""
    width, height = scene.width + 2 * MARGIN, scene.height + 2 * MARGIN
    style = f"{VARIABLES};display:block;width:100%;max-width:{_num(width)}px;background:var(--paper)"
    return (
        f'<svg viewBox="-{MARGIN} -{MARGIN} {_num(width)} {_num(height)}" role="img" '
        f'aria-label="{html.escape(scene.label)}" style="{style}" font-family="{SANS}" fill="var(--ink)">'
        + "".join(map(_element, scene.marks))
        + "</svg>"
    )


def heat_map_png(values: object) -> bytes:
    """A grid of numbers in [0, 1] as a palette PNG, one pixel a cell. Values outside are clipped."""
    cells = np.clip(np.asarray(values, dtype=float), 0, 1)
    bitmap = Bitmap.fromarray(np.round(cells * 255).astype(np.uint8), mode=None).convert("P")
    bitmap.putpalette(CIVIDIS.tobytes())
    buffer = io.BytesIO()
    bitmap.save(buffer, "PNG")
    return buffer.getvalue()


def _element(mark: Mark) -> str:
    return _WRITERS[type(mark)](mark)


def _rect(mark: Rect) -> str:
    box = _box(mark)
    fill = CSS[mark.fill] if mark.fill else "none"
    return f'<rect{box} fill="{fill}"{_stroke(mark.stroke, mark.line)}/>'


def _line(mark: Line) -> str:
    ends = f' x1="{_num(mark.x1)}" y1="{_num(mark.y1)}" x2="{_num(mark.x2)}" y2="{_num(mark.y2)}"'
    return f"<line{ends}{_stroke(mark.stroke, mark.width, mark.dashed)}/>"


def _polyline(mark: Polyline) -> str:
    points = " ".join(f"{_num(x)},{_num(y)}" for x, y in mark.points)
    return f'<polyline points="{points}" fill="none"{_stroke(mark.stroke, mark.width, mark.dashed)}/>'


def _text(mark: Text) -> str:
    place = f' x="{_num(mark.x)}" y="{_num(mark.y)}" font-size="{_num(mark.size)}"'
    if mark.fill != "ink":
        place += f' fill="{CSS[mark.fill]}"'
    if mark.anchor != "start":
        place += f' text-anchor="{mark.anchor}"'
    if mark.bold:
        place += ' font-weight="bold"'
    if mark.mono:
        place += f' font-family="{MONO}"'
    if mark.turn:
        place += f' transform="rotate({_num(mark.turn)} {_num(mark.x)} {_num(mark.y)})"'
    return f'<text xml:space="preserve"{place}>{html.escape(mark.text, quote=False)}</text>'


def _image(mark: Image) -> str:
    box = _box(mark)
    data = base64.b64encode(heat_map_png(mark.values)).decode()
    return (
        f'<image{box} preserveAspectRatio="none" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{data}"/>'
    )


_WRITERS = {Rect: _rect, Line: _line, Polyline: _polyline, Text: _text, Image: _image}


def _box(mark: Rect | Image) -> str:
    return f' x="{_num(mark.x)}" y="{_num(mark.y)}" width="{_num(mark.width)}" height="{_num(mark.height)}"'


def _stroke(role: str | None, width: float, dashed: bool = False) -> str:
    if role is None:
        return ""
    thick = f' stroke-width="{_num(width)}"' if width != 1 else ""
    return f' stroke="{CSS[role]}"{thick}' + (' stroke-dasharray="5 4"' if dashed else "")


def _num(value: float) -> str:
    """A coordinate to a tenth of a pixel, without trailing zeros and without a negative zero."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
