"""Panel 10, memory and the price of a token: the formula of the cache with its numbers, and what a step waits for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import ipywidgets as widgets

from llm_gen.text import _
from notebooks.panels.chart import WIDTH, figures
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.costs import DTYPES, MACHINES, MODELS, Cost, Machine
from notebooks.panels.panel import Panel
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text
from notebooks.panels.timing import this_computer
from notebooks.panels.words import fixed

HERE = "this computer"
LENGTHS = [2**n for n in range(6, 18)]
ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
LAYERS = [1, 2, 4, 8, 12, 18, 24, 30, 32, 40, 48, 64, 80]
KV_HEADS = [1, 2, 3, 4, 8, 16, 32, 64]
HEAD_SIZES = [32, 64, 96, 128, 192, 256]
LEFT, RIGHT, ROW = 252, WIDTH - 118, 24
MEMORY_TOP, TIME_TOP = 116, 312


def memory_price(
    model: str = "Mistral 7B",
    tokens: int = 4096,
    rows: int = 1,
    machine: str = "A100 80 GB",
    here: Machine | None = None,
) -> Panel:
    """The panel "Memory and the price of a token" on a published model.

    Controls: model (a name in `costs.MODELS`; it sets layers, kv_heads and head_size, so name it first), tokens
    (64 to 131,072), rows (1 to 256), layers, kv_heads, head_size, numbers ("float32", "float16", "int8": of weights
    and cache), machine (a name in `costs.MACHINES`, or "this computer": what `here` says of it, or what is measured
    when it is first chosen, in a second or a few).
    """
    sizes = MODELS[model]
    controls = {
        "model": Choice("model", _("model"), {name: name for name in MODELS}, model, 210),
        "tokens": _slider("tokens", _("tokens"), LENGTHS, tokens),
        "rows": _slider("rows", _("rows"), ROWS, rows),
        "layers": _slider("layers", _("layers"), LAYERS, sizes.layers),
        "kv_heads": _slider("kv_heads", _("KV heads"), KV_HEADS, sizes.kv_heads),
        "head_size": _slider("head_size", _("head size"), HEAD_SIZES, sizes.head_size),
        "numbers": Choice("numbers", _("numbers"), {name: name for name in DTYPES}, "float16", 180),
        "machine": Choice("machine", _("machine"), {name: _(name) for name in (*MACHINES, HERE)}, machine, 220),
    }
    controls["model"].observe(lambda change: _take_sizes(controls, change["new"]), "value")

    def draw(model, tokens, rows, layers, kv_heads, head_size, numbers, machine) -> tuple[Scene, str]:
        sizes = replace(MODELS[model], layers=int(layers), kv_heads=int(kv_heads), head_size=int(head_size))
        running_on = MACHINES.get(machine) or here or this_computer()
        now = Cost(sizes, int(tokens), int(rows), numbers, running_on)
        summary = _summary(now)
        return _picture(now, f"{model}, {machine}: {summary}", machine), summary

    return Panel(draw, controls)


def _slider(name: str, description: str, stops: Sequence[int], value: int) -> Stops:
    return Stops(name, description, stops, value, write=lambda n: f"{n:,.0f}", whole=True, width=270)


def _take_sizes(controls: dict[str, widgets.Widget], model: str) -> None:
    for name in ("layers", "kv_heads", "head_size"):
        controls[name].value = controls[name].admit(getattr(MODELS[model], name))


def formula(now: Cost) -> str:
    """The bytes of the cache as the product that they are."""
    sizes = now.sizes
    factors = [
        (_("layers"), sizes.layers),
        (_("KV heads"), sizes.kv_heads),
        (_("head size"), sizes.head_size),
        (_("tokens"), now.tokens),
        (_("rows"), now.rows),
        (_("bytes"), now.bytes_per_number),
    ]
    return " × ".join(["2", *(f"{value:,} {name}" for name, value in factors)])


def amount(count: float) -> str:
    """Bytes as `512.0 MiB`; a GiB is 2 ** 30 bytes."""
    power = min(int(math.log2(max(count, 1))) // 10, 5)
    return f"{fixed(count / 1024**power, 1)} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"


def duration(seconds: float) -> str:
    """`7.10 ms`, with three digits that count."""
    value, unit = (1000 * seconds, "ms") if seconds < 1 else (seconds, "s")
    digits = 2 - math.floor(math.log10(value))
    return f"{fixed(value, min(max(digits, 0), 6))} {unit}"


def _summary(now: Cost) -> str:
    words = _("cache {cache}, allocated {allocated}; weights {weights}; {fits}; step {step}, {pace} tokens/s, {wait}")
    return words.format(
        cache=amount(now.cache_bytes()),
        allocated=amount(now.allocated),
        weights=amount(now.weight_bytes),
        fits=_("they fit") if now.fits else _("they do NOT fit"),
        step=duration(now.step_seconds),
        pace=_pace(now),
        wait=_("memory-bound") if now.memory_bound else _("compute-bound"),
    )


def _pace(now: Cost) -> str:
    pace = now.rows / now.step_seconds
    return f"{pace:,.0f}" if pace >= 10 else fixed(pace, 1)


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis from `least` to `most` with the marks that are written under it."""

    least: float
    most: float
    ticks: dict[float, str]

    def x(self, value: float) -> float:
        share = math.log(max(value, self.least) / self.least) / math.log(self.most / self.least)
        return LEFT + min(share, 1) * (RIGHT - LEFT)

    def axis(self, top: float, bottom: float) -> Iterator[Mark]:
        for value, word in self.ticks.items():
            yield Line(self.x(value), top, self.x(value), bottom)
            yield Text(self.x(value), bottom + 14, word, 11, "muted", "middle")

    def bar(self, y: float, name: str, value: float, said: str, fill: str, *, main: bool = False) -> Iterator[Mark]:
        yield Text(LEFT - 10, y + 14, name, 12, "ink", "end", bold=main)
        yield Rect(LEFT, y + 4, max(self.x(value) - LEFT, 1), 14, fill)
        yield Text(WIDTH, y + 14, said, 12, "ink", "end", bold=main)


