"""A token stays as long as the mass *before* it is below top_p: 0, 0.4, 0.7, 0.9 against 0.3, 0.5 and 0.75.

So 0.5 keeps two tokens, because the second starts at 0.4 and crosses 0.5, and 0.75 keeps three.
"""

from collections.abc import Callable

import torch

from llm_gen.nucleus import top_p_mask
from solutions.vocabulary import Numbers

PROBS = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)
Table = dict[str, set[int] | list[float]]


def nuclei() -> dict[str, set[int] | list[float]]:
    return table(lambda top_p: top_p_mask(PROBS.log()[None], top_p)[0])


def table(kept_at: Callable, renormalise: bool = True) -> Table:
    rows: Table = {}
    for top_p in (0.3, 0.5, 0.75):
        kept = kept_at(top_p)
        left = PROBS * kept
        rows[f"ranks at {top_p}"] = {i + 1 for i in range(4) if kept[i]}
        rows[f"probabilities at {top_p}"] = (left / left.sum() if renormalise else left).nan_to_num().tolist()
    return rows


check_table = Numbers(nuclei, tolerance=0.005)
variants = (
    ("0.4, 0.3, 0.2, 0.1", "0, 0.4, 0.7, 0.9"),
    ("0.45, 0.25, 0.2, 0.1", "0, 0.45, 0.7, 0.9"),
    ("0.35, 0.3, 0.25, 0.1", "0, 0.35, 0.65, 0.9"),
)


def wrong_drops_crossing() -> Table:
    """drops the token that crosses top_p (the rule `cumsum <= top_p`)"""
    return table(lambda top_p: (PROBS.cumsum(0) <= top_p) | (PROBS.max() == PROBS))


def wrong_not_renormalised() -> Table:
    """does not divide by the sum of what stays"""
    return table(lambda top_p: PROBS.cumsum(0) - PROBS < top_p, renormalise=False)


def wrong_one_more() -> Table:
    """keeps one token after the crossing one"""
    before = PROBS.cumsum(0) - PROBS
    return table(lambda top_p: torch.cat([before[:1], before[:-1]]) < top_p)


def wrong_at_least() -> Table:
    """keeps the tokens whose own probability is at least top_p, and the likeliest"""
    return table(lambda top_p: (top_p <= PROBS) | (PROBS.max() == PROBS))


def wrong_from_the_tail() -> Table:
    """collects the mass from the least likely token upwards"""
    return table(lambda top_p: (PROBS.flip(0).cumsum(0) - PROBS.flip(0) < top_p).flip(0))


def wrong_one_minus() -> Table:
    """cuts off a mass of top_p instead of keeping it"""
    return table(lambda top_p: PROBS.cumsum(0) - PROBS < 1 - top_p)


def wrong_counts_from_0() -> Table:
    """counts the ranks from 0, but the likeliest token is rank 1"""
    return {name: {rank - 1 for rank in row} if isinstance(row, set) else row for name, row in nuclei().items()}


def right_by_hand() -> Table:
    return {
        "ranks at 0.3": {1},
        "probabilities at 0.3": [1, 0, 0, 0],
        "ranks at 0.5": {1, 2},
        "probabilities at 0.5": [0.571, 0.429, 0, 0],
        "ranks at 0.75": {1, 2, 3},
        "probabilities at 0.75": [0.444, 0.333, 0.222, 0],
    }
