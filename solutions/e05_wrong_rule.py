"""Only rule A is right; B is the commonest error of the field, C differs from A only where the sum is exact.

The key is computed: each rule is run on two distributions and judged by the sets it keeps.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from solutions.vocabulary import Choice

PROBS = torch.tensor([0.5, 0.25, 0.125, 0.125])
FIRST = torch.tensor([True, False, False, False])
RULES: dict[str, Callable[[float], Tensor]] = {
    "rule A": lambda top_p: PROBS.cumsum(0) - PROBS < top_p,
    "rule B": lambda top_p: (PROBS.cumsum(0) <= top_p) | FIRST,
    "rule C": lambda top_p: PROBS.cumsum(0) - PROBS <= top_p,
    "rule D": lambda top_p: (1 - top_p <= PROBS) | FIRST,
}


def wrong_rule() -> dict[str, str]:
    return {name: verdict(rule) for name, rule in RULES.items()}


def verdict(rule: Callable[[float], Tensor]) -> str:
    """The option for a rule, from how many tokens it keeps too many or too few, between two sums and exactly on one."""
    excess = [int(rule(top_p).sum()) - smallest(top_p) for top_p in (0.6, 0.5, 0.875)]
    too_few, too_many = min(excess) < 0, max(excess) > 0
    if too_few and too_many:
        return "d"
    return "b" if too_few else "c" if too_many else "a"


def smallest(top_p: float) -> int:
    return next(n for n in range(1, 5) if PROBS[:n].sum() >= top_p)


check_rules = Choice(wrong_rule)


def wrong_crossing() -> dict[str, str]:
    """`c <= top_p` is false for the token that crosses, so rule B keeps less than top_p. Try top_p = 0.6 by hand."""
    return {"rule A": "b", "rule B": "a", "rule C": "d", "rule D": "a"}


def wrong_boundary() -> dict[str, str]:
    """At an exact hit the mass is reached already: `<` stops there and `<=` takes one more. Try top_p = 0.5."""
    return {"rule A": "c", "rule B": "d", "rule C": "a", "rule D": "c"}


def wrong_single() -> dict[str, str]:
    """Only a rule without the running sum c looks at single probabilities."""
    return {"rule A": "d", "rule B": "b", "rule C": "c", "rule D": "b"}


def wrong_everything() -> dict[str, str]:
    """Each of the rules drops something: try top_p = 0.3, where at most two tokens can stay."""
    return dict.fromkeys(RULES, "e")


def wrong_way_round() -> dict[str, str]:
    """B and C are the other way round: c counts the token itself, and c - p is the mass before it."""
    return {"rule A": "a", "rule B": "c", "rule C": "b", "rule D": "d"}


def right_by_hand() -> dict[str, str]:
    return dict(zip(RULES, "abcd"))