BYTES = Scale(2**20, 2**45, {2.0**n: amount(2**n).replace(".0", "") for n in range(20, 46, 5)})
SECONDS = Scale(1e-6, 100, {1e-6: "1 µs", 1e-4: "0.1 ms", 1e-2: "10 ms", 1: "1 s", 100: "100 s"})


def _picture(now: Cost, label: str, machine: str) -> Scene:
    scene = Scene(WIDTH, TIME_TOP + 3 * ROW + 24, label)
    scene.add(Text(0, 15, formula(now), 14, mono=True))
    scene.add(*figures(_figures(now), 34, (230, 170, 150, 190, 180)))
    scene.add(*_memory(now, machine), *_time(now))
    return scene


def _figures(now: Cost) -> Sequence[tuple[str, str]]:
    return [
        (_("= the cache in bytes"), f"{now.cache_bytes():,}"),
        (_("weights"), amount(now.weight_bytes)),
        (_("one step"), duration(now.step_seconds)),
        (_("tokens a second, all rows"), _pace(now)),
        (_("a step waits for"), _("memory") if now.memory_bound else _("arithmetic")),
    ]


def _memory(now: Cost, machine: str) -> Iterator[Mark]:
    """Weights and cache beside what a real cache allocates, and what other numbers of KV heads would take."""
    sizes, top = now.sizes, MEMORY_TOP
    most = max(sizes.heads, sizes.kv_heads)
    bars = [
        (_("the weights"), now.weight_bytes, "grey", False),
        (_("the cache, by the formula"), now.cache_bytes(), "blue", True),
        (_("the cache, as allocated"), now.allocated, "green", False),
        (_("with {n} KV heads (MHA)").format(n=most), now.cache_bytes(most), "purple", False),
        (_("with 1 KV head (MQA)"), now.cache_bytes(1), "purple", False),
    ]
    bottom = top + ROW * len(bars)
    yield Text(0, top - 8, _("memory"), 13, bold=True)
    yield from BYTES.axis(top, bottom)
    for row, (name, value, fill, main) in enumerate(bars):
        yield from BYTES.bar(top + ROW * row, name, value, amount(value), fill, main=main)
    if now.machine.memory is not None:
        x = BYTES.x(now.machine.memory)
        yield Line(x, top - 4, x, bottom, "orange", 2, dashed=True)
        fits = _("weights and cache fit") if now.fits else _("weights and cache do NOT fit")
        yield Text(x, top - 8, f"{machine}: {fits}", 11, "ink", "middle")


def _time(now: Cost) -> Iterator[Mark]:
    """What one step does; reading and computing happen side by side."""
    bars = [
        (_("read the weights"), now.weight_seconds, "grey", now.memory_bound),
        (_("read the cache"), now.cache_seconds, "blue", now.memory_bound),
        (_("compute, meanwhile"), now.compute_seconds, "orange", not now.memory_bound),
    ]
    bottom = TIME_TOP + ROW * len(bars)
    yield Text(0, TIME_TOP - 8, _("time of one step"), 13, bold=True)
    yield from SECONDS.axis(TIME_TOP, bottom)
    for row, (name, value, fill, main) in enumerate(bars):
        yield from SECONDS.bar(TIME_TOP + ROW * row, name, value, duration(value), fill, main=main)
