"""Ranks give exactly k; values give all that are tied with the k-th; -inf can never be drawn.

With k = 2 the value rule compares with 3 and keeps four tokens. With k = 1 nothing is tied with 4, so both rules
agree. With k = 100 everything stays that could be drawn before: five tokens, as the sixth has probability 0.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Numbers

LOGITS = torch.tensor([[4.0, 3.0, 3.0, 3.0, 1.0, -torch.inf]])


def how_many_stay() -> dict[str, int]:
    return {
        "k = 2, exactly k": can_be_drawn(filter_logits(LOGITS, top_k=2)),
        "k = 2, at least the k-th": can_be_drawn(at_least_the_kth(2)),
        "k = 1, at least the k-th": can_be_drawn(at_least_the_kth(1)),
        "k = 100, exactly k": can_be_drawn(filter_logits(LOGITS, top_k=100)),
    }


def can_be_drawn(logits: Tensor) -> int:
    return int((logits.softmax(dim=-1) > 0).sum())


def at_least_the_kth(k: int) -> Tensor:
    kth = LOGITS.topk(k).values[:, -1:]
    return LOGITS.masked_fill(kth > LOGITS, -torch.inf)


check_counts = Numbers(how_many_stay)


def wrong_no_ties() -> dict[str, int]:
    """forgets that the value rule keeps every token tied with the k-th"""
    return how_many_stay() | {"k = 2, at least the k-th": 2}


def wrong_counts_minus_inf() -> dict[str, int]:
    """counts the token with -inf, which has probability 0"""
    return how_many_stay() | {"k = 100, exactly k": 6}


def wrong_all_of_k() -> dict[str, int]:
    """expects 100 tokens from a row of six"""
    return how_many_stay() | {"k = 100, exactly k": 100}


def wrong_ties_always() -> dict[str, int]:
    """keeps ties in both rules, but ranks leave exactly k"""
    return how_many_stay() | {"k = 2, exactly k": 4}


def wrong_above() -> dict[str, int]:
    """keeps only what lies above the k-th largest"""
    return how_many_stay() | {"k = 2, at least the k-th": 1, "k = 1, at least the k-th": 0}


def wrong_distinct_values() -> dict[str, int]:
    """counts values instead of tokens: 4 and 3 are two values, but four tokens"""
    return how_many_stay() | {"k = 2, exactly k": 4, "k = 100, exactly k": 3}


def wrong_too_large() -> dict[str, int]:
    """takes a k above the number of tokens for a k that keeps nothing"""
    return how_many_stay() | {"k = 100, exactly k": 0}


def right_by_hand() -> dict[str, int]:
    return dict(zip(how_many_stay(), (2, 4, 1, 5)))
