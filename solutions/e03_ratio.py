"""The denominator cancels: p_a / p_b = exp((z_a - z_b) / temperature).

So only the difference of the two logits counts, and halving the temperature squares the ratio: 2.718 becomes
7.389.
"""

import math

from solutions.vocabulary import Numbers

A, B = 2.0, 1.0
TEMPERATURES = (1.0, 0.5, 2.0)


def ratio() -> dict[str, float]:
    return {label(t): math.exp((A - B) / t) for t in TEMPERATURES}


def label(temperature: float) -> str:
    return f"temperature {temperature:g}"


check_ratios = Numbers(ratio, tolerance=0.01)
variants = (
    ("logits 2 and 1", "A, B = 2.0, 1.0", "a - b = 1."),
    ("logits 3 and 1", "A, B = 3.0, 1.0", "a - b = 2."),
    ("logits 2 and 0.5", "A, B = 2.0, 0.5", "a - b = 1.5."),
    ("logits 1 and 0.5", "A, B = 1.0, 0.5", "a - b = 0.5."),
)


def wrong_logit_ratio() -> dict[str, float]:
    """divides the logits instead of the probabilities"""
    return {label(t): (A / t) / (B / t) for t in TEMPERATURES}


def wrong_multiplies() -> dict[str, float]:
    """multiplies the difference by the temperature instead of dividing"""
    return {label(t): math.exp((A - B) * t) for t in TEMPERATURES}


def wrong_ignores_temperature() -> dict[str, float]:
    """takes the ratio at temperature 1 for every temperature"""
    return {label(t): math.exp(A - B) for t in TEMPERATURES}


def wrong_divides_ratio() -> dict[str, float]:
    """divides the ratio by the temperature, after exp"""
    return {label(t): math.exp(A - B) / t for t in TEMPERATURES}


def wrong_difference() -> dict[str, float]:
    """gives the difference of the scaled logits and forgets exp"""
    return {label(t): (A - B) / t for t in TEMPERATURES}


def wrong_upside_down() -> dict[str, float]:
    """divides the second probability by the first"""
    return {label(t): math.exp((B - A) / t) for t in TEMPERATURES}


def wrong_first_logit() -> dict[str, float]:
    """takes exp of the first logit alone; the second does not vanish"""
    return {label(t): math.exp(A / t) for t in TEMPERATURES}


def right_by_softmax() -> dict[str, float]:
    odds = {t: (math.exp(A / t), math.exp(B / t)) for t in TEMPERATURES}
    return {label(t): a / b for t, (a, b) in odds.items()}
