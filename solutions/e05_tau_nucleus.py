"""The fourth token stays iff the first three have less than 0.9, and their mass falls with temperature.

At temperature t the probabilities are proportional to p ** (1 / t). The first three have 0.909 at 1.5 and
0.880 at 2; bisection gives 1.64. So a higher temperature acts twice: it flattens the distribution and it lets
more tokens in.
"""

from collections.abc import Callable

import torch

from solutions.vocabulary import Numbers

PROBS = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
TOP_P = 0.9


def tau_nucleus() -> float:
    return crossing(lambda t: mass_of_first(3, PROBS.log() / t) - TOP_P, 1.0, 4.0)


def mass_of_first(count: int, logits: torch.Tensor) -> float:
    return float(logits.softmax(dim=-1)[:count].sum())


def crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0."""
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2


check_number = Numbers(tau_nucleus, tolerance=0.01)
variants = (
    ("0.5, 0.3, 0.15, 0.05", "have 0.909, at 2 they have 0.880"),
    ("0.5, 0.3, 0.16, 0.04", "have 0.922, at 2 they have 0.892"),
    ("0.6, 0.25, 0.11, 0.04", "have 0.920, at 2 they have 0.889"),
)


def wrong_upside_down() -> float:
    """raises p to the power t instead of 1 / t"""
    return 1 / tau_nucleus()


def wrong_interpolates() -> float:
    """draws a straight line between the values at 1.5 and 2"""
    at = {t: mass_of_first(3, PROBS.log() / t) for t in (1.5, 2.0)}
    return 1.5 + 0.5 * (at[1.5] - TOP_P) / (at[1.5] - at[2.0])


def wrong_not_logarithms() -> float:
    """puts the probabilities themselves into the softmax, not their logarithms"""
    return crossing(lambda t: mass_of_first(3, PROBS / t) - TOP_P, 0.1, 4.0)


def wrong_from_the_table() -> float:
    """takes the first temperature of the table at which four tokens stay"""
    return 2.0


def wrong_still_three() -> float:
    """takes the last temperature of the table at which three tokens stay"""
    return 1.5


def wrong_no_renormalising() -> float:
    """forgets to renormalise after p ** (1 / t), so the sum of the first three is not a mass"""
    return crossing(lambda t: TOP_P - float((PROBS ** (1 / t))[:3].sum()), 0.1, 4.0)


def right_by_trying() -> float:
    return next(t / 1000 for t in range(1000, 4000) if mass_of_first(3, PROBS.log() * 1000 / t) < TOP_P)
