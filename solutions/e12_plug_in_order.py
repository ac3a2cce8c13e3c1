"""Processors, temperature, filters, warpers, draw: whatever is plugged in goes to one of two places.

A penalty belongs before the temperature, since it speaks about the model's logits; a cut belongs after it, since it
looks at the distribution that is drawn from. The key is computed: `describe_order` tells it for this very call.
"""

from functools import partial

from torch import Tensor

from llm_gen.beyond import ban_tokens, describe_order, min_p, presence_penalty
from solutions.vocabulary import Order

LETTERS = {"draw": "a", "min_p": "b", "presence_penalty": "c", "top_p": "d", "ban_tokens": "e", "mine": "f"}
LETTERS |= {"temperature": "g"}


def mine(ids: Tensor, logits: Tensor) -> Tensor:
    return logits


def plug_in_order() -> list[str]:
    said = describe_order(
        True, 0.8, top_p=0.9,
        warpers=[partial(min_p, share=0.05), mine],
        processors=[partial(ban_tokens, tokens=[7]), partial(presence_penalty, penalty=1.0)],
    )  # fmt: skip
    return [LETTERS[step.replace("=", "(").partition("(")[0]] for step in said.split(" -> ")[1:]]


check_order = Order(plug_in_order)


def wrong_as_written() -> list[str]:
    """follows the order of the arguments in the call, which does not count"""
    return list("gdbfeca")


def wrong_temperature_first() -> list[str]:
    """divides by the temperature before the processors, so that a penalty weighs more when it is cold"""
    return list("gecdbfa")


def wrong_cuts_before_temperature() -> list[str]:
    """lets top-p and the warpers cut before the temperature; then it cannot change what stays"""
    return list("ecdbfga")


def wrong_warpers_before_top_p() -> list[str]:
    """puts the warpers before top-p; they come after it"""
    return list("ecgbfda")


def wrong_penalty_last() -> list[str]:
    """lets a penalty act on what the filters have left; it belongs to the processors, before the temperature"""
    return list("egdbfca")


def wrong_list_backwards() -> list[str]:
    """goes through a list from its end"""
    return list("cegdfba")


def wrong_draws_before_warpers() -> list[str]:
    """draws before the warpers have cut"""
    return list("ecgdabf")


def right_by_hand() -> list[str]:
    return list("ecgdbfa")
