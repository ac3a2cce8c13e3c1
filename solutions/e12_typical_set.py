"""Typical is what surprises about as much as the model expects to be surprised, not what is likeliest.

The surprises are 1, 2, 3, 3 bits and their mean is 1.75, so the second token (0.25 away) comes before the first (0.75
away). With a small mass the likeliest token is gone. At 0.75 the first two hold exactly enough (arXiv:2202.00666).
"""

import torch

from llm_gen.beyond import typical
from solutions.vocabulary import Numbers

PROBS = torch.tensor([[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64)
MASSES = (0.2, 0.75, 0.8)
Table = dict[str, float | list[float] | set[int]]


def typical_set() -> Table:
    surprises = -PROBS.log2()[0]
    entropy = (PROBS[0] * surprises).sum()
    return {
        "surprises": surprises.tolist(),
        "entropy": entropy.item(),
        "distances": (surprises - entropy).abs().tolist(),
        **{f"ranks at mass {mass}": kept(mass) for mass in MASSES},
    }


def kept(mass: float) -> set[int]:
    left = typical(torch.zeros((1, 1)), PROBS.log(), mass)[0]
    return set((left.isfinite().nonzero()[:, 0] + 1).tolist())


check_table = Numbers(typical_set, tolerance=0.005)


def sets(*kept: set[int]) -> Table:
    return {f"ranks at mass {mass}": ranks for mass, ranks in zip(MASSES, kept)}


def wrong_likeliest_first() -> Table:
    """takes the likeliest tokens first, as top-p does"""
    return typical_set() | sets({1}, {1, 2}, {1, 2, 3})


def wrong_nats() -> Table:
    """counts in nats instead of bits: the sets are the same, the numbers are 0.693 times as large"""
    nats = torch.tensor(2.0, dtype=torch.float64).log().item()
    right = typical_set()
    scaled = {name: [nats * value for value in right[name]] for name in ("surprises", "distances")}
    return right | scaled | {"entropy": nats * right["entropy"]}


def wrong_plain_mean() -> Table:
    """takes the mean of the surprises without weighing them by the probabilities"""
    return (
        typical_set() | {"entropy": 2.25, "distances": [1.25, 0.25, 0.75, 0.75]} | sets({2}, {2, 3, 4, 1}, {1, 2, 3, 4})
    )


def wrong_sign_kept() -> Table:
    """forgets the absolute value: a surprise below the entropy is not nearer than one above it"""
    return typical_set() | {"distances": [-0.75, 0.25, 1.25, 1.25]} | sets({1}, {1, 2}, {1, 2, 3})


def wrong_drops_crossing() -> Table:
    """drops the token that crosses the mass"""
    return typical_set() | sets(set(), {1, 2}, {1, 2})


def wrong_ties_together() -> Table:
    """keeps both of two tokens that are equally far away, where one is enough"""
    return typical_set() | sets({2}, {1, 2}, {1, 2, 3, 4})


def wrong_one_more() -> Table:
    """keeps one token too many when the mass is exactly reached"""
    return typical_set() | sets({2}, {1, 2, 3}, {1, 2, 3})


def wrong_counts_from_0() -> Table:
    """counts the ranks from 0, but the likeliest token is rank 1"""
    right = typical_set()
    return {name: {rank - 1 for rank in row} if isinstance(row, set) else row for name, row in right.items()}


def wrong_likeliest_always() -> Table:
    """keeps the likeliest token besides, which top-p always does and typical sampling does not"""
    return typical_set() | sets({1, 2}, {1, 2}, {1, 2, 3})


def wrong_farthest_first() -> Table:
    """begins with the tokens that are farthest from the entropy"""
    return typical_set() | sets({3, 4}, {1, 3, 4}, {1, 2, 3, 4})


def right_by_hand() -> Table:
    numbers = {"surprises": [1, 2, 3, 3], "entropy": 1.75, "distances": [0.75, 0.25, 1.25, 1.25]}
    return numbers | sets({2}, {1, 2}, {1, 2, 3})
