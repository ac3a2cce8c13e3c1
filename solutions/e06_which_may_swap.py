"""Ranks do not change, masses do: whoever looks at masses must not be moved.

Temperature keeps the order, so top-k keeps the same tokens before it or after it, and their ratios are those of the
temperature either way. Top-p adds up masses: temperature changes them, and so does the renormalising after top-k.
Of two top-k the smaller one decides.

The key is computed: each pair is tried in both orders on the kite's four words and on a flatter row.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Choice

ROWS = torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64).log()
PAIRS = {
    "temperature and top-k": ({"temperature": 0.5}, {"top_k": 2}),
    "temperature and top-p": ({"temperature": 0.5}, {"top_p": 0.6}),
    "top-k and top-p": ({"top_k": 2}, {"top_p": 0.5}),
    "top-k = 5 and top-k = 2": ({"top_k": 5}, {"top_k": 2}),
}


def which_may_swap() -> dict[str, str]:
    return {name: effect(in_order(first, then), in_order(then, first)) for name, (first, then) in PAIRS.items()}


def in_order(first: dict, then: dict) -> Tensor:
    return filter_logits(filter_logits(ROWS, **first), **then).softmax(dim=-1)


def effect(one: Tensor, other: Tensor) -> str:
    if not torch.equal(one > 0, other > 0):
        return "c"
    return "a" if torch.allclose(one, other) else "b"


check_letters = Choice(which_may_swap)


def wrong_all_matter() -> dict[str, str]:
    """says that every order matters; but top-k looks at ranks alone, and temperature never changes them"""
    return which_may_swap() | {"temperature and top-k": "c"}


def wrong_ratios() -> dict[str, str]:
    """lets top-k change the ratios that the temperature sets; what stays is divided by one number"""
    return which_may_swap() | {"temperature and top-k": "b"}


def wrong_same_nucleus() -> dict[str, str]:
    """thinks that the nucleus does not notice the temperature; it is a set of masses, and heat moves masses"""
    return which_may_swap() | {"temperature and top-p": "b"}


def wrong_two_cuts() -> dict[str, str]:
    """takes two cuts of one sorted list for exchangeable; so they would be without renormalising between them"""
    return which_may_swap() | {"top-k and top-p": "a"}


def wrong_two_cuts_shares() -> dict[str, str]:
    """expects the same tokens in both orders of top-k and top-p, but after top-k the threshold is reached sooner"""
    return which_may_swap() | {"top-k and top-p": "b"}


def wrong_last_k_wins() -> dict[str, str]:
    """lets the last of two top-k decide, but what the smaller one has dropped does not come back"""
    return which_may_swap() | {"top-k = 5 and top-k = 2": "c"}


def wrong_nothing_matters() -> dict[str, str]:
    """says that no order matters"""
    return dict.fromkeys(PAIRS, "a")


def right_by_hand() -> dict[str, str]:
    return dict(zip(PAIRS, "acca"))
