"""Without a cache N * P + N (N - 1) / 2, with one P + N - 1: a growing series against a straight line.

For 100 and 100 that is 14,950 against 199, and for five times the length 374,750 against 999: five times the
text costs 25 times the work without a cache, and five times with one.
"""

from collections.abc import Callable

from llm_gen import token_passes
from solutions.vocabulary import Numbers

SIZES = ((100, 100), (500, 500))


def count_passes() -> dict[str, int]:
    return table(lambda p, n: token_passes(p, n, use_cache=False), lambda p, n: token_passes(p, n, use_cache=True))


def table(without: Callable[[int, int], int], cached: Callable[[int, int], int]) -> dict[str, int]:
    counts = {}
    for p, n in SIZES:
        counts[f"P = {p}, N = {n}, no cache"] = without(p, n)
        counts[f"P = {p}, N = {n}, cache"] = cached(p, n)
    return counts


check_counts = Numbers(count_passes)
variants = (
    ("P = 100, N = 100", "P = 500, N = 500", "(100, 100), (500, 500)"),
    ("P = 200, N = 100", "P = 300, N = 500", "(200, 100), (300, 500)"),
    ("P = 50, N = 200", "P = 400, N = 300", "(50, 200), (400, 300)"),
)


def wrong_feeds_the_last() -> dict[str, int]:
    """feeds the last token too, although nothing is predicted from it"""
    return table(lambda p, n: (n + 1) * p + n * (n + 1) // 2, lambda p, n: p + n)


def wrong_counts_from_one() -> dict[str, int]:
    """lets the first step feed P + 1 tokens, and the cached one the prompt and N more"""
    return table(lambda p, n: n * p + n * (n + 1) // 2, lambda p, n: p + n)


def wrong_prompt_does_not_grow() -> dict[str, int]:
    """feeds the prompt alone in every step, without the new tokens"""
    return table(lambda p, n: n * p, lambda p, n: p + n - 1)


def wrong_new_tokens_only() -> dict[str, int]:
    """counts the new tokens and forgets the prompt"""
    return table(lambda p, n: n * (n - 1) // 2, lambda p, n: n)


def wrong_square() -> dict[str, int]:
    """takes the whole final text for every step"""
    return table(lambda p, n: n * (p + n), lambda p, n: p + n - 1)


def wrong_cache_feeds_prompt_again() -> dict[str, int]:
    """thinks that a cache changes nothing"""
    without = count_passes()
    return {name: without[name.replace(", cache", ", no cache")] for name in without}


def right_by_counting() -> dict[str, int]:
    return table(lambda p, n: sum(range(p, p + n)), lambda p, n: p + len(range(1, n)))
