"""Panel 8, batch board: rows by steps, what each cell is, the mask and the positions, and whether a row is as alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from llm_gen.checks import check_integer
from llm_gen.text import _
from notebooks.panels.batching import END, LEFT, NO_MASK, PAD, PADDING, PROMPT, RIGHT, TEXT, BatchRun, run_batch
from notebooks.panels.chart import WIDTH, box_key, figures, legend
from notebooks.panels.controls import Choice, Stops
from notebooks.panels.panel import Panel
from notebooks.panels.scene import Line, Mark, Rect, Scene, Text
from notebooks.panels.words import percent, shortened

MOST_CELLS = 72
BOARD_LEFT, BOARD_RIGHT, MOST_WIDE, BETWEEN = 84, 790, 62, 2
BOARD_TOP, ROW, SMALL_ROW, GAP = 92, 34, 17, 26
FILLS = {PROMPT: "grey", TEXT: "blue", END: "green"}
OWN, AS_END = "own", "eos"
SIDES = {LEFT: _("left, with mask"), NO_MASK: _("left, mask forgotten"), RIGHT: _("right, mask forgotten")}


def batch_board(
    model: Any,
    prompts: Sequence[Sequence[int]],
    steps: int = 8,
    *,
    eos_token_id: int | None = None,
    pad_token_id: int = 0,
    label: Callable[[int], str] = str,
) -> Panel:
    """The panel "Batch board": several prompts (lists of ids) written on greedily, at most 72 cells in all.

    label: an id in words. Controls: step (0 to `steps`); stop ("eos" ends a row, or "never"), pad ("own", or "eos":
    pad = EOS), where there is an end id; side ("left" with its mask, "no mask", "right"), where prompts differ in
    length. The model reads when a list is used, each setting once; `step` only looks up.
    """
    columns = max(map(len, prompts)) + check_integer("steps", steps, minimum=1)
    if len(prompts) * columns > MOST_CELLS:
        raise ValueError(f"prompts and steps must give at most {MOST_CELLS} cells, got {len(prompts)} x {columns}")

    controls = _controls(steps, label, eos_token_id, pad_token_id, ragged=len({*map(len, prompts)}) > 1)
    grid = Grid(min(MOST_WIDE, (BOARD_RIGHT - BOARD_LEFT) / columns))

    @lru_cache(maxsize=32)
    def run(stop: str, pad: str, side: str) -> BatchRun:
        end = eos_token_id if stop == "eos" else None
        return run_batch(model, prompts, steps, end, eos_token_id if pad == AS_END else pad_token_id, side)

    def draw(step, stop="eos", pad=OWN, side=LEFT) -> tuple[Scene, str]:
        batch = run(stop, pad, side)
        step = min(step, batch.steps)
        summary = _summary(batch, step, _unusual(stop, pad, side))
        return _picture(batch, step, grid, label, SIDES[side] if "side" in controls else "", summary), summary

    def still() -> Scene:
        settings = [{**panel.values, "step": steps}]
        if "side" in controls:
            settings = [settings[0] | {"side": side} for side in (LEFT, RIGHT)]
        return _stacked([draw(**setting)[0] for setting in settings])

    panel = Panel(draw, controls, still)
    return panel


@dataclass(frozen=True)
class Grid:
    """Where the columns of the board stand; each is `width` wide."""

    width: float

    def left(self, column: int) -> float:
        return BOARD_LEFT + column * self.width

    def middle(self, column: int) -> float:
        return self.left(column) + (self.width - BETWEEN) / 2


def _controls(steps: int, label: Callable[[int], str], eos: int | None, pad: int, ragged: bool) -> dict:
    controls = {"step": Stops("step", _("step"), range(steps + 1), 0, write=str, whole=True, width=320)}
    if eos is not None:
        ends = {"eos": _("ends its row"), "never": _("is ignored")}
        controls["stop"] = Choice("stop", label(eos), ends, "eos", 180)
        pads = {OWN: label(pad), AS_END: _("{end}, the end itself").format(end=label(eos))}
        controls["pad"] = Choice("pad", _("pad"), pads, OWN, 200)
    if ragged:
        controls["side"] = Choice("side", _("padding"), SIDES, LEFT, 260)
    return controls


def _unusual(stop: str, pad: str, side: str) -> str:
    """Where the lists stand, if not at their usual places."""
    places = {"stop": (stop, "eos"), "pad": (pad, OWN), "side": (side, LEFT)}
    words = [f"{name}={value}" for name, (value, usual) in places.items() if value != usual]
    return ", ".join(words) + ": " if words else ""


def _summary(batch: BatchRun, step: int, setting: str) -> str:
    strange = [str(row) for row, parted in enumerate(batch.parted) if parted and parted <= step]
    verdict = _("not as alone: row {rows}").format(rows=", ".join(strange)) if strange else _("each row as alone")
    cells = _cells(batch, step)
    words = _("{setting}step {step}: {writing} of {rows} rows writing, {filler} of {cells} cells filler; {verdict}")
    return words.format(
        setting=setting,
        step=step,
        writing=_writing(batch, step),
        rows=len(batch.roles),
        filler=_filler(cells),
        cells=len(cells),
        verdict=verdict,
    )


def _cells(batch: BatchRun, step: int) -> list[str]:
    return [role for row in batch.roles for role in row[: batch.width + step]]


def _filler(cells: Sequence[str]) -> int:
    return cells.count(PADDING) + cells.count(PAD)


def _writing(batch: BatchRun, step: int) -> int:
    return sum(ended is None or ended > step for ended in batch.ended)


def _picture(batch: BatchRun, step: int, grid: Grid, label: Callable[[int], str], title: str, summary: str) -> Scene:
    rows, shown = len(batch.roles), batch.width + step
    top = BOARD_TOP + rows * ROW + GAP
    scene = Scene(WIDTH, top + 2 * rows * SMALL_ROW + GAP, summary)
    scene.add(*([Text(0, 12, title, 13, bold=True)] if title else []), *legend(_keys(), WIDTH, 12))
    scene.add(*figures(_figures(batch, step), 30, (130, 180, 130, 200)), *_step_numbers(batch, step, grid))
    for row in range(rows):
        scene.add(*_row(batch, row, shown, grid, label), *_verdict(batch, row, step))
    scene.add(*_numbers(_("mask"), batch.mask[:, :shown].tolist(), top, grid))
    scene.add(*_numbers(_("position"), batch.positions[:, :shown].tolist(), top + rows * SMALL_ROW + GAP, grid))
    return scene


def _keys() -> list:
    return [
        (_("padding"), lambda x, y: _empty(x + 2, y - 9, 16, 10, PADDING)),
        (_("prompt"), box_key("grey")),
        (_("text"), box_key("blue")),
        (_("end"), box_key("green")),
        (_("pad after the end"), lambda x, y: _empty(x + 2, y - 9, 16, 10, PAD)),
    ]


def _figures(batch: BatchRun, step: int) -> list[tuple[str, str]]:
    cells, writing = _cells(batch, step), _writing(batch, step)
    return [
        (_("step"), str(step)),
        (_("rows still writing"), str(writing) if writing else _("0: the loop ends")),
        (_("cells"), str(len(cells))),
        (_("of these filler"), f"{_filler(cells)}, {percent(_filler(cells) / len(cells))}"),
    ]


def _row(batch: BatchRun, row: int, shown: int, grid: Grid, label: Callable[[int], str]) -> Iterator[Mark]:
    y, wide, room = BOARD_TOP + row * ROW, grid.width - BETWEEN, max(1, int((grid.width - 6) / 6.7))
    yield Text(0, y + 18, _("row {n}").format(n=row), 12, "muted")
    for column, (role, token) in enumerate(zip(batch.roles[row][:shown], batch.ids[row].tolist())):
        filled, x = role in FILLS, grid.left(column)
        yield from [Rect(x, y, wide, ROW - 6, FILLS[role])] if filled else _empty(x, y, wide, ROW - 6, role)
        word, ink = shortened(label(token), room), "white" if filled else "muted"
        yield Text(grid.middle(column), y + 18, word, 11, ink, "middle", bold=role == END, mono=True)


def _empty(x: float, y: float, width: float, height: float, role: str) -> list[Mark]:
    """A cell without text. After an end its corner is cut, so that colour is not the only sign."""
    if role == PADDING:
        return [Rect(x, y, width, height, None, "grey")]
    return [Rect(x, y, width, height, None, "orange"), Line(x + width - 7, y, x + width, y + 7, "orange")]


def _verdict(batch: BatchRun, row: int, step: int) -> Iterator[Mark]:
    y, ended, parted = BOARD_TOP + row * ROW, batch.ended[row], batch.parted[row]
    state = _("ended at step {n}").format(n=ended) if ended and ended <= step else _("writing")
    yield Text(WIDTH, y + 11, state, 11, "muted", "end")
    if parted and parted <= step:
        yield Text(WIDTH, y + 26, _("\u2717 not as alone from {n}").format(n=parted), 11, "orange", "end", bold=True)
    else:
        yield Text(WIDTH, y + 26, _("\u2713 as alone"), 11, "green", "end", bold=True)


def _numbers(name: str, rows: Sequence[Sequence[int]], top: float, grid: Grid) -> Iterator[Mark]:
    yield Text(0, top, name, 12, "muted", bold=True)
    for row, numbers in enumerate(rows):
        for column, number in enumerate(numbers):
            yield Text(grid.middle(column), top + row * SMALL_ROW, str(number), 11, anchor="middle")


def _step_numbers(batch: BatchRun, step: int, grid: Grid) -> Iterator[Mark]:
    """A line where the prompts end, and above each new column the step that wrote it."""
    edge = grid.left(batch.width) - BETWEEN / 2
    yield Line(edge, BOARD_TOP - 16, edge, BOARD_TOP + len(batch.roles) * ROW - 4, "ink")
    for number in range(step):
        yield Text(grid.middle(batch.width + number), BOARD_TOP - 6, str(number + 1), 11, "muted", "middle")


def _stacked(scenes: Sequence[Scene]) -> Scene:
    height = sum(scene.height for scene in scenes) + GAP * (len(scenes) - 1)
    column = Scene(WIDTH, height, "; ".join(scene.label for scene in scenes))
    top = 0.0
    for scene in scenes:
        column.add_at(0, top, scene.marks)
        top += scene.height + GAP
    return column
