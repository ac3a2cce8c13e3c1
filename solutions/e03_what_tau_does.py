"""Below 1 sharper, above 1 flatter, towards 0 greedy; the order never changes.

The key is computed: the top probability is compared with its value at temperature 1.
"""

import torch

from llm_gen import filter_logits
from solutions.vocabulary import Choice

LOGITS = torch.tensor([[2.0, 1.0, 0.0]])
TEMPERATURES = {"temperature 0.5": 0.5, "temperature 1": 1.0, "temperature 2": 2.0, "towards 0": 1e-4}


def what_tau_does() -> dict[str, str]:
    return {name: option(temperature) for name, temperature in TEMPERATURES.items()}


def option(temperature: float) -> str:
    top, own = (float(filter_logits(LOGITS, t).softmax(dim=-1).amax()) for t in (temperature, 1.0))
    if top == own:
        return "a"
    if top < own:
        return "c"
    return "d" if top > 0.9999 else "b"


check_matches = Choice(what_tau_does)


def wrong_direction() -> dict[str, str]:
    """A temperature below 1 makes logits / temperature larger, so differences grow: sharper, not flatter."""
    return {"temperature 0.5": "c", "temperature 1": "a", "temperature 2": "b", "towards 0": "d"}


def wrong_reverses() -> dict[str, str]:
    """Dividing all logits by one positive number keeps their order, so no temperature turns the order round."""
    return dict.fromkeys(TEMPERATURES, "e")


def wrong_uniform() -> dict[str, str]:
    """The distribution becomes uniform only as the temperature grows without end."""
    return dict.fromkeys(TEMPERATURES, "f")


def wrong_nothing() -> dict[str, str]:
    """Only at temperature 1 are logits / temperature the logits themselves."""
    return dict.fromkeys(TEMPERATURES, "a") | {"temperature 1": "f"}


def wrong_greedy_already() -> dict[str, str]:
    """One token alone is left only in the limit; at any other temperature the others keep some probability."""
    return dict.fromkeys(TEMPERATURES, "d") | {"towards 0": "b"}


def wrong_flatter_always() -> dict[str, str]:
    """A temperature flattens only above 1."""
    return dict.fromkeys(TEMPERATURES, "c")


def right_by_hand() -> dict[str, str]:
    return dict(zip(TEMPERATURES, "bacd"))
