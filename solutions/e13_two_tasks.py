"""Task 1 takes c, the most varied setting whose true share is above 0.85 even with bad luck: 0.91 - 2 x 0.02 = 0.87.

d has the higher diversity, but 0.86 - 2 x 0.03 = 0.80 promises less than was asked for. Task 2 can throw drafts away,
so it may go further: e fails four times with 0.28 ** 4 = 0.006, and is the most varied of those that stay below 0.01.
f is beaten by d, which is as varied and truer; nothing speaks for it in any task.
"""

from solutions.vocabulary import Numbers

Line = tuple[float, float, float]
LINES: dict[str, Line] = {
    "a": (1.00, 0.01, 0.06),
    "b": (0.96, 0.01, 0.45),
    "c": (0.91, 0.02, 0.52),
    "d": (0.86, 0.03, 0.57),
    "e": (0.72, 0.03, 0.58),
    "f": (0.55, 0.04, 0.57),
}
Table = dict[str, str | float]


def two_tasks() -> dict[str, str | float]:
    first = most_varied(name for name in LINES if surely(name) >= 0.85)
    return table(first, most_varied(name for name in LINES if one_of(name, 4) >= 0.99))


def surely(name: str, errors: int = 2) -> float:
    return LINES[name][0] - errors * LINES[name][1]


def one_of(name: str, drafts: int) -> float:
    return 1 - (1 - LINES[name][0]) ** drafts


def most_varied(names) -> str:
    return max(names, key=lambda name: LINES[name][2])


def is_beaten(name: str) -> bool:
    true, _error, diversity = LINES[name]
    others = [(LINES[other][0], LINES[other][2]) for other in LINES]
    return any(a >= true and b >= diversity and (a, b) != (true, diversity) for a, b in others)


def table(first: str, second: str) -> Table:
    return {
        "task 1": first,
        "its share minus two errors": surely(first),
        "task 2": second,
        "its chance of a true draft": one_of(second, 4),
        "the beaten one": next(name for name in LINES if is_beaten(name)),
    }


check_table = Numbers(two_tasks, tolerance=0.005)


def wrong_no_errors() -> Table:
    """takes the measured share without its error: d has 0.86, but may well lie below 0.85"""
    return table("d", "e") | {"its share minus two errors": 0.86}


def wrong_one_error() -> Table:
    """subtracts one standard error only, which is missed in one case of six"""
    return two_tasks() | {"its share minus two errors": surely("c", 1)}


def wrong_safest() -> Table:
    """takes the truest setting for task 1, although several are true enough and more varied"""
    return table("a", "e")


def wrong_next_safest() -> Table:
    """takes b for task 1, but c is true enough too, and more varied"""
    return table("b", "e")


def wrong_one_draft() -> Table:
    """asks one draft of task 2 to be true with 0.99, and so arrives at greedy"""
    return table("c", "a") | {"its chance of a true draft": 1.0}


def wrong_careful_drafts() -> Table:
    """takes d for task 2, but e is enough with four drafts, and more varied"""
    return table("c", "d")


def wrong_all_true() -> Table:
    """gives the chance that all four drafts are true"""
    return two_tasks() | {"its chance of a true draft": LINES["e"][0] ** 4}


def wrong_least_varied() -> Table:
    """calls greedy beaten since it is the least varied, but no setting is as true"""
    return two_tasks() | {"the beaten one": "a"}


def wrong_beaten_or_beating() -> Table:
    """takes the better of the two for the beaten one: d is as varied as f, and truer"""
    return two_tasks() | {"the beaten one": "d"}


def right_by_hand() -> Table:
    return {
        "task 1": "c",
        "its share minus two errors": 0.87,
        "task 2": "e",
        "its chance of a true draft": 0.994,
        "the beaten one": "f",
    }
