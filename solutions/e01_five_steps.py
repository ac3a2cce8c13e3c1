"""Each step needs the one before: ids, all logits, the last logits, probabilities, token, longer ids.

The key is computed: each step says what it needs and what it gives, and one order alone gives every step what
it needs.
"""

from itertools import permutations

from solutions.vocabulary import Order

# letter: (needs, gives)
STEPS = {
    "a": ("logits of one position", "probabilities"),
    "b": ("token", "longer ids"),
    "c": ("ids", "logits of all positions"),
    "d": ("probabilities", "token"),
    "e": ("logits of all positions", "logits of one position"),
}


def five_steps() -> list[str]:
    return next(list(order) for order in permutations(STEPS) if possible(order))


def possible(order: tuple[str, ...]) -> bool:
    """Whether each step finds what it needs among what was there or given before it."""
    there = {"ids"}
    for needs, gives in map(STEPS.get, order):
        if needs not in there:
            return False
        there.add(gives)
    return True


check_order = Order(five_steps)


def wrong_softmax_first() -> list[str]:
    """takes the softmax of every position before picking the last: the result is the same, but T times the work"""
    return ["c", "a", "e", "d", "b"]


def wrong_append_first() -> list[str]:
    """appends a token before it is chosen"""
    return ["c", "e", "a", "b", "d"]


def wrong_choose_before_softmax() -> list[str]:
    """chooses before there are probabilities; only greedy decoding may do that"""
    return ["c", "e", "d", "a", "b"]


def wrong_last_before_model() -> list[str]:
    """takes the last position before the model has run: then the model would see one token only"""
    return ["e", "c", "a", "d", "b"]


def wrong_backwards() -> list[str]:
    """tells the steps backwards"""
    return ["b", "d", "a", "e", "c"]


def right_by_hand() -> list[str]:
    return list("ceadb")
