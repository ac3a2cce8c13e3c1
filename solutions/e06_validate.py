"""Kind first, value second, and the range written as what is good: `not 0 < top_p <= 1` also catches nan.

bool is a subclass of int in Python, so True would pass for 1; it is ruled out by name. The message names the
argument, the rule and the value, because whoever reads it has just one line to mend.
"""

import math
from collections.abc import Callable
from typing import Any

from llm_gen import validate_sampling_args
from solutions.vocabulary import Check, OneOf


def check_settings(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise TypeError or ValueError, naming the argument, unless the settings can be sampled with."""
    check_number("temperature", temperature)
    if not (temperature > 0 and math.isfinite(temperature)):
        raise ValueError(f"temperature must be finite and > 0, got {temperature}")
    if top_k is not None:
        if isinstance(top_k, bool) or not isinstance(top_k, int):
            raise TypeError(f"top_k must be a whole number, got {top_k!r}")
        if top_k < 1:
            raise ValueError(f"top_k must be >= 1, got {top_k}")
    if top_p is not None:
        check_number("top_p", top_p)
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p must lie in (0, 1], got {top_p}")
    if top_k is not None and top_p is not None:
        raise ValueError(f"top_k and top_p must not be combined, got {top_k} and {top_p}")


def check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {value!r}")


def verdict_of(answer: Callable, temperature: Any, top_k: Any, top_p: Any) -> str:
    """What the check did, in words; of a message only the arguments that it names."""
    try:
        return f"gives {answer(temperature, top_k, top_p)}"
    except (TypeError, ValueError, AssertionError) as error:
        named = [name for name in ("temperature", "top_k", "top_p") if name in str(error)]
        return f"raises {type(error).__name__} naming {' and '.join(named) or 'no argument'}"


def one_fault_at_most(temperature: Any, top_k: Any, top_p: Any) -> bool:
    """Which of two faults is named first is not ours to say."""
    alone = [(temperature, None, None), (1.0, top_k, None), (1.0, None, top_p)]
    faults = [verdict_of(check_settings, *settings) != "gives None" for settings in alone]
    return sum(faults) + (top_k is not None and top_p is not None) <= 1


check_verdicts = Check(
    check_settings,
    call=verdict_of,
    temperature=OneOf(1.0, 0.5, 2, 100.0, 1e-6, 0.0, -1.0, 0, math.inf, -math.inf, math.nan, True, "1", None),
    top_k=OneOf(None, 1, 50, 200_000, 0, -1, 2.0, True, "5"),
    top_p=OneOf(None, 0.9, 1.0, 1, 0.001, 0.0, 0, -0.1, 1.5, 2, math.nan, math.inf, True, False, "0.9"),
    examples=[
        (1.0, None, 0.9),
        (0.0, None, None),
        (1.0, 0, None),
        (1.0, None, 1.5),
        (1.0, 5, 0.9),
        (1.0, 2.0, None),
        (1.0, "5", None),
        (1.0, None, False),
        (1.0, False, None),
        (1.0, 0.5, None),
        (1.0, 0.0, None),
        (1.0, math.nan, None),
        (False, None, None),
        (1e6, None, None),
        (1.0, 10**9, None),
    ],
    valid=one_fault_at_most,
)
not_checked = "the wording of the messages, NumPy numbers"


def without(settings: tuple, passes: Callable[[Any, Any, Any], bool]) -> None:
    """The right check, except that settings for which `passes` holds are let through."""
    if not passes(*settings):
        check_settings(*settings)


def wrong_zero_temperature(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """lets temperature 0 through"""
    without((temperature, top_k, top_p), lambda t, k, p: isinstance(t, (int, float)) and t == 0)


def wrong_infinite_temperature(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """lets an infinite temperature through"""
    without((temperature, top_k, top_p), lambda t, k, p: t == math.inf)


def wrong_nan(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """tests for what is bad instead of what is good, and nan fails no such test"""
    without((temperature, top_k, top_p), lambda t, k, p: t != t or p != p)


def wrong_bool(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """takes a bool for a number"""
    numbers = [int(value) if isinstance(value, bool) else value for value in (temperature, top_k, top_p)]
    check_settings(*numbers)


def wrong_both(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """lets top_k and top_p through together"""
    check_settings(temperature, top_k, None)
    check_settings(temperature, None, top_p)


def wrong_top_p_of_one(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """refuses top_p = 1, which only switches the filter off"""
    check_settings(temperature, top_k, 2.0 if top_p == 1 and not isinstance(top_p, bool) else top_p)


def wrong_top_p_above_one(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """lets a top_p above 1 through"""
    without((temperature, top_k, top_p), lambda t, k, p: isinstance(p, (int, float)) and p > 1)


def wrong_top_k_of_zero(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """takes top_k = 0 for "off", as some libraries do"""
    without((temperature, top_k, top_p), lambda t, k, p: type(k) is int and k == 0)


def wrong_kind(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """raises ValueError also for a value of the wrong kind"""
    try:
        check_settings(temperature, top_k, top_p)
    except TypeError as error:
        raise ValueError(str(error)) from error


def wrong_nameless(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """does not say which argument is wrong"""
    try:
        check_settings(temperature, top_k, top_p)
    except (TypeError, ValueError) as error:
        raise type(error)("bad settings") from error


def wrong_whole_floats(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """takes 2.0 for a whole number"""
    check_settings(temperature, int(top_k) if isinstance(top_k, float) else top_k, top_p)


def wrong_int_temperature(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """refuses whole numbers where a float is expected, such as temperature 2"""
    for name, value in (("temperature", temperature), ("top_p", top_p)):
        if type(value) is int:
            raise TypeError(f"{name} must be a float")
    check_settings(temperature, top_k, top_p)


def wrong_own_limits(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """sets a limit that was not asked for, such as a highest temperature"""
    if isinstance(temperature, float) and 2 < temperature < math.inf:
        raise ValueError("temperature must not be above 2")
    check_settings(temperature, top_k, top_p)


def right_library(temperature: float, top_k: int | None, top_p: float | None) -> None:
    validate_sampling_args(True, temperature, top_k, top_p)


def right_by_table(temperature: float, top_k: int | None, top_p: float | None) -> None:
    rules = {
        "temperature": (temperature, (int, float), lambda t: 0 < t < math.inf),
        "top_k": (top_k, (int,), lambda k: k >= 1),
        "top_p": (top_p, (int, float), lambda p: 0 < p <= 1),
    }
    for name, (value, kinds, good) in rules.items():
        if value is None and name != "temperature":
            continue
        if type(value) not in kinds:
            raise TypeError(name)
        if not good(value):
            raise ValueError(name)
    if None not in (top_k, top_p):
        raise ValueError("top_k and top_p")
