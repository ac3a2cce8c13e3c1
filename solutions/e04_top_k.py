"""The rank decides, not the value: a comparison with the k-th largest logit keeps all that are tied with it.

A stable sort puts equal tokens in the order of their ids, so its first k places are exactly k tokens, and the
lower id wins as in argmax. Slicing with `[:, :top_k]` is harmless when top_k is larger than V; `topk` would
raise.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Check, Logits, OneOf, fails


def keep_top_k(logits: Tensor, top_k: int) -> Tensor:
    """Logits (B, V) with all but the `top_k` largest of each row at -inf; ties go to the lower id. top_k >= 1."""
    order = logits.argsort(dim=-1, descending=True, stable=True)
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order[:, :top_k], True)
    return logits.masked_fill(~kept, -torch.inf)


check_rows = Check(
    keep_top_k,
    logits=Logits("B", "V"),
    top_k=OneOf(1, 2, 3, lambda sizes: sizes["V"], lambda sizes: sizes["V"] + 3, 50),
    examples=[
        (torch.tensor([[2.0, 1.0, 3.0, 0.0]]), 2),
        (torch.tensor([[1.0, 3.0, 2.0, 2.0, 2.0]]), 3),
        (torch.tensor([[1.0, 1.0], [0.0, 5.0]]), 1),
        (torch.tensor([[1.0, 1.0 + 2**-23, 0.0, 2.0]]), 2),  # nearly a tie is none
        (torch.arange(80.0)[None].roll(37), 60),
        (torch.tensor([[1.0, 1.0 + 2**-40, 0.0]], dtype=torch.float64), 1),
        (torch.arange(200.0)[None].roll(37), 150),
        (torch.ones(1, 20), 2),
        (torch.ones(1, 1000), 2),
    ],
)
not_checked = "speed, half precision"


def at_least(logits: Tensor, threshold: Tensor) -> Tensor:
    return logits.masked_fill(logits < threshold, -torch.inf)


def wrong_threshold(logits: Tensor, top_k: int) -> Tensor:
    """keeps every token tied with the k-th, so more than k may stay"""
    kth = logits.sort(dim=-1, descending=True).values[:, min(top_k, logits.shape[-1]) - 1]
    return at_least(logits, kth[:, None])


def wrong_higher_id(logits: Tensor, top_k: int) -> Tensor:
    """lets the higher id win a tie"""
    return keep_top_k(logits.flip(-1), top_k).flip(-1)


def wrong_unstable(logits: Tensor, top_k: int) -> Tensor:
    """sorts without stable=True, which mixes up equal tokens in a row of more than 16"""
    order = logits.argsort(dim=-1, descending=True)
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order[:, :top_k], True)
    return logits.masked_fill(~kept, -torch.inf)


def wrong_nudged(logits: Tensor, top_k: int) -> Tensor:
    """breaks ties by taking a little from higher ids, and that decides between tokens that are not tied too"""
    kept = keep_top_k(logits - 1e-4 * torch.arange(logits.shape[-1]), top_k).isfinite()
    return logits.masked_fill(~kept, -torch.inf)


def wrong_capped(logits: Tensor, top_k: int) -> Tensor:
    """never keeps more than 50 tokens"""
    return keep_top_k(logits, min(top_k, 50))


@fails("error")
def wrong_large_k(logits: Tensor, top_k: int) -> Tensor:
    """fails when top_k is larger than the vocabulary"""
    logits.topk(top_k, dim=-1)
    return keep_top_k(logits, top_k)


def wrong_smallest(logits: Tensor, top_k: int) -> Tensor:
    """keeps the smallest logits"""
    kept = keep_top_k(-logits, top_k).isfinite()
    return logits.masked_fill(~kept, -torch.inf)


def wrong_very_low(logits: Tensor, top_k: int) -> Tensor:
    """sets dropped logits to a very low number instead of -inf, and a high temperature lifts it again"""
    kept = keep_top_k(logits, top_k)
    return torch.where(kept == logits, kept, -1e9)


def wrong_zero(logits: Tensor, top_k: int) -> Tensor:
    """sets dropped logits to 0, which is a good score and not an impossible one"""
    kept = keep_top_k(logits, top_k)
    return torch.where(kept == logits, kept, 0.0)


def wrong_stays_sorted(logits: Tensor, top_k: int) -> Tensor:
    """leaves the logits in sorted order instead of putting them back"""
    return keep_top_k(logits, top_k).sort(dim=-1, descending=True).values


def wrong_one_more(logits: Tensor, top_k: int) -> Tensor:
    """keeps k + 1 tokens"""
    return keep_top_k(logits, top_k + 1)


def wrong_one_less(logits: Tensor, top_k: int) -> Tensor:
    """keeps k - 1 tokens"""
    return keep_top_k(logits, top_k - 1)


def wrong_whole_batch(logits: Tensor, top_k: int) -> Tensor:
    """keeps the k largest of the whole batch instead of each row"""
    return keep_top_k(logits.reshape(1, -1), top_k).reshape(logits.shape)


def wrong_first_row(logits: Tensor, top_k: int) -> Tensor:
    """keeps in every row the tokens of the first row"""
    kept = torch.zeros_like(logits, dtype=torch.bool)
    kept[:, logits[0].argsort(descending=True, stable=True)[:top_k]] = True
    return logits.masked_fill(~kept, -torch.inf)


@fails("shape")
def wrong_only_the_kept(logits: Tensor, top_k: int) -> Tensor:
    """gives the k values themselves and forgets where they stood"""
    return logits.sort(dim=-1, descending=True).values[:, :top_k]


@fails("changed input")
def wrong_in_place(logits: Tensor, top_k: int) -> Tensor:
    """writes -inf into the caller's logits"""
    logits.copy_(keep_top_k(logits, top_k))
    return logits


def right_loop(logits: Tensor, top_k: int) -> Tensor:
    result = torch.full_like(logits, -torch.inf)
    for row, out in zip(logits, result):
        for token in sorted(range(len(row)), key=lambda i: (-row[i].item(), i))[:top_k]:
            out[token] = row[token]
    return result


def right_threshold_and_ties(logits: Tensor, top_k: int) -> Tensor:
    k = min(top_k, logits.shape[-1])
    kth = logits.topk(k, dim=-1).values[:, -1:]
    above, tied = logits > kth, logits == kth
    kept = above | (tied & (tied.cumsum(dim=-1) <= k - above.sum(dim=-1, keepdim=True)))
    return torch.where(kept, logits, -torch.inf)


def right_library(logits: Tensor, top_k: int) -> Tensor:
    return filter_logits(logits, top_k=top_k)
