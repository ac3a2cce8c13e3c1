"""A panel: controls above, a picture below that follows them at once.

`Panel` knows nothing of what is shown: it wires controls to a function that draws. The handler is synchronous,
so the kernel stays busy while it draws, and the front end keeps one move in flight and one waiting.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator

import ipywidgets as widgets

from llm_gen.text import _
from notebooks.panels.frontend import ALERT_STYLE, NAMES_AND_KEYS
from notebooks.panels.png import png
from notebooks.panels.replacing import replace_previous
from notebooks.panels.scene import MARGIN, Scene
from notebooks.panels.svg import svg


class Panel:
    """A picture with controls; it shows itself as the last value of a cell.

    draw: `draw(**values)` -> (scene, one-line summary), values by the names in `controls`.
    controls: widgets by name, as in `controls`. still: `still()` -> the scene of the saved picture.

    `summary` is the current line. `error` is what the last drawing raised, or None; it is shown in the panel,
    and the next setting that can be drawn recovers.
    """

    def __init__(
        self,
        draw: Callable[..., tuple[Scene, str]],
        controls: dict[str, widgets.Widget],
        still: Callable[[], Scene] | None = None,
    ) -> None:
        self.controls = controls
        self.summary = ""
        self.error: Exception | None = None
        self._draw, self._still = draw, still or (lambda: draw(**self.values)[0])
        self._initial = self.values
        self._holding = False
        self._picture = widgets.HTML(layout=widgets.Layout(width="100%", margin="0"))
        self._box = self._assemble()
        for control in controls.values():
            control.observe(self._moved, "value")
        self._redraw()
        replace_previous(self)

    @property
    def values(self) -> dict[str, object]:
        """Where the controls stand, by name."""
        return {name: control.value for name, control in self.controls.items()}

    def set(self, **values: object) -> str:
        """Move controls from code, draw once, return the summary. Raises what drawing raised.

        Raises TypeError for a control that does not exist, and what a control says about a value out of its
        range; then nothing has moved.
        """
        for name in values:
            if name not in self.controls:
                raise TypeError(f"the panel has no control {name!r}; it has {', '.join(self.controls)}")
        self._place({name: self.controls[name].admit(value) for name, value in values.items()})
        if self.error is not None:
            raise self.error
        return self.summary

    def reset(self) -> str:
        """Move every control back to where it began."""
        return self.set(**self._initial)

    def close(self) -> None:
        """Remove the panel from the page and its models, with their layouts and styles, from the kernel."""
        for widget in _with_parts(self._box):
            widget.close()

    def _moved(self, _change: object) -> None:
        if not self._holding:
            self._redraw()

    def _place(self, values: dict[str, object]) -> None:
        """Move several controls and draw once."""
        self._holding = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._holding = False
        self._redraw()

    def _redraw(self) -> None:
        try:
            scene, self.summary = self._draw(**self.values)
            self._picture.value, self.error = svg(scene), None
        except Exception as error:  # whatever it is, the reader sees it where the picture was
            self.error = error
            words = html.escape(f"{type(error).__name__}: {error}")
            self._picture.value = f'<div role="alert" style="{ALERT_STYLE}">{words}</div>'

    def _assemble(self) -> widgets.VBox:
        back = widgets.Button(description=_("Reset"), layout=widgets.Layout(width="84px", flex="0 0 auto"))
        back.on_click(lambda _button: self._place(self._initial))
        row = widgets.Layout(flex_flow="row wrap", align_items="center", width="100%", padding="0 0 0 8px")
        controls = widgets.HBox([*self.controls.values(), back], layout=row)
        helper = widgets.HTML(NAMES_AND_KEYS, layout=widgets.Layout(display="block", height="0", margin="0"))
        box = widgets.VBox([controls, self._picture, helper], layout=widgets.Layout(max_width="960px"))
        box.add_class("llm-panel")
        return box

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict, dict]:
        """The widget, a picture for readers without a kernel, and a line of text that nbval compares."""
        bundle, still = self._box._repr_mimebundle_(), self._still()
        bundle["image/png"] = png(still)
        bundle["text/plain"] = _("[interactive panel] {summary}").format(summary=self.summary)
        return bundle, {"image/png": {"width": round(still.width + 2 * MARGIN)}}


def _with_parts(widget: widgets.Widget) -> Iterator[widgets.Widget]:
    for child in getattr(widget, "children", ()):
        yield from _with_parts(child)
    yield from (
        part
        for name in ("layout", "style")
        if isinstance(part := getattr(widget, name, None), widgets.Widget)
    )
    yield widget
