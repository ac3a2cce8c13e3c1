"""Dividing by the temperature stretches or shrinks the differences between logits; only differences count.

A softmax does not change when the same number is subtracted from every logit of a row. Subtracting the
largest makes every exponent at most 0, so exp never overflows, and the largest term is exp(0) = 1, so the sum
is never 0. The division comes before the subtraction or after it; it only must not come after exp.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Check, Logits, OneOf, fails


def softmax_with_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Probabilities of the shape and dtype of `logits` (..., V); each row sums to 1. temperature > 0."""
    scaled = logits / temperature
    weights = (scaled - scaled.amax(dim=-1, keepdim=True)).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


check_everywhere = Check(
    softmax_with_temperature,
    logits=Logits("*", "V"),
    temperature=OneOf(1.0, 2.0, 0.5, 2, 100.0, 0.1, 0.01),
    examples=[
        (torch.tensor([2.0, 1.0, 0.0]), 1.0),
        (torch.tensor([2.0, 1.0, 0.0]), 0.5),
        (torch.tensor([[1000.0, 999.0], [-1.0, 3.0]]), 1.0),
        (torch.tensor([0.001, 0.0]), 1e-3),
        (torch.arange(16.0).reshape(2, 2, 2, 2), 1.0),
        (torch.tensor([1e4, 9990.0, -torch.inf]), 1.0),
        (torch.tensor([-1e4, -9999.0, -torch.inf]), 1.0),
    ],
    tolerance=1e-3,  # float32 near 1000 has no more digits, if the sum is taken as a logarithm
)
not_checked = "speed, half precision, whether a ready-made softmax is called"


@fails("nan")
def wrong_overflows(logits: Tensor, temperature: float) -> Tensor:
    """takes exp of the raw values, so a large logit gives inf and then NaN"""
    weights = (logits / temperature).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def wrong_multiplies(logits: Tensor, temperature: float) -> Tensor:
    """multiplies by the temperature instead of dividing"""
    return torch.softmax(logits * temperature, dim=-1)


def wrong_ignores_temperature(logits: Tensor, temperature: float) -> Tensor:
    """ignores the temperature"""
    return torch.softmax(logits, dim=-1)


def wrong_divides_probabilities(logits: Tensor, temperature: float) -> Tensor:
    """divides the probabilities by the temperature, after the softmax"""
    return torch.softmax(logits, dim=-1) / temperature


def wrong_first_axis(logits: Tensor, temperature: float) -> Tensor:
    """normalises over the first axis instead of the last"""
    return torch.softmax(logits / temperature, dim=0)


def wrong_whole_batch(logits: Tensor, temperature: float) -> Tensor:
    """normalises over all rows together instead of each row"""
    return torch.softmax((logits / temperature).flatten(), dim=0).reshape(logits.shape)


@fails("nan")
def wrong_batch_maximum(logits: Tensor, temperature: float) -> Tensor:
    """subtracts the maximum of the whole batch, so a row far below it turns into 0 / 0"""
    weights = ((logits - logits.max()) / temperature).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


@fails("nan")
def wrong_shift_not_divided(logits: Tensor, temperature: float) -> Tensor:
    """divides the logits but not the maximum that is subtracted, so exponents above 0 are left"""
    weights = (logits / temperature - logits.amax(dim=-1, keepdim=True)).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def wrong_logarithm(logits: Tensor, temperature: float) -> Tensor:
    """gives log-probabilities instead of probabilities"""
    return torch.log_softmax(logits / temperature, dim=-1)


@fails("shape")
def wrong_loses_an_axis(logits: Tensor, temperature: float) -> Tensor:
    """flattens the leading axes of its input"""
    return torch.softmax(logits.reshape(-1, logits.shape[-1]) / temperature, dim=-1)


@fails("changed input")
def wrong_writes_to_logits(logits: Tensor, temperature: float) -> Tensor:
    """divides the caller's logits in place"""
    logits /= temperature
    return torch.softmax(logits, dim=-1)


def right_torch(logits: Tensor, temperature: float) -> Tensor:
    return torch.softmax(logits / temperature, dim=-1)


def right_logsumexp(logits: Tensor, temperature: float) -> Tensor:
    scaled = logits / temperature
    return (scaled - scaled.logsumexp(dim=-1, keepdim=True)).exp()


def right_library(logits: Tensor, temperature: float) -> Tensor:
    rows = logits.reshape(-1, logits.shape[-1])
    return filter_logits(rows, temperature).softmax(dim=-1).reshape(logits.shape)
