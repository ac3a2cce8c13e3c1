"""A rectangle is paid for in full: 4 rows of 8 + 40 columns, of which prompts and answers fill little more than half.

The longest answer decides for all. Sorting by length would help, if the lengths were known beforehand; servers put a
new prompt into the place of a finished row instead.
"""

from solutions.vocabulary import Numbers

PROMPTS, ANSWERS = (8, 2, 5, 5), (10, 40, 20, 12)


def filler() -> dict[str, int | float]:
    return counted(max(PROMPTS), max(ANSWERS))


def counted(prompt: int, steps: int, spent: int = sum(PROMPTS) + sum(ANSWERS)) -> dict[str, int | float]:
    """The table for a rectangle that is `prompt` + `steps` wide, of which `spent` cells are text."""
    cells, short, long = len(PROMPTS) * (prompt + steps), sorted(ANSWERS)[:2], sorted(ANSWERS)[2:]
    return {
        "steps of the loop": steps,
        "cells": cells,
        "cells of filler": cells - spent,
        "share of filler": (cells - spent) / cells,
        "cells for answers, one batch": len(PROMPTS) * steps,
        "cells for answers, two batches": 2 * max(short) + 2 * max(long),
    }


check_counts = Numbers(filler, tolerance=0.005)


def wrong_longest_row() -> dict[str, int | float]:
    """makes the rectangle as wide as the longest row, though the longest prompt and the longest answer differ in row"""
    columns = max(map(sum, zip(PROMPTS, ANSWERS)))
    return counted(columns - max(ANSWERS), max(ANSWERS))


def wrong_padding_only() -> dict[str, int | float]:
    """counts the padding before the prompts and forgets the pads after the answers"""
    return counted(max(PROMPTS), max(ANSWERS), sum(PROMPTS) + len(PROMPTS) * max(ANSWERS))


def wrong_pads_only() -> dict[str, int | float]:
    """counts the pads after the answers and forgets the padding before the prompts"""
    return counted(max(PROMPTS), max(ANSWERS), len(PROMPTS) * max(PROMPTS) + sum(ANSWERS))


def wrong_adds_the_steps() -> dict[str, int | float]:
    """adds up the answers, as if the rows were written one after the other"""
    return counted(max(PROMPTS), sum(ANSWERS))


def wrong_stops_with_the_first() -> dict[str, int | float]:
    """ends the loop with its first row"""
    return counted(max(PROMPTS), min(ANSWERS), sum(PROMPTS) + len(PROMPTS) * min(ANSWERS))


def wrong_share_of_text() -> dict[str, int | float]:
    """gives the share of text instead of the share of filler"""
    return filler() | {"share of filler": 1 - filler()["share of filler"]}


def wrong_pairs_in_order() -> dict[str, int | float]:
    """pairs the rows as they come, without sorting, so that both batches hold a long answer"""
    (a, b, c, d) = ANSWERS
    return filler() | {"cells for answers, two batches": 2 * max(a, b) + 2 * max(c, d)}


def wrong_one_row_of_each_batch() -> dict[str, int | float]:
    """counts the steps of the batches and forgets that each has several rows"""
    short, long = sorted(ANSWERS)[:2], sorted(ANSWERS)[2:]
    steps = {"cells for answers, one batch": max(ANSWERS), "cells for answers, two batches": max(short) + max(long)}
    return filler() | steps


def wrong_without_prompts() -> dict[str, int | float]:
    """forgets that the prompts stand in the rectangle too"""
    return counted(0, max(ANSWERS), sum(ANSWERS))


def right_cell_by_cell() -> dict[str, int | float]:
    rows = [["." * (8 - p) + "x" * p + "x" * a + "." * (40 - a)] for p, a in zip(PROMPTS, ANSWERS)]
    board = "".join(row for (row,) in rows)
    return {
        "steps of the loop": 40,
        "cells": len(board),
        "cells of filler": board.count("."),
        "share of filler": board.count(".") / len(board),
        "cells for answers, one batch": 4 * 40,
        "cells for answers, two batches": 12 + 12 + 40 + 40,
    }
