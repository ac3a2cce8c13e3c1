"""Entropy grows with the temperature, so bisection finds the one place where it takes the wanted value.

`torch.special.entr` is -p ln p with the right value 0 at p = 0; a division by ln 2 turns nats into bits. Each
halving gives one more binary digit, so forty are more than a float32 entropy can tell apart.
"""

import math

import torch
from torch import Tensor

from solutions.vocabulary import Check, Logits, OneOf, fails

LOW, HIGH = 0.1, 10.0


def temperature_for_entropy(logits: Tensor, bits: float) -> float:
    """The temperature in 0.1..10 at which the softmax of `logits` (V,) has an entropy of `bits`."""
    low, high = LOW, HIGH
    for _ in range(40):
        middle = (low + high) / 2
        if entropy_in_bits(logits, middle) < bits:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def entropy_in_bits(logits: Tensor, temperature: float) -> float:
    probs = torch.softmax(logits.double() / temperature, dim=-1)
    return float(torch.special.entr(probs).sum()) / math.log(2)


def within_reach(logits: Tensor, bits: float) -> bool:
    margin = 0.02
    return entropy_in_bits(logits, LOW) + margin < bits < entropy_in_bits(logits, HIGH) - margin


check_everywhere = Check(
    temperature_for_entropy,
    logits=Logits("V", without=("all equal", "zeros")),
    bits=OneOf(1.0, 0.5, 0.25, 1.5, 2.0, 0.9, 1.25),
    examples=[
        (torch.tensor([2.0, 1.0, 0.0]), 1.0),
        (torch.tensor([30.0, 0.0]), 0.25),
        (torch.tensor([0.3125, 0.0]), 0.375),
        (torch.tensor([100.0, 99.0, 0.0]), 0.5),
    ],
    valid=within_reach,
    sizes={"V": (2, 3, 4, 5, 8)},
    tolerance=1e-3,
)
not_checked = "speed"
equivalent = {
    "for _ in range(40): -> for _ in range(41):": "one digit more than needed",
    "for _ in range(40): -> for _ in range(39):": "one digit fewer is still enough",
    "if entropy_in_bits(logits, middle) < bits: -> if entropy_in_bits(logits, middle) <= bits:": (
        "exactly equal means that the answer is found: both halves hold it"
    ),
    "probs = torch.softmax(logits.double() / temperature, dim=-1) -> "
    "probs = torch.softmax(logits.double() / temperature, dim=0)": "a vector has one axis",
}


def search(logits: Tensor, wanted: float, entropy, low: float = LOW, high: float = HIGH, steps: int = 40) -> float:
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy(logits, middle) < wanted else (low, middle)
    return (low + high) / 2


def wrong_nats(logits: Tensor, bits: float) -> float:
    """measures the entropy in nats (natural logarithm) instead of bits"""
    return search(logits, bits, lambda z, t: entropy_in_bits(z, t) * math.log(2))


def wrong_multiplies(logits: Tensor, bits: float) -> float:
    """multiplies the logits by the temperature instead of dividing"""
    return 1 / search(logits, bits, entropy_in_bits)


def wrong_half(logits: Tensor, bits: float) -> float:
    """keeps the wrong half of the interval at each step"""
    return search(logits, -bits, lambda z, t: -entropy_in_bits(z, t))


def wrong_sign(logits: Tensor, bits: float) -> float:
    """forgets the minus in -(p * log2(p)).sum(), so the search runs to one end"""
    return search(logits, bits, lambda z, t: float(((q := (z / t).softmax(-1)) * q.log2()).sum()))


def wrong_tenths(logits: Tensor, bits: float) -> float:
    """tries 0.1, 0.2, 0.3 and so on only, which is not precise enough"""
    return min((tenth / 10 for tenth in range(1, 101)), key=lambda t: abs(entropy_in_bits(logits, t) - bits))


def wrong_zero_times_infinity(logits: Tensor, bits: float) -> float:
    """takes 0 * log2(0) for a token of probability 0, which is NaN, and no number is above or below NaN"""
    return search(logits, bits, lambda z, t: float("nan") if (z / t).softmax(-1).min() == 0 else entropy_in_bits(z, t))


def wrong_few_steps(logits: Tensor, bits: float) -> float:
    """stops after five halvings, which is not precise enough"""
    return search(logits, bits, entropy_in_bits, steps=5)


def wrong_never_above_one(logits: Tensor, bits: float) -> float:
    """searches between 0.1 and 1 only"""
    return search(logits, bits, entropy_in_bits, high=1.0)


def wrong_never_below_one(logits: Tensor, bits: float) -> float:
    """searches between 1 and 10 only"""
    return search(logits, bits, entropy_in_bits, low=1.0)


def wrong_gives_the_entropy(logits: Tensor, bits: float) -> float:
    """gives the entropy at temperature 1 instead of a temperature"""
    return entropy_in_bits(logits, 1.0)


@fails("type")
def wrong_tensor(logits: Tensor, bits: float) -> Tensor:
    """gives a tensor instead of a float; `float(...)` or `.item()` makes one of the other"""
    return torch.tensor(temperature_for_entropy(logits, bits))


def right_in_logarithms(logits: Tensor, bits: float) -> float:
    low, high = math.log(LOW), math.log(HIGH)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy_in_bits(logits, math.exp(middle)) < bits else (low, middle)
    return math.exp(low)


def right_on_a_grid(logits: Tensor, bits: float) -> float:
    temperatures = torch.logspace(-1, 1, 20_001, dtype=torch.float64)
    probs = torch.softmax(logits.double() / temperatures[:, None], dim=-1)
    entropies = torch.special.entr(probs).sum(dim=-1) / math.log(2)
    return temperatures[(entropies - bits).abs().argmin()].item()
