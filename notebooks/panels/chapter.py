"""What every chapter begins with, and how it prints a table: the same digits on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from numbers import Integral, Real

import matplotlib
import numpy as np
import torch

from notebooks.panels.words import fixed

FIGURE = {
    "figure.figsize": (7.5, 3.2),
    "figure.dpi": 96,
    "savefig.dpi": 96,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "course",
}


def start_chapter(seed: int = 0) -> None:
    """The set-up call of a chapter's first cell, so that its numbers come out the same everywhere.

    One thread; float64 by default, so that printed digits do not depend on the CPU; seeds for Python, NumPy and
    PyTorch; tensors printed with four decimals; the look of figures.
    """
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=100)
    np.set_printoptions(precision=4, suppress=True, linewidth=100)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    matplotlib.rcParams.update(FIGURE)


def table(header: Sequence[str], rows: Iterable[Sequence[object]], decimals: int | Sequence[int] = 3) -> None:
    """Print `rows` under `header` in aligned columns: numbers to the right, words to the left.

    A cell is a number, a word, or None for a gap; tensors with one element count as numbers. `decimals`: for all
    floats, or one for each column. Whole numbers are printed whole. Raises ValueError for a row of another length.
    """
    each = [decimals] * len(header) if isinstance(decimals, int) else list(decimals)
    rows = list(rows)
    for row in [each, *rows]:
        if len(row) != len(header):
            raise ValueError(f"each row must have {len(header)} cells, got {list(row)}")
    cells = [[_write(cell, digits) for cell, digits in zip(row, each)] for row in rows]
    to_the_right = [all(_is_number(row[column]) for row in rows) for column in range(len(header))]
    widths = [max(map(len, column)) for column in zip(header, *cells)]
    for row in [list(header), ["-" * width for width in widths], *cells]:
        aligned = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_the_right)
        ]
        print("  ".join(aligned).rstrip())


def _write(cell: object, decimals: int) -> str:
    cell = _plain(cell)
    if cell is None:
        return ""
    whole = not isinstance(cell, Real) or isinstance(cell, Integral)
    return str(cell) if whole else fixed(float(cell), decimals)


def _is_number(cell: object) -> bool:
    cell = _plain(cell)
    return cell is None or (isinstance(cell, Real) and not isinstance(cell, bool))


def _plain(cell: object) -> object:
    """The Python value of a tensor or a NumPy number with one element; other cells as they are."""
    return cell.item() if hasattr(cell, "item") else cell
