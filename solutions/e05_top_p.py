"""`cumsum - p < top_p`: a token stays as long as the mass before it has not reached the threshold.

The crossing token stays, so the kept mass is at least top_p; the likeliest always stays, because the mass
before it is 0; and no smaller set of likeliest tokens would do. The decision is taken in sorted order and
scattered back.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Check, OneOf, Probs, fails


def keep_top_p(probs: Tensor, top_p: float) -> Tensor:
    """The nucleus of each row, renormalised: probs (B, V) -> (B, V), 0 for dropped tokens. top_p in (0, 1]."""
    ranked, order = probs.sort(dim=-1, descending=True, stable=True)
    mass_before = ranked.cumsum(dim=-1) - ranked
    kept = torch.where(mass_before < top_p, ranked, 0.0)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, order, kept)


check_everywhere = Check(
    keep_top_p,
    probs=Probs("B", "V"),
    top_p=OneOf(0.75, 0.5, 0.9, 0.3, 1.0, 0.875, 1e-6),
    examples=[
        (torch.tensor([[0.5, 0.3, 0.15, 0.05]]), 0.7),
        (torch.tensor([[0.05, 0.15, 0.5, 0.3]]), 0.9),
        (torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.125, 0.125, 0.25, 0.5]]), 0.75),
        (torch.tensor([[0.5, 0.25 - 2**-11, 0.25 + 2**-11 - 2**-9, 2**-9]]), 0.75),  # a hair below top_p
        (torch.tensor([[0.5, 0.25 - 2**-24, 0.25 + 2**-24]]), 0.6),  # nearly a tie is none
        (torch.tensor([[0.5, 0.25 - 2**-20, 0.25 + 2**-20 - 2**-9, 2**-9]]), 0.75),
        (torch.full((1, 64), 1 / 64), 0.9375),
        (torch.tensor([[0.5, 0.25, 0.25 - 2**-10, 2**-10]]), 0.9985),
        (torch.full((1, 64), 1 / 64), 0.05),
        (torch.tensor([[1 - 2**-11, 2**-11]]), 1.0),
        (torch.full((1, 32), 1 / 32), 0.0625),
        (torch.full((1, 1024), 1 / 1024), 1 / 512),
    ],
)
not_checked = "speed, half precision, logits instead of probabilities"


def ranked_and_kept(probs: Tensor, keep) -> Tensor:
    """Renormalised probabilities of the sorted entries for which `keep(ranked, cumsum)` holds, and of the first."""
    ranked, order = probs.sort(dim=-1, descending=True, stable=True)
    kept = keep(ranked, ranked.cumsum(dim=-1))
    kept[..., 0] = True
    left = torch.zeros_like(probs).scatter(-1, order, ranked * kept)
    return left / left.sum(dim=-1, keepdim=True)


def wrong_drops_crossing(probs: Tensor, top_p: float) -> Tensor:
    """drops the token that crosses top_p (the rule `cumsum <= top_p`)"""
    return ranked_and_kept(probs, lambda ranked, total: total <= top_p)


def wrong_slack(probs: Tensor, top_p: float) -> Tensor:
    """leaves room for rounding, so a token just below top_p goes that should stay (`<` takes no slack)"""
    return ranked_and_kept(probs, lambda ranked, total: total - ranked < top_p - 1e-3)


def wrong_one_more_at_boundary(probs: Tensor, top_p: float) -> Tensor:
    """keeps one token too many when the mass is exactly top_p (`<=` where `<` is meant)"""
    return ranked_and_kept(probs, lambda ranked, total: total - ranked <= top_p)


def wrong_nudged(probs: Tensor, top_p: float) -> Tensor:
    """breaks ties by taking a little from higher ids, and that decides between tokens that are not tied too"""
    left = keep_top_p(probs - 1e-6 * torch.arange(probs.shape[-1]), top_p).gt(0) * probs
    return left / left.sum(dim=-1, keepdim=True)


def wrong_not_renormalised(probs: Tensor, top_p: float) -> Tensor:
    """does not divide by the sum of what stays"""
    return keep_top_p(probs, top_p).gt(0) * probs


def wrong_stays_sorted(probs: Tensor, top_p: float) -> Tensor:
    """leaves the tokens in sorted order instead of putting them back"""
    return keep_top_p(probs, top_p).sort(dim=-1, descending=True).values


def wrong_gathers(probs: Tensor, top_p: float) -> Tensor:
    """goes back with gather, which sorts a second time; scatter undoes the sort"""
    ranked, order = keep_top_p(probs, top_p).sort(dim=-1, descending=True, stable=True)
    return ranked.gather(-1, order)


def wrong_softmax_again(probs: Tensor, top_p: float) -> Tensor:
    """takes a softmax of probabilities, which belongs to logits; here dividing by the sum is enough"""
    return probs.masked_fill(keep_top_p(probs, top_p) == 0, -torch.inf).softmax(dim=-1)


def wrong_zeros_in_softmax(probs: Tensor, top_p: float) -> Tensor:
    """fills with 0 and takes a softmax, in which 0 is a number like any other: dropped tokens come back"""
    return probs.masked_fill(keep_top_p(probs, top_p) == 0, 0.0).softmax(dim=-1)


def wrong_takes_no_logarithm(probs: Tensor, top_p: float) -> Tensor:
    """hands probabilities to filter_logits or a softmax where their logarithms belong"""
    return filter_logits(probs, top_p=top_p).softmax(dim=-1)


def wrong_down_the_batch(probs: Tensor, top_p: float) -> Tensor:
    """sorts and sums down the batch (dim=0), not along each row (dim=-1)"""
    ranked, order = probs.sort(dim=0, descending=True, stable=True)
    kept = ranked * (ranked.cumsum(dim=0) - ranked < top_p)
    return torch.zeros_like(probs).scatter(0, order, kept / kept.sum(dim=0, keepdim=True))


def wrong_threshold_ties(probs: Tensor, top_p: float) -> Tensor:
    """keeps every token as likely as the last kept one, instead of the lower ids only"""
    kept = keep_top_p(probs, top_p) > 0
    least = probs.masked_fill(~kept, 2).amin(dim=-1, keepdim=True)
    left = probs * (probs >= least)
    return left / left.sum(dim=-1, keepdim=True)


def wrong_single_probability(probs: Tensor, top_p: float) -> Tensor:
    """compares single probabilities with top_p, not their running sum"""
    return ranked_and_kept(probs, lambda ranked, total: ranked >= top_p)


def wrong_id_order(probs: Tensor, top_p: float) -> Tensor:
    """takes the running sum in the order of the ids, without sorting"""
    left = probs * (probs.cumsum(dim=-1) - probs < top_p)
    return left / left.sum(dim=-1, keepdim=True)


def wrong_keeps_the_tail(probs: Tensor, top_p: float) -> Tensor:
    """sorts upwards, so it keeps the unlikeliest tokens"""
    ranked, order = probs.sort(dim=-1, stable=True)
    left = torch.zeros_like(probs).scatter(-1, order, ranked * (ranked.cumsum(dim=-1) - ranked < top_p))
    return left / left.sum(dim=-1, keepdim=True)


def wrong_first_row_for_all(probs: Tensor, top_p: float) -> Tensor:
    """uses the nucleus of the first row for every row"""
    left = probs * (keep_top_p(probs[:1], top_p) > 0)
    return left / left.sum(dim=-1, keepdim=True)


def wrong_ignores_top_p(probs: Tensor, top_p: float) -> Tensor:
    """ignores top_p: nothing is dropped"""
    return probs / probs.sum(dim=-1, keepdim=True)


@fails("changed input")
def wrong_writes_to_probs(probs: Tensor, top_p: float) -> Tensor:
    """writes zeros into the caller's probabilities"""
    right = keep_top_p(probs, top_p)
    probs[right == 0] = 0
    return right


def right_loop(probs: Tensor, top_p: float) -> Tensor:
    result = torch.zeros_like(probs)
    for row, out in zip(probs, result):
        mass = 0.0
        for token in sorted(range(len(row)), key=lambda i: (-row[i].item(), i)):
            if mass < top_p:
                out[token] = row[token]
            mass += row[token].item()
        out /= out.sum()
    return result


def right_shifted_sum(probs: Tensor, top_p: float) -> Tensor:
    ranked, order = probs.sort(dim=-1, descending=True, stable=True)
    before = torch.cat([torch.zeros_like(ranked[:, :1]), ranked.cumsum(dim=-1)[:, :-1]], dim=-1)
    kept = (before < top_p).gather(-1, order.argsort(dim=-1))
    left = probs.masked_fill(~kept, 0)
    return left / left.sum(dim=-1, keepdim=True)


def right_library(probs: Tensor, top_p: float) -> Tensor:
    return filter_logits(probs.log(), top_p=top_p).softmax(dim=-1)
