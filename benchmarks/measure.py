"""How a figure is taken: the sides take turns, so that a machine whose speed drifts treats them alike.

Each turn gives one ratio, and the median of the ratios is the figure. Where a call is short, a turn repeats it.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

BLOCK_SECONDS = 0.02  # a turn of one side lasts at least this long


@dataclass(frozen=True)
class Effort:
    """turns: how often each side is measured. tokens: new tokens of one text, of a small and of a large model."""

    turns: int
    tokens_small: int
    tokens_large: int
    quick: bool


FULL, QUICK = Effort(7, 120, 16, False), Effort(3, 60, 10, True)


@dataclass(frozen=True)
class Row:
    """One line of the table. ratio: ours against the peer, above 1 is better; spread: its quartiles over the turns.

    goal: what the ratio should reach, or None. ours, theirs: medians in `unit`.
    """

    part: str
    what: str
    peer: str
    ours: float | None
    theirs: float | None
    unit: str
    ratio: float
    spread: tuple[float, float] | None = None
    goal: float | None = None

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "reached" if self.ratio >= self.goal else "missed"


def race(sides: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, list[float]]:
    """Seconds of one call of each side in each turn; the order is turned round every other time."""
    counts = {name: _calls_in_a_block(run) for name, run in sides.items()}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    gc.collect()
    gc.disable()
    try:
        for turn in range(turns):
            for name in list(sides)[:: 1 if turn % 2 == 0 else -1]:
                seconds[name].append(_seconds(sides[name], counts[name]))
    finally:
        gc.enable()
    return seconds


def compare(
    part: str,
    what: str,
    sides: Mapping[str, Callable[[], Any]],
    turns: int,
    *,
    amount: float | None = None,
    unit: str = "ms",
    goals: Mapping[str, float] | None = None,
) -> list[Row]:
    """One row for each peer of the first side. amount: of work in a call, so that figures are `unit` = amount a second;
    without it they are milliseconds a call."""
    seconds = race(sides, turns)
    first, *peers = sides
    show = (lambda s: 1000 * s) if amount is None else (lambda s: amount / s)
    return [
        row_of(part, what, peer, seconds[first], seconds[peer], show, unit, (goals or {}).get(peer)) for peer in peers
    ]


def row_of(part, what, peer, ours, theirs, show, unit, goal=None) -> Row:
    """The row of two lists of seconds; the smaller is the better."""
    ratios = [b / a for a, b in zip(ours, theirs)]
    medians = show(statistics.median(ours)), show(statistics.median(theirs))
    return Row(part, what, peer, *medians, unit, statistics.median(ratios), quartiles(ratios), goal)


def quartiles(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _calls_in_a_block(run: Callable[[], Any]) -> int:
    """Warms up, and says how many calls fill a block."""
    first = _seconds(run, 1)
    return 1 if first > 50 * BLOCK_SECONDS else max(1, round(BLOCK_SECONDS / _seconds(run, 1)))


def _seconds(run: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count
