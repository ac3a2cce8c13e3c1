"""The bar is share * max(p), so a sure model keeps few tokens and an unsure one many (arXiv:2407.01082).

The likeliest token always reaches a bar that is at most its own height, so nothing can be empty. No sorting is needed:
each token is judged by itself.
"""

import torch
from torch import Tensor

from llm_gen.beyond import min_p
from solutions.vocabulary import Check, OneOf, Probs, fails


def keep_min_p(probs: Tensor, share: float) -> Tensor:
    """What min-p keeps of each row, renormalised: probs (B, V) -> (B, V), 0 for dropped tokens. share in (0, 1]."""
    bar = share * probs.amax(dim=-1, keepdim=True)
    kept = torch.where(probs >= bar, probs, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


check_rows = Check(
    keep_min_p,
    probs=Probs("B", "V"),
    share=OneOf(0.5, 0.25, 1.0, 0.125, 0.75, 0.0625),
    examples=[
        (torch.tensor([[0.5, 0.25, 0.125, 0.125]]), 0.5),
        (torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.0625, 0.125, 0.75, 0.0625]]), 0.25),
        (torch.tensor([[0.5, 0.25 - 2**-11, 0.25 + 2**-11]]), 0.5),  # a hair below the bar
        (torch.tensor([[0.5, 0.25 - 2**-20, 0.25 + 2**-20]]), 0.5),
        (torch.full((1, 64), 1 / 64), 0.5),
        (torch.tensor([[0.5, 0.5]]), 1.0),
        (torch.tensor([[0.96875, 0.03125]]), 0.03125),
        (torch.full((1, 2048), 1 / 2048), 0.5),
    ],
)
not_checked = "speed, half precision, logits instead of probabilities"


def keep(probs: Tensor, stays: Tensor) -> Tensor:
    left = probs * stays
    return left / left.sum(dim=-1, keepdim=True)


@fails("nan")
def wrong_absolute(probs: Tensor, share: float) -> Tensor:
    """compares with `share` itself, and so keeps nothing where no token is that likely"""
    return keep(probs, probs >= share)


def wrong_slack(probs: Tensor, share: float) -> Tensor:
    """leaves room for rounding, so a token just below the bar stays that should go (`>=` takes no slack)"""
    return keep(probs, probs >= share * probs.amax(dim=-1, keepdim=True) - 1e-3)


@fails("nan")
def wrong_drops_the_bar(probs: Tensor, share: float) -> Tensor:
    """drops a token exactly at the bar (`>` where `>=` is meant), and with a share of 1 every token"""
    return keep(probs, probs > share * probs.amax(dim=-1, keepdim=True))


def wrong_not_renormalised(probs: Tensor, share: float) -> Tensor:
    """does not divide by the sum of what stays"""
    return probs * (keep_min_p(probs, share) > 0)


def wrong_softmax_again(probs: Tensor, share: float) -> Tensor:
    """takes a softmax of probabilities, which belongs to logits; here dividing by the sum is enough"""
    return probs.masked_fill(keep_min_p(probs, share) == 0, -torch.inf).softmax(dim=-1)


def wrong_zeros_in_softmax(probs: Tensor, share: float) -> Tensor:
    """fills with 0 and takes a softmax, in which 0 is a number like any other: dropped tokens come back"""
    return probs.masked_fill(keep_min_p(probs, share) == 0, 0.0).softmax(dim=-1)


def wrong_whole_batch(probs: Tensor, share: float) -> Tensor:
    """takes the largest probability of the whole batch for the bar, and the likeliest of each row besides"""
    return keep(probs, (probs >= share * probs.max()) | (probs == probs.amax(dim=-1, keepdim=True)))


def wrong_mass(probs: Tensor, share: float) -> Tensor:
    """takes `share` for a mass, as top-p does"""
    ranked, order = probs.sort(dim=-1, descending=True, stable=True)
    stays = ranked.cumsum(dim=-1) - ranked < share
    return keep(probs, torch.zeros_like(stays).scatter(-1, order, stays))


def wrong_mean(probs: Tensor, share: float) -> Tensor:
    """measures from the mean of the row instead of its largest entry"""
    return keep(probs, probs >= share * probs.mean(dim=-1, keepdim=True))


def wrong_other_side(probs: Tensor, share: float) -> Tensor:
    """lets a token fall by `share` of the largest: the bar stands at 1 - share"""
    return keep(probs, probs >= (1 - share) * probs.amax(dim=-1, keepdim=True))


@fails("nan")
def wrong_keeps_the_tail(probs: Tensor, share: float) -> Tensor:
    """keeps what lies below the bar"""
    return keep(probs, probs < share * probs.amax(dim=-1, keepdim=True))


@fails("changed input")
def wrong_in_place(probs: Tensor, share: float) -> Tensor:
    """writes zeros into the caller's probabilities"""
    right = keep_min_p(probs, share)
    probs[right == 0] = 0
    return right


def right_ratio(probs: Tensor, share: float) -> Tensor:
    ratio = probs / probs.max(dim=-1).values[:, None]
    return keep(probs, (ratio >= share).to(probs.dtype))


def right_loop(probs: Tensor, share: float) -> Tensor:
    rows = []
    for row in probs.tolist():
        left = [p if p >= share * max(row) else 0.0 for p in row]
        rows.append([p / sum(left) for p in left])
    return torch.tensor(rows, dtype=probs.dtype)


def right_library(probs: Tensor, share: float) -> Tensor:
    return min_p(torch.zeros((len(probs), 1)), probs.double().log(), share).softmax(dim=-1).to(probs.dtype)
