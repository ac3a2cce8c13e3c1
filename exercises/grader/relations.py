"""How wrong numbers relate to the right ones: rounded, in per cent, with the other sign, ..."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from llm_gen.text import _

Pair = tuple[float, float]  # the right number and the one that came

NOT_ROUNDED = _("The numbers are right, but rounded: give them with more decimals.")
RELATIONS: tuple[tuple[Callable[[float], float], str], ...] = (
    (lambda right: 100 * right, _("The numbers are 100 times too large: are they per cent?")),
    (lambda right: right / 100, _("The numbers are 100 times too small: per cent are asked for.")),
    (lambda right: -right, _("The numbers have the wrong sign: a minus is missing, or one too many.")),
    (lambda right: 1 - right, _("The numbers are what is missing to 1 of those asked for.")),
    (lambda right: 1 / right, _("The numbers are upside down: 1 divided by those asked for.")),
    (lambda right: math.log(right), _("The numbers are logarithms of those asked for.")),
    (lambda right: math.exp(right), _("The numbers are e to the power of those asked for: is a logarithm missing?")),
    (lambda right: right * math.log(2), _("The numbers are in nats, and bits are asked for: divide by ln 2.")),
    (lambda right: right / math.log(2), _("The numbers are in bits, and nats are asked for: multiply by ln 2.")),
)


def in_words(pairs: Sequence[Pair], precision: float = 1e-4) -> str:
    """The relation that holds for all pairs, at least one of which is wrong; "" if none does or all came as 0.

    precision: relative.
    """
    if not any(got for _right, got in pairs) or not all(math.isfinite(got) for _right, got in pairs):
        return ""
    if _is_rounded(pairs):
        return NOT_ROUNDED
    for relation, words in RELATIONS:
        if all(_holds(relation, right, got, precision) for right, got in pairs):
            return words
    return ""


def _holds(relation: Callable[[float], float], right: float, got: float, precision: float) -> bool:
    try:
        return math.isclose(relation(right), got, rel_tol=precision, abs_tol=1e-6)
    except (ValueError, ArithmeticError):  # the logarithm of 0, one divided by 0, e to the power of 1000
        return False


def _is_rounded(pairs: Sequence[Pair]) -> bool:
    """Whether all are the right numbers, rounded to the same one to four decimals."""
    return any(
        all(abs(right - got) <= 0.5001 * 10**-digits and _has_decimals(got, digits) for right, got in pairs)
        for digits in range(1, 5)
    )


def _has_decimals(value: float, digits: int) -> bool:
    """Whether no more decimals than these stand there; float32 keeps seven digits."""
    return abs(value - round(value, digits)) <= 1e-6 * max(1.0, abs(value))


def numbers_in(value: Any) -> list[float] | None:
    """The floats of a tensor, number, or nested list or dict, in order; None if there is anything else."""
    if type(value) is dict:
        return numbers_in(list(value.values()))
    if isinstance(value, Tensor):
        return value.flatten().tolist() if value.is_floating_point() else None
    if type(value) is float:
        return [value]
    if type(value) in (list, tuple):
        inner = [numbers_in(item) for item in value]
        return None if None in inner else [number for numbers in inner for number in numbers or ()]
    return None
