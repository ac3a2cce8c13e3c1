"""Re-running a cell closes the panels that its last run made, so that a long session leaves none behind."""

from __future__ import annotations

from typing import Protocol

_made_by: dict[str, tuple[str, list]] = {}


class Closable(Protocol):
    def close(self) -> None: ...


def replace_previous(panel: Closable) -> None:
    """Remember `panel` as made by the running cell, and close those of an earlier run of the same cell."""
    cell, run = _running_cell()
    if cell is None:
        return
    last_run, panels = _made_by.get(cell, (run, []))
    if last_run != run:
        for old in panels:
            old.close()
        panels = []
    _made_by[cell] = run, [*panels, panel]


def _running_cell() -> tuple[str | None, str]:
    """The id of the running cell, where the front end tells it, and of this run of it."""
    from IPython import get_ipython

    request = getattr(get_ipython(), "get_parent", dict)() or {}
    return request.get("metadata", {}).get("cellId"), request.get("header", {}).get("msg_id", "")
