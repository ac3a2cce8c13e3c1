"""One product for each repetition that is whole.

The end of the range matters: the last beginning that counts still has `period` tokens after it. An unfinished
repetition has fewer factors, so its product would look too large, as if the phrase had suddenly become likelier.
"""

import math

from solutions.vocabulary import Check, ListOf, OneOf, Whole, fails


def phrase_probs(probs: list[float], start: int, period: int) -> list[float]:
    """The probability of each whole repetition: probs of all tokens, 0 <= start, period >= 1."""
    starts = range(start, len(probs) - period + 1, period)
    return [math.prod(probs[i : i + period]) for i in starts]


check_products = Check(
    phrase_probs,
    probs=ListOf(OneOf(0.5, 0.25, 0.75, 1.0, 0.125), 0, 9),
    start=Whole(0, 3),
    period=Whole(1, 4),
    examples=[
        ([0.5, 0.25, 0.5, 0.5, 0.75, 1.0, 0.5], 1, 2),
        ([0.25, 0.5, 0.5, 0.75, 1.0], 0, 2),
        ([0.5, 0.5], 0, 2),
        ([0.5], 0, 2),
        ([0.75] * 60, 0, 6),
    ],
)
not_checked = "speed"


def repetitions(probs: list[float], start: int, period: int) -> list[list[float]]:
    return [probs[i : i + period] for i in range(start, len(probs) - period + 1, period)]


@fails("shape")
def wrong_unfinished(probs: list[float], start: int, period: int) -> list[float]:
    """counts the unfinished repetition at the end too"""
    return [math.prod(probs[i : i + period]) for i in range(start, len(probs), period)]


@fails("shape")
def wrong_last_left_out(probs: list[float], start: int, period: int) -> list[float]:
    """leaves the last repetition out when the text ends with it"""
    return [math.prod(probs[i : i + period]) for i in range(start, len(probs) - period, period)]


def wrong_mean(probs: list[float], start: int, period: int) -> list[float]:
    """gives the mean probability of a token instead of the product over the phrase"""
    return [sum(part) / period for part in repetitions(probs, start, period)]


def wrong_sum(probs: list[float], start: int, period: int) -> list[float]:
    """adds the probabilities up instead of multiplying them"""
    return [sum(part) for part in repetitions(probs, start, period)]


@fails("shape")
def wrong_from_zero(probs: list[float], start: int, period: int) -> list[float]:
    """begins at the first token of the text instead of `start`"""
    return phrase_probs(probs, 0, period)


@fails("shape")
def wrong_every_position(probs: list[float], start: int, period: int) -> list[float]:
    """moves on by one token instead of a whole period"""
    return [math.prod(probs[i : i + period]) for i in range(start, len(probs) - period + 1)]


def wrong_all_so_far(probs: list[float], start: int, period: int) -> list[float]:
    """multiplies everything since the loop began, not the one repetition"""
    ends = range(start + period, len(probs) + 1, period)
    return [math.prod(probs[start:end]) for end in ends]


def wrong_first_token(probs: list[float], start: int, period: int) -> list[float]:
    """gives the probability of the first token of each repetition"""
    return [part[0] for part in repetitions(probs, start, period)]


def wrong_logs(probs: list[float], start: int, period: int) -> list[float]:
    """gives log-probabilities instead of probabilities"""
    return [sum(map(math.log, part)) for part in repetitions(probs, start, period)]


def wrong_root(probs: list[float], start: int, period: int) -> list[float]:
    """takes the root of each product, which is the (geometric) mean of a token and not the probability of the phrase"""
    return [math.prod(part) ** (1 / period) for part in repetitions(probs, start, period)]


def right_loop(probs: list[float], start: int, period: int) -> list[float]:
    found, product, length = [], 1.0, 0
    for p in probs[start:]:
        product, length = product * p, length + 1
        if length == period:
            found.append(product)
            product, length = 1.0, 0
    return found


def right_by_logs(probs: list[float], start: int, period: int) -> list[float]:
    return [math.exp(sum(map(math.log, part))) for part in repetitions(probs, start, period)]
