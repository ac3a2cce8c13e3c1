"""The folder of results: one file for each submission, written in one step, and what is already there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from exercises.classroom.mark import FAILED

Row = dict[str, Any]


def slug(id: str) -> str:
    """A file name for a submission: readable, safe on every system, and its own."""
    readable = re.sub(r"[^A-Za-z0-9-]+", "_", id).strip("_")[:40]
    return f"{readable or 'submission'}-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def write_file(path: Path, pieces: Iterable[str]) -> None:
    """Replace a file in one step: after a kill there is the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.writelines(pieces)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class Store:
    """Results under `folder`/results. key: stands for the settings and the course; rows under another key are stale."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key
        (folder / "results").mkdir(parents=True, exist_ok=True)

    def path(self, id: str) -> Path:
        return self.folder / "results" / f"{slug(id)}.json"

    def read(self, id: str) -> Row | None:
        """The row of a submission, or None if there is none or it cannot be read."""
        try:
            return json.loads(self.path(id).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def has(self, job: Row) -> bool:
        """Whether this very submission has been graded under these settings."""
        row = self.read(job["id"])
        return bool(row) and (row["digest"], row["key"], row["status"] != FAILED) == (job["digest"], self.key, True)

    def write(self, row: Row) -> Row:
        """Keep a row and give what is kept: an earlier result is not overwritten by a fault of the grader."""
        before = self.read(row["id"]) if row["status"] == FAILED else None
        if before and before["status"] != FAILED:
            return before
        row = row | {"key": self.key}
        write_file(self.path(row["id"]), [json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False), "\n"])
        return row

    def rows(self, ids: list[str]) -> Iterator[Row]:
        """The rows of these submissions in this order, one at a time in memory."""
        yield from filter(None, map(self.read, ids))


def key_of(settings: Row, folders: list[Path]) -> str:
    """A short hash of the settings and of every program in the folders: all that a row depends on but its answers."""
    total = hashlib.sha256(json.dumps({k: v for k, v in settings.items() if k != "secrets"}, sort_keys=True).encode())
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            total.update(path.read_bytes())
    return total.hexdigest()[:16]
