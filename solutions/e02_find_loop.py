"""Each n from 1 to half the length is tried, the smallest first: two slices side by side are compared.

The smallest counts, because a loop of n is one of 2n too once it has gone round four times. Looking at the end
only, and not anywhere, tells a text that is still caught from one that said something twice.
"""

from solutions.vocabulary import Check, ListOf, Whole


def loop_length(ids: list[int]) -> int:
    """The smallest n >= 1 for which the last 2n ids are the same n ids twice; 0 if there is none."""
    for n in range(1, len(ids) // 2 + 1):
        if ids[-n:] == ids[-2 * n : -n]:
            return n
    return 0


check_lengths = Check(
    loop_length,
    ids=ListOf(Whole(0, 2), 0, 9),
    examples=[
        ([5, 1, 2, 1, 2],),
        ([1, 2, 1, 2, 1, 2, 1, 2],),
        ([3, 3, 1],),
        ([1, 2, 3, 1, 2, 3],),
        ([1, 2, 2, 1],),
        ([2, 1, 1, 2, 1, 1],),
        ([],),
        ([*range(12), *range(12)],),
        ([1, 11, 11, 1],),
        ([1000, 7, 300, 1000, 7, 300],),
        ([*range(40), *range(40)],),
        ([1, 2, 3, 4, 1, 9, 3, 4],),
    ],
)
equivalent = {
    "for n in range(1, len(ids) // 2 + 1): -> for n in range(0, len(ids) // 2 + 1):": (
        "n = 0 compares the whole text with nothing, and where that is nothing too, 0 is right"
    ),
    "for n in range(1, len(ids) // 2 + 1): -> for n in range(1, len(ids) * 2 + 1):": (
        "past half of the text the piece before is shorter, and never equal"
    ),
    "for n in range(1, len(ids) // 2 + 1): -> for n in range(1, len(ids) // 1 + 1):": (
        "past half of the text the piece before is shorter, and never equal"
    ),
}
not_checked = "speed"


def lengths(ids: list[int]) -> list[int]:
    return [n for n in range(1, len(ids) // 2 + 1) if ids[-n:] == ids[-2 * n : -n]]


def wrong_largest(ids: list[int]) -> int:
    """gives the largest n instead of the smallest"""
    return max(lengths(ids), default=0)


def wrong_anywhere(ids: list[int]) -> int:
    """accepts a repetition anywhere in the text, not only at its end"""
    found = [loop_length(ids[:end]) for end in range(len(ids) + 1)]
    return min((n for n in found if n), default=0)


def wrong_one_token(ids: list[int]) -> int:
    """sees only a single token that is repeated, no longer piece"""
    return int(len(ids) > 1 and ids[-1] == ids[-2])


def wrong_joined_digits(ids: list[int]) -> int:
    """joins the digits of the ids to a text, in which 1, 11 and 11, 1 look alike"""
    joined = lambda piece: "".join(map(str, piece))  # noqa: E731
    found = (n for n in range(1, len(ids) // 2 + 1) if joined(ids[-n:]) == joined(ids[-2 * n : -n]))
    return next(found, 0)


def wrong_any_order(ids: list[int]) -> int:
    """compares the two pieces without regard to the order of their ids"""
    found = (n for n in range(1, len(ids) // 2 + 1) if sorted(ids[-n:]) == sorted(ids[-2 * n : -n]))
    return next(found, 0)


def wrong_from_the_start(ids: list[int]) -> int:
    """looks at the beginning of the text instead of its end"""
    return loop_length(ids[::-1])


def wrong_stops_early(ids: list[int]) -> int:
    """never tries n = len(ids) / 2, where the whole text is one piece twice"""
    return next((n for n in lengths(ids) if 2 * n < len(ids)), 0)


def wrong_last_token_again(ids: list[int]) -> int:
    """gives the distance to the last time that the last token came, without comparing the rest"""
    return next((n for n in range(1, len(ids)) if ids[-1 - n] == ids[-1]), 0)


def wrong_three_times(ids: list[int]) -> int:
    """asks for the piece three times instead of twice"""
    return next((n for n in lengths(ids) if 3 * n <= len(ids) and ids[-3 * n : -2 * n] == ids[-n:]), 0)


def wrong_truth(ids: list[int]) -> int:
    """says whether there is a loop (1 or 0) instead of how long it is"""
    return int(bool(lengths(ids)))


def wrong_from_two(ids: list[int]) -> int:
    """never tries n = 1, a single token that is repeated"""
    return next((n for n in lengths(ids) if n > 1), 0)


def wrong_minus_one(ids: list[int]) -> int:
    """gives -1 instead of 0 where there is no repetition"""
    return loop_length(ids) or -1


def wrong_short_loops_only(ids: list[int]) -> int:
    """looks for pieces of up to ten tokens only; a sentence is longer"""
    return next((n for n in lengths(ids) if n <= 10), 0)


def right_list(ids: list[int]) -> int:
    return min(lengths(ids), default=0)


def right_token_by_token(ids: list[int]) -> int:
    n, size = 1, len(ids)
    while 2 * n <= size:
        if all(ids[size - i] == ids[size - i - n] for i in range(1, n + 1)):
            return n
        n += 1
    return 0
