"""The second token has 0.4 before it and stays iff 0.4 < top_p: up to 0.4 the nucleus is one token.

That is why any top_p up to the top probability is greedy *here*, and why no fixed top_p is greedy everywhere.
"""

import torch

from llm_gen.nucleus import top_p_mask
from solutions.vocabulary import Choice

LOGITS = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
OPTIONS = {"a": 0.1, "b": 0.3, "c": 0.4, "d": 0.41, "e": 0.7, "f": 1.0}


def which_p_is_greedy() -> list[str]:
    return [letter for letter, top_p in OPTIONS.items() if top_p_mask(LOGITS, top_p).sum() == 1]


check_letters = Choice(which_p_is_greedy)


def wrong_boundary() -> list[str]:
    """At top_p = 0.4 the first token reaches the mass alone: the second has 0.4 before it, which is not below 0.4."""
    return ["a", "b"]


def wrong_tiny_only() -> list[str]:
    """top_p need not be tiny: the likeliest token alone has 0.4, so every top_p up to that keeps one token."""
    return ["a"]


def wrong_rule_of_le() -> list[str]:
    """That is what the faulty rule `cumsum <= top_p` keeps: the token that crosses must stay."""
    return ["a", "b", "c", "d"]


def wrong_only_exact() -> list[str]:
    """A smaller top_p keeps no more tokens than a larger one, so what holds at 0.4 holds below it too."""
    return ["c"]


def wrong_one() -> list[str]:
    """top_p = 1 keeps every token: it switches the filter off."""
    return ["f"]


def wrong_all_but_one() -> list[str]:
    """At 0.7 the nucleus is two tokens: 0.4 alone does not reach it."""
    return ["a", "b", "c", "d", "e"]


def wrong_above() -> list[str]:
    """A larger top_p keeps more tokens, not fewer."""
    return ["d", "e", "f"]


def right_by_hand() -> list[str]:
    return list("abc")
