"""Keep the k largest where they stand, give 0 to the others, divide by what is left.

For k = 2 the ids 1 and 3 stay: 0.5 / 0.75 and 0.25 / 0.75. All that stay are multiplied by the same factor, so
1 is twice as likely as 3, before as after.
"""

from collections.abc import Callable

import torch

from llm_gen import filter_logits
from solutions.vocabulary import Numbers

PROBS = torch.tensor([0.1, 0.5, 0.15, 0.25], dtype=torch.float64)
Table = dict[str, list[float]]


def by_hand() -> Table:
    return for_each_k(lambda k: filter_logits(PROBS.log()[None], top_k=k).softmax(dim=-1)[0].tolist())


def for_each_k(row: Callable[[int], list[float]]) -> Table:
    return {f"k = {k}": row(k) for k in (1, 2, 3)}


check_table = Numbers(by_hand, tolerance=0.005)
variants = (
    ("0.1, 0.5, 0.15, 0.25", "ids 1 and 3 stay, and their sum is 0.75"),
    ("0.4, 0.1, 0.3, 0.2", "ids 0 and 2 stay, and their sum is 0.7"),
    ("0.15, 0.25, 0.55, 0.05", "ids 1 and 2 stay, and their sum is 0.8"),
)


def kept(k: int) -> list[bool]:
    likeliest = PROBS.argsort(descending=True)[:k].tolist()
    return [i in likeliest for i in range(len(PROBS))]


def wrong_not_renormalised() -> Table:
    """does not divide by what is left, so the sum is less than 1"""
    return for_each_k(lambda k: [p * stays for p, stays in zip(PROBS.tolist(), kept(k))])


def wrong_first_ids() -> Table:
    """takes the first k ids instead of the k likeliest tokens"""
    return for_each_k(lambda k: [p / PROBS[:k].sum().item() if i < k else 0.0 for i, p in enumerate(PROBS.tolist())])


def wrong_sorted() -> Table:
    """leaves the probabilities sorted instead of putting each back to its id"""
    return {name: sorted(row, reverse=True) for name, row in by_hand().items()}


def wrong_equal_gifts() -> Table:
    """gives each token that stays the same part of the lost mass, which changes their ratios"""

    def row(k: int) -> list[float]:
        lost = 1 - sum(p for p, stays in zip(PROBS.tolist(), kept(k)) if stays)
        return [p + lost / k if stays else 0.0 for p, stays in zip(PROBS.tolist(), kept(k))]

    return for_each_k(row)


def wrong_uniform() -> Table:
    """makes all tokens that stay equally likely"""
    return for_each_k(lambda k: [stays / k for stays in kept(k)])


def wrong_softmax() -> Table:
    """takes the softmax of probabilities, in which a dropped token still weighs e^0 = 1"""
    return for_each_k(lambda k: (PROBS * torch.tensor(kept(k))).softmax(dim=-1).tolist())


def wrong_one_more() -> Table:
    """keeps k + 1 tokens"""
    return for_each_k(lambda k: filter_logits(PROBS.log()[None], top_k=k + 1).softmax(dim=-1)[0].tolist())


def wrong_smallest() -> Table:
    """keeps the least likely tokens"""

    def row(k: int) -> list[float]:
        left = PROBS.masked_fill(torch.tensor(kept(4 - k)), 0)
        return (left / left.sum()).tolist()

    return for_each_k(row)


def right_by_hand() -> Table:
    return {"k = 1": [0, 1, 0, 0], "k = 2": [0, 2 / 3, 0, 1 / 3], "k = 3": [0, 5 / 9, 1 / 6, 5 / 18]}
