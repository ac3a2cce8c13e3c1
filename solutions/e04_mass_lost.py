"""Ties need no care here: whichever of two equal tokens goes, the same mass goes with it.

Adding up what is dropped is also more exact than 1 minus what is kept, when next to nothing is dropped.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Check, OneOf, Probs, fails


def mass_lost(probs: Tensor, top_k: int) -> Tensor:
    """The mass outside the `top_k` likeliest tokens of each row: probs (B, V) -> (B,). top_k >= 1."""
    return probs.sort(dim=-1, descending=True).values[:, top_k:].sum(dim=-1)


check_rows = Check(
    mass_lost,
    probs=Probs("B", "V"),
    top_k=OneOf(1, 2, 3, lambda sizes: sizes["V"], lambda sizes: sizes["V"] + 3, 50),
    examples=[
        (torch.tensor([[0.5, 0.25, 0.25]]), 1),
        (torch.tensor([[0.125, 0.5, 0.25, 0.125], [0.25, 0.25, 0.25, 0.25]]), 2),
        (torch.full((1, 64), 1 / 64), 60),
        (torch.tensor([[0.5, 0.4995, 0.0005]]), 2),
    ],
)
not_checked = "speed, half precision"


def wrong_kept(probs: Tensor, top_k: int) -> Tensor:
    """gives the mass that stays instead of what is lost"""
    return 1 - mass_lost(probs, top_k)


def wrong_one_more(probs: Tensor, top_k: int) -> Tensor:
    """keeps k + 1 tokens"""
    return mass_lost(probs, top_k + 1)


def wrong_one_less(probs: Tensor, top_k: int) -> Tensor:
    """keeps k - 1 tokens"""
    return probs.sort(dim=-1, descending=True).values[:, top_k - 1 :].sum(dim=-1)


def wrong_unsorted(probs: Tensor, top_k: int) -> Tensor:
    """drops the tokens from id k on, without looking which are the likeliest"""
    return probs[:, top_k:].sum(dim=-1)


def wrong_upwards(probs: Tensor, top_k: int) -> Tensor:
    """sorts upwards and so throws the likeliest away"""
    return probs.sort(dim=-1).values[:, top_k:].sum(dim=-1)


def wrong_ties_stay(probs: Tensor, top_k: int) -> Tensor:
    """keeps every token tied with the k-th"""
    kth = probs.sort(dim=-1, descending=True).values[:, min(top_k, probs.shape[-1]) - 1]
    return torch.where(probs < kth[:, None], probs, 0.0).sum(dim=-1)


def wrong_whole_batch(probs: Tensor, top_k: int) -> Tensor:
    """adds up the rows of the batch"""
    return mass_lost(probs, top_k).sum().expand(len(probs))


def wrong_counts(probs: Tensor, top_k: int) -> Tensor:
    """counts the tokens that are dropped instead of adding their probabilities"""
    return torch.full_like(probs[:, 0], max(probs.shape[-1] - top_k, 0))


@fails("error")
def wrong_large_k(probs: Tensor, top_k: int) -> Tensor:
    """fails when top_k is larger than the vocabulary"""
    return 1 - probs.topk(top_k, dim=-1).values.sum(dim=-1)


@fails("shape")
def wrong_column(probs: Tensor, top_k: int) -> Tensor:
    """gives a column (B, 1) instead of one number a row"""
    return mass_lost(probs, top_k)[:, None]


def right_one_minus(probs: Tensor, top_k: int) -> Tensor:
    return 1 - probs.topk(min(top_k, probs.shape[-1]), dim=-1).values.sum(dim=-1)


def right_loop(probs: Tensor, top_k: int) -> Tensor:
    return torch.stack([probs.new_tensor(sorted(row.tolist(), reverse=True)[top_k:]).sum() for row in probs])


def right_library(probs: Tensor, top_k: int) -> Tensor:
    return (probs * (filter_logits(probs.log(), top_k=top_k) == -torch.inf)).sum(dim=-1)
