"""Whether the words of a panel can be read, for the tests of panels."""

from __future__ import annotations

from test_panels import box

from notebooks.panels import Panel
from notebooks.panels.scene import Text


def assert_legible(panel: Panel) -> None:
    """No level text leaves the picture or lies on another."""
    scene, _summary = panel._draw(**panel.values)
    boxes = [box(mark) for mark in scene.marks if isinstance(mark, Text) and mark.text and not mark.turn]
    for i, (left, top, right, bottom, text) in enumerate(boxes):
        assert left >= -10 and right <= scene.width + 10 and top >= 0 and bottom <= scene.height + 10, text
        for other_left, other_top, other_right, other_bottom, other in boxes[:i]:
            apart = right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top
            assert apart, f"{text!r} and {other!r} overlap at {panel.values}"
