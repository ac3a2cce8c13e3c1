"""The controls of a panel. Each is a widget with a `value`, and `admit(value)` checks one that comes from code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real

import ipywidgets as widgets
import traitlets

from llm_gen.checks import check_integer, check_real
from llm_gen.text import _
from notebooks.panels.context import Context, stored_contexts
from notebooks.panels.reshaping import GREEDY
from notebooks.panels.words import two_decimals

STYLE = {"description_width": "initial"}
DEFAULT_CONTEXTS = ("story", "night", "animal")
MOST_DRAWS = 10_000


class Stops(widgets.SelectionSlider):
    """A slider over listed stops. From code any number between the extremes may be set: it becomes a stop.

    `write` turns a number into the words beside the slider; `word` is a stop without a number, before the first.
    """

    def __init__(
        self,
        name: str,
        description: str,
        stops: Sequence[float],
        value: float | str,
        *,
        write: Callable[[float], str],
        whole: bool = False,
        word: str | None = None,
        width: int = 290,
    ) -> None:
        self.name, self.write, self.whole, self.word = name, write, whole, word
        super().__init__(
            options=self._options(stops),
            description=description,
            style=STYLE,
            layout=widgets.Layout(width=f"{width}px", flex="0 0 auto"),
        )
        self.value = self.admit(value)

    def admit(self, value: object) -> float | str:
        """`value` as a stop. Raises TypeError or ValueError naming the control and its range."""
        if self.word is not None and value == self.word:
            return self.word
        number = check_integer(self.name, value, 0) if self.whole else round(check_real(self.name, value), 6)
        numbers = self._numbers
        if not numbers[0] <= number <= numbers[-1]:
            beside = f' or be "{self.word}"' if self.word else ""
            raise ValueError(
                f"{self.name} must lie in [{numbers[0]:g}, {numbers[-1]:g}]{beside}, got {value!r}"
            )
        if number not in numbers:
            self._insert(number)
        return number

    @property
    def _numbers(self) -> list[float]:
        return [value for _label, value in self.options if isinstance(value, Real)]

    def _insert(self, number: float) -> None:
        # New options move the slider to the first stop; it goes back before anybody is told.
        with self.hold_trait_notifications():
            kept = self.value
            self.options = self._options(sorted([*self._numbers, number]))
            self.value = kept

    def _options(self, numbers: Iterable[float]) -> list[tuple[str, float | str]]:
        first = [] if self.word is None else [(_(self.word), self.word)]
        return first + [(self.write(number), number) for number in numbers]


class Choice(widgets.Dropdown):
    """One of several named options, as a list."""

    def __init__(self, name: str, description: str, options: dict[str, str], value: str, width: int) -> None:
        self.name = name
        super().__init__(
            options=[(label, key) for key, label in options.items()],
            description=description,
            style=STYLE,
            layout=widgets.Layout(width=f"{width}px", flex="0 0 auto"),
        )
        self.value = self.admit(value)

    def admit(self, value: object) -> str:
        """`value` if it is an option. Raises ValueError listing the options."""
        known = [key for _label, key in self.options]
        if value not in known:
            raise ValueError(f"{self.name} must be one of {', '.join(known)}, got {value!r}")
        return value


class Walk(widgets.HBox):
    """A slider over the steps 0 to `steps`, and two buttons for one step back and one forward."""

    value = traitlets.Int(0)

    def __init__(self, steps: int, value: int = 0, width: int = 420) -> None:
        self.slider = Stops("step", _("step"), range(steps + 1), value, write=str, whole=True, width=width)
        buttons = [self._button(_("Back"), -1), self._button(_("Forward"), 1)]
        super().__init__([self.slider, *buttons], layout=widgets.Layout(flex="0 0 auto", align_items="center"))
        traitlets.link((self.slider, "value"), (self, "value"))

    def admit(self, value: object) -> int:
        """`value` as a step. Raises TypeError or ValueError naming the range."""
        return self.slider.admit(value)

    def _button(self, text: str, by: int) -> widgets.Button:
        button = widgets.Button(description=text, layout=widgets.Layout(width="84px"))
        button.on_click(lambda _button: self._move(by))
        return button

    def _move(self, by: int) -> None:
        _label, last = self.slider.options[-1]
        self.value = min(max(self.value + by, 0), last)


class Draws(widgets.HBox):
    """Two buttons that draw one token or a hundred more; `value` counts the draws so far."""

    value = traitlets.Int(0)

    def __init__(self) -> None:
        buttons = [self._button(_("Draw 1"), 1), self._button(_("Draw 100"), 100)]
        super().__init__(buttons, layout=widgets.Layout(flex="0 0 auto"))

    def admit(self, value: object) -> int:
        """The number of draws, 0 to 10,000."""
        number = check_integer("draws", value, 0)
        if number > MOST_DRAWS:
            raise ValueError(f"draws must be at most {MOST_DRAWS}, got {number}")
        return number

    def _button(self, text: str, more: int) -> widgets.Button:
        button = widgets.Button(description=text, layout=widgets.Layout(width="84px"))
        button.on_click(lambda _button: self.set_trait("value", min(self.value + more, MOST_DRAWS)))
        return button


def temperature_slider(value: float | str = 1.0, *, greedy: bool = True) -> Stops:
    stops = [round(0.05 * i, 2) for i in range(2, 61)]
    word = GREEDY if greedy else None
    return Stops("tau", _("temperature τ"), stops, value, write=two_decimals, word=word, width=350)


def top_k_slider(vocab_size: int, value: int = 0) -> Stops:
    stops = [*range(21), 25, 30, 40, 50, 75, *(step * 10**n for n in range(2, 8) for step in (1, 2, 5))]
    stops = [k for k in stops if k < vocab_size] + [vocab_size]
    return Stops("k", _("top-k"), stops, value, write=_write_top_k, whole=True)


def dart_slider(value: float) -> Stops:
    stops = [*(i / 100 for i in range(100)), 0.999]
    return Stops("u", _("dart u"), stops, value, write=two_decimals)


def top_p_slider(value: float = 1.0) -> Stops:
    stops = [i / 100 for i in range(1, 101)]
    return Stops("p", _("top-p"), stops, value, write=two_decimals)


def height_picker(value: str = "linear") -> Choice:
    return Choice("height", _("height"), {"linear": _("linear"), "log": _("logarithmic")}, value, 170)


def context_picker(contexts: dict[str, Context]) -> Choice:
    options = {name: context.title for name, context in contexts.items()}
    return Choice("context", _("context"), options, next(iter(options)), 470)


def pick_contexts(contexts: Sequence[Context]) -> dict[str, Context]:
    """The contexts by name; without any, a medium, a sure and an unsure one of the stored."""
    if not contexts:
        stored = stored_contexts()
        contexts = [stored[name] for name in DEFAULT_CONTEXTS]
    for context in contexts:
        if not isinstance(context, Context):
            raise TypeError(f"contexts must be Context objects, got {type(context).__name__}")
    named = {context.name: context for context in contexts}
    if len(named) < len(contexts):
        raise ValueError(f"contexts must have different names, got {[each.name for each in contexts]}")
    return named


def with_context(summary: str, name: str, contexts: dict[str, Context]) -> str:
    """The summary line, with the name of the context where there are several."""
    return summary if len(contexts) == 1 else f"{name}, {summary}"


def largest_vocabulary(contexts: dict[str, Context]) -> int:
    return max(len(context.labels) for context in contexts.values())


def _write_top_k(k: float) -> str:
    return _("off") if k == 0 else f"{k:,.0f}"
