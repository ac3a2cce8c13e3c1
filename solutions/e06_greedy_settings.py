"""Greedy is a sampler with one token to choose from: top_k = 1, at any temperature, and 1.0 changes nothing.

With this form the code behind needs no special case: one path draws, and the log-prob is 0, as it should be for a
choice that was never in doubt.
"""

from solutions.vocabulary import Check, OneOf, fails

Settings = tuple[float, int | None, float | None]


def plain_settings(
    temperature: float, top_k: int | None, top_p: float | None
) -> tuple[float, int | None, float | None]:
    """(temperature, top_k, top_p) to sample with, None for off; temperature 0 gives (1.0, 1, None)."""
    if temperature == 0:
        return 1.0, 1, None
    return temperature, None if top_k == 0 else top_k, None if top_p is None or top_p >= 1 else top_p


check_settings = Check(
    plain_settings,
    temperature=OneOf(1.0, 0.8, 0.0, 2.0, 0.01, 1e-6, 100.0),
    top_k=OneOf(None, 0, 1, 2, 50, 200),
    top_p=OneOf(None, 0.9, 1.0, 1.5, 0.95, 0.01, 0.999, 1e-6),
    examples=[(0.0, None, None), (1.0, 0, None), (1.0, None, 1.0), (0.8, None, 0.95), (0.0, 50, 0.9), (1.0, 2, 1.5)],
)
not_checked = "bad settings, which the validator refuses"


def wrong_temperature_zero(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """leaves temperature 0 as it is, and somebody divides by it"""
    right = plain_settings(temperature, top_k, top_p)
    return (temperature, *right[1:])


def wrong_tiny_temperature(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """takes a tiny temperature for greedy, which is a fair coin on a tie"""
    if temperature == 0:
        return 1e-5, None, None
    return plain_settings(temperature, top_k, top_p)


@fails("type")
def wrong_keeps_the_cuts(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """keeps the given top_p beside greedy"""
    right = plain_settings(temperature, top_k, top_p)
    return (*right[:2], plain_settings(1.0, top_k, top_p)[2]) if temperature == 0 else right


def wrong_given_top_k(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """lets a given top_k win over temperature 0"""
    right = plain_settings(temperature, top_k, top_p)
    return (right[0], top_k or 1, right[2]) if temperature == 0 else right


@fails("type")
def wrong_zero_k(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """leaves top_k = 0, which keeps nothing"""
    right = plain_settings(temperature, top_k, top_p)
    return (right[0], 0, right[2]) if temperature and top_k == 0 else right


@fails("type")
def wrong_top_p_of_one(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """takes only a top_p above 1 for off, and leaves 1 itself"""
    right = plain_settings(temperature, top_k, top_p)
    return (*right[:2], 1.0) if temperature and top_p == 1 else right


@fails("type")
def wrong_top_p_above_one(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """lets a top_p above 1 through"""
    right = plain_settings(temperature, top_k, top_p)
    return (*right[:2], top_p) if temperature and top_p is not None and top_p > 1 else right


@fails("error")
def wrong_compares_none(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """compares None with a number"""
    return plain_settings(temperature, top_k, None if top_p >= 1 else top_p)


@fails("type")
def wrong_only_one_cut(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """switches top_p off whenever there is a top_k; here the two may be combined"""
    right = plain_settings(temperature, top_k, top_p)
    return (*right[:2], None) if right[1] is not None else right


def wrong_cold(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    """rounds small temperatures down to greedy"""
    return plain_settings(0.0 if temperature < 0.1 else temperature, top_k, top_p)


def right_step_by_step(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    if not temperature:
        return (1.0, 1, None)
    if not top_k:
        top_k = None
    if top_p is not None and not top_p < 1:
        top_p = None
    return (temperature, top_k, top_p)


def right_by_or(temperature: float, top_k: int | None, top_p: float | None) -> Settings:
    sampling = (temperature, top_k or None, top_p if (top_p or 2) < 1 else None)
    return sampling if temperature else (1.0, 1, None)
