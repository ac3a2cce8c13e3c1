"""Divide each weight by the sum of all: then the shares add up to 1, and their ratios are those of the weights.

This is what a filter does with the tokens that it keeps; the course calls it renormalising.
"""

import math
from fractions import Fraction

import torch

from solutions.vocabulary import Check, ListOf, Whole, fails


def shares(weights: list[int]) -> list[float]:
    """Each weight's share of their sum, in the same order. weights: whole numbers above 0, at least one."""
    total = sum(weights)
    return [weight / total for weight in weights]


check_shares = Check(
    shares,
    weights=ListOf(Whole(1, 9), least=1, most=4),
    examples=[
        ([5, 3, 2],),
        ([1, 3],),
        ([4],),
        ([300, 12, 5, 3, 2, 1],),
    ],
)
not_checked = "weights that are 0 or no whole numbers"


def wrong_largest(weights: list[int]) -> list[float]:
    """divides by the largest weight instead of the sum"""
    return [weight / max(weights) for weight in weights]


def wrong_count(weights: list[int]) -> list[float]:
    """divides by how many weights there are"""
    return [weight / len(weights) for weight in weights]


def wrong_equal(weights: list[int]) -> list[float]:
    """gives everybody the same share"""
    return [1 / len(weights) for _ in weights]


def wrong_per_cent(weights: list[int]) -> list[float]:
    """gives per cent, which add up to 100"""
    return [100 * share for share in shares(weights)]


def wrong_softmax(weights: list[int]) -> list[float]:
    """raises e to each weight first: that is the softmax, for logits"""
    return shares([math.exp(weight) for weight in weights])


def wrong_sorted(weights: list[int]) -> list[float]:
    """gives the shares in another order, the largest first"""
    return sorted(shares(weights), reverse=True)


def wrong_whole_division(weights: list[int]) -> list[float]:
    """divides with //, which throws away what is behind the point"""
    return [weight // sum(weights) for weight in weights]


@fails("changed input")
def wrong_in_place(weights: list[int]) -> list[float]:
    """writes the shares into the caller's list"""
    weights[:] = shares(weights)
    return weights


def right_fractions(weights: list[int]) -> list[float]:
    return [float(Fraction(weight, sum(weights))) for weight in weights]


def right_torch(weights: list[int]) -> list[float]:
    tensor = torch.tensor(weights, dtype=torch.float64)
    return (tensor / tensor.sum()).tolist()
