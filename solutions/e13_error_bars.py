"""40 of 50 is 0.8 with an error of 0.057; an error of 0.02 takes 0.16 / 0.0004 = 400 texts.

The second share is 0.08 higher, but the difference has an error of 0.073: 1.1 errors, which chance gives easily. With
fifty texts each, nobody can say that the second setting is better.
"""

import math

from solutions.vocabulary import Numbers

FIRST, SECOND, TEXTS = 40, 44, 50
Table = dict[str, float | int]


def error_bars() -> dict[str, float | int]:
    return table(error(FIRST / TEXTS), error(SECOND / TEXTS))


def error(share: float, texts: int = TEXTS) -> float:
    return math.sqrt(share * (1 - share) / texts)


def table(first: float, second: float) -> Table:
    share = FIRST / TEXTS
    return {
        "share": share,
        "standard error": first,
        "texts for 0.02": round(share * (1 - share) / 0.02**2),
        "difference in errors": (SECOND / TEXTS - share) / math.hypot(first, second),
    }


check_table = Numbers(error_bars, tolerance=0.005)


def wrong_no_root() -> Table:
    """forgets the root: gives the variance of the share instead of its error"""
    return table(error(FIRST / TEXTS) ** 2, error(SECOND / TEXTS) ** 2)


def wrong_one_text() -> Table:
    """gives the spread of a single text, without dividing by their number"""
    return table(error(FIRST / TEXTS, 1), error(SECOND / TEXTS, 1))


def wrong_own_error_only() -> Table:
    """divides the difference by the error of the first share alone, as if the second were known exactly"""
    return error_bars() | {"difference in errors": 0.08 / error(FIRST / TEXTS)}


def wrong_adds_errors() -> Table:
    """adds the two errors up, but independent errors add by their squares"""
    return error_bars() | {"difference in errors": 0.08 / (error(FIRST / TEXTS) + error(SECOND / TEXTS))}


def wrong_proportional() -> Table:
    """lets the error shrink with n instead of its root: 50 texts times 0.057 / 0.02"""
    return error_bars() | {"texts for 0.02": round(TEXTS * error(FIRST / TEXTS) / 0.02)}


def wrong_difference() -> Table:
    """gives the difference itself, not measured in standard errors"""
    return error_bars() | {"difference in errors": 0.08}


def wrong_percent() -> Table:
    """writes the share in per cent"""
    return error_bars() | {"share": 80.0}


def right_by_hand() -> Table:
    return {"share": 0.8, "standard error": 0.0566, "texts for 0.02": 400, "difference in errors": 1.097}
