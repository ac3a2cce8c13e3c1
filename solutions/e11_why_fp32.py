"""10.4 is 166.4 sixteenths, so -166/16 = -10.375 is stored: 0.025 too much, and exp(-0.025) = 0.975.

Forty such tokens multiply to exp(-1) = 0.368: the text looks nearly three times less likely than it was, although
the model is the same. The numbers of float32 lie 2 to the 16th times closer, and the same text then has a ratio that
differs from 1 in the fifth decimal at most.
"""

import math

import torch

from solutions.vocabulary import Numbers

LOG_PROB, TOKENS, GAP = -10.4, 40, 1 / 16
Table = dict[str, float | int]


def why_fp32() -> dict[str, float | int]:
    return table(torch.tensor(LOG_PROB, dtype=torch.float64).bfloat16().double().item())


def table(stored: float) -> Table:
    return {
        "stored": stored,
        "ratio of the token": math.exp(LOG_PROB - stored),
        "ratio of 40 tokens": math.exp(TOKENS * (LOG_PROB - stored)),
        "times finer": 2**16,
    }


check_table = Numbers(why_fp32, tolerance=0.002)


def wrong_away_from_zero() -> Table:
    """rounds away from zero, to -10.4375, although -10.375 is nearer"""
    return table(math.floor(LOG_PROB / GAP) * GAP)


def wrong_finer() -> Table:
    """takes the gap for 1/32, which is that between 4 and 8"""
    return table(round(LOG_PROB * 32) / 32)


def wrong_upside_down() -> Table:
    """divides the writer's probability by the trainer's"""
    right = why_fp32()
    return right | {name: 1 / right[name] for name in ("ratio of the token", "ratio of 40 tokens")}


def wrong_difference() -> Table:
    """gives the difference of the log-probs, without the exponential"""
    return why_fp32() | {"ratio of the token": -0.025, "ratio of 40 tokens": -1.0}


def wrong_forty_times() -> Table:
    """multiplies the token's error by 40 instead of taking the 40th power of its ratio"""
    return why_fp32() | {"ratio of 40 tokens": 1 - 40 * (1 - math.exp(-0.025))}


def wrong_ratio_of_logs() -> Table:
    """divides the two log-probs, but they are logarithms: their difference counts"""
    return why_fp32() | {"ratio of the token": LOG_PROB / -10.375, "ratio of 40 tokens": (LOG_PROB / -10.375) ** 40}


def wrong_digits() -> Table:
    """divides 24 digits by 8, but each digit more halves the gap"""
    return why_fp32() | {"times finer": 3}


def wrong_twice_sixteen() -> Table:
    """takes 2 times 16 for 2 to the 16th"""
    return why_fp32() | {"times finer": 32}


def wrong_not_rounded() -> Table:
    """stores -10.4 itself, which is no whole number of sixteenths"""
    return table(LOG_PROB)


def wrong_fifteen() -> Table:
    """halves the gap 15 times; 24 digits are 16 more than 8"""
    return why_fp32() | {"times finer": 2**15}


def right_by_hand() -> Table:
    return {"stored": -10.375, "ratio of the token": 0.975, "ratio of 40 tokens": 0.368, "times finer": 65_536}
