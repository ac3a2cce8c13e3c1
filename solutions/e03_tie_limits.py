"""The limit at 0 shares the mass among the *largest* logits: with a tie it is (1/2, 1/2, 0), not a one-hot.

Greedy decoding is different: it takes the first of the tied tokens. At the other end logits / temperature all
go to 0, so every token gets 1/3.
"""

import torch

from llm_gen import filter_logits
from solutions.vocabulary import Numbers

LOGITS = torch.tensor([[1.0, 1.0, 0.0]], dtype=torch.float64)


def tie_limits() -> dict[str, list[float]]:
    temperatures = {"temperature 1": 1.0, "to 0": 1e-6, "to infinity": 1e6}
    return {name: at(temperature) for name, temperature in temperatures.items()}


def at(temperature: float) -> list[float]:
    return filter_logits(LOGITS, temperature).softmax(dim=-1)[0].tolist()


check_table = Numbers(tie_limits, tolerance=0.005)
variants = (
    ("(1, 1, 0)", "[[1.0, 1.0, 0.0]]", "are e, e and 1", "[1.0, 0.0, 0.0]", "[0.5, 0.5, 0.0]", "[0.0, 0.0, 1.0]"),
    ("(0, 1, 1)", "[[0.0, 1.0, 1.0]]", "are 1, e and e", "[0.0, 1.0, 0.0]", "[0.0, 0.5, 0.5]", "[1.0, 0.0, 0.0]"),
)


def wrong_one_hot() -> dict[str, list[float]]:
    """gives everything to the first of the tied tokens, as greedy decoding does"""
    return tie_limits() | {"to 0": [1.0, 0.0, 0.0]}


def wrong_uniform_at_zero() -> dict[str, list[float]]:
    """swaps the two limits"""
    right = tie_limits()
    return right | {"to 0": right["to infinity"], "to infinity": right["to 0"]}


def wrong_forgets_e_to_the_0() -> dict[str, list[float]]:
    """gives the logit 0 the weight 0, but exp(0) is 1"""
    return tie_limits() | {"temperature 1": [0.5, 0.5, 0.0]}


def wrong_divides_logits() -> dict[str, list[float]]:
    """divides logits by their sum, without exp"""
    return {name: (LOGITS[0] / LOGITS.sum()).tolist() for name in tie_limits()}


def wrong_weights() -> dict[str, list[float]]:
    """gives the weights before they are divided by their sum"""
    return tie_limits() | {"temperature 1": LOGITS[0].exp().tolist()}


def wrong_reverses() -> dict[str, list[float]]:
    """lets a high temperature turn the order round, but it can only level it"""
    return tie_limits() | {"to infinity": [0.0, 0.0, 1.0]}


def right_by_hand() -> dict[str, list[float]]:
    total = 2 * torch.e + 1
    return {
        "temperature 1": [torch.e / total, torch.e / total, 1 / total],
        "to 0": [0.5, 0.5, 0.0],
        "to infinity": [1 / 3, 1 / 3, 1 / 3],
    }
