"""The order is part of the definition: each filter looks at what the one before it left, renormalised.

The temperature comes first, because top-p looks at masses, and they change with it. Top-k looks at ranks
only, so it does not care about the temperature; but top-p cares about top-k, because renormalising raises
every mass.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Check, Logits, OneOf


def next_token_probs(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """Distribution (B, V) after temperature, top-k and top-p, from logits (B, V); 0 for dropped tokens."""
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    probs = torch.softmax(ranked / temperature, dim=-1)
    if top_k is not None:
        probs[:, top_k:] = 0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p is not None:
        mass_before = probs.cumsum(dim=-1) - probs
        probs = torch.where(mass_before < top_p, probs, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, order, probs)


def off_the_borders(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> bool:
    """Whether no mass lies so near top_p that rounding decides."""
    if top_p is None:
        return True
    kept = next_token_probs(logits.double(), temperature, top_k, None)
    mass = kept.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    return bool(((mass - top_p).abs() > 1e-4).all()) or top_p == 1


check_distribution = Check(
    next_token_probs,
    logits=Logits("B", "V"),
    temperature=OneOf(1.0, 0.5, 2.0),
    top_k=OneOf(None, 2, 1, 3, lambda sizes: sizes["V"] + 2),
    top_p=OneOf(None, 0.5, 0.7, 0.9, 1.0, 0.95, 0.3),
    examples=[
        (torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log(), 0.5, None, 0.6),
        (torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log(), 1.0, 2, 0.5),
        (torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log(), 1.0, None, 0.7),
        (torch.tensor([[1.0, 1.0], [3.0, 3.0]]), 1.0, None, 0.5),  # an exact hit: one token is enough
        (torch.tensor([[1.0, 1.00002, 0.0, 2.0]]), 1.0, 2, None),  # nearly a tie is none
        (torch.arange(80.0)[None].roll(37) / 20, 1.0, 60, None),
        (torch.zeros(1, 64), 1.0, None, 0.9),
        (torch.tensor([[0.5, 0.3, 0.19, 0.01]]).log(), 1.0, None, 0.98),
        (torch.tensor([[1.0, 2.0]]), 0.05, None, None),
        (torch.tensor([[1.0, 2.0]]), 10.0, None, None),
        (torch.zeros(1, 64), 1.0, None, 0.05),
        (torch.arange(200.0)[None] / 50, 1.0, 150, None),
        (torch.zeros(1, 20), 1.0, 2, None),
        (torch.zeros(1, 1000), 1.0, 2, None),
    ],
    valid=off_the_borders,
    tolerance=1e-4,
)
not_checked = "speed, bad arguments"


def wrong_nudged(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """breaks ties by taking a little from higher ids, and that decides between tokens that are not tied too"""
    return next_token_probs(logits - 1e-4 * torch.arange(logits.shape[-1]), temperature, top_k, top_p)


def wrong_capped(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """never keeps more than 50 tokens"""
    return next_token_probs(logits, temperature, None if top_k is None else min(top_k, 50), top_p)


def wrong_top_p_first(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """applies top-p before top-k, or does not renormalise between them"""
    nucleus = next_token_probs(logits, temperature, None, top_p)
    return next_token_probs(nucleus.log(), 1.0, top_k, None)


def wrong_temperature_last(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """applies the temperature after the filters"""
    return next_token_probs(next_token_probs(logits, 1.0, top_k, top_p).log(), temperature, None, None)


def wrong_not_renormalised_at_end(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """does not renormalise at the end"""
    kept = next_token_probs(logits, temperature, top_k, top_p) > 0
    return torch.softmax(logits / temperature, dim=-1) * kept


def wrong_zeros_in_softmax(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """drops with the logit 0 instead of -inf, so dropped tokens come back"""
    dropped = next_token_probs(logits, temperature, top_k, top_p) == 0
    return (logits / temperature).masked_fill(dropped, 0.0).softmax(dim=-1)


def wrong_stays_sorted(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """leaves the tokens in sorted order instead of putting them back"""
    return next_token_probs(logits, temperature, top_k, top_p).sort(dim=-1, descending=True).values


def wrong_ignores_temperature(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """ignores the temperature"""
    return next_token_probs(logits, 1.0, top_k, top_p)


def wrong_ignores_top_k(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """ignores top_k"""
    return next_token_probs(logits, temperature, None, top_p)


def wrong_ignores_top_p(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """ignores top_p"""
    return next_token_probs(logits, temperature, top_k, None)


def wrong_drops_crossing(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """drops the token that crosses top_p"""
    probs = next_token_probs(logits, temperature, top_k, None)
    if top_p is None:
        return probs
    ranked, order = probs.sort(dim=-1, descending=True, stable=True)
    kept = ranked.cumsum(dim=-1) <= top_p
    kept[:, 0] = True
    left = torch.zeros_like(probs).scatter(-1, order, ranked * kept)
    return left / left.sum(dim=-1, keepdim=True)


def wrong_threshold_ties(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """keeps every token tied with the k-th"""
    if top_k is not None:
        kth = logits.sort(dim=-1, descending=True).values[:, min(top_k, logits.shape[-1]) - 1]
        logits = logits.masked_fill(logits < kth[:, None], -torch.inf)
    return next_token_probs(logits, temperature, None, top_p)


def wrong_gives_logits(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """gives logits instead of probabilities"""
    probs = next_token_probs(logits, temperature, top_k, top_p)
    return torch.where(probs > 0, logits / temperature, -torch.inf)


def wrong_one_too_many(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """keeps one token more than top_k"""
    return next_token_probs(logits, temperature, None if top_k is None else top_k + 1, top_p)


def wrong_all_or_nothing(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """uses top_p only when top_k is None"""
    return next_token_probs(logits, temperature, top_k, top_p if top_k is None else None)


def right_loop(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    result = torch.zeros_like(logits)
    for row, out in zip(logits, result):
        ranked = sorted(range(len(row)), key=lambda i: (-row[i].item(), i))[:top_k]
        weights = torch.softmax(row[ranked] / temperature, dim=0)
        mass = 0.0
        for token, weight in zip(ranked, weights.tolist()):
            if top_p is None or mass < top_p:
                out[token] = weight
            mass += weight
        out /= out.sum()
    return result


def right_logits_all_the_way(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    scaled = logits / temperature
    rank = scaled.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    if top_k is not None:
        scaled = scaled.masked_fill(rank >= top_k, -torch.inf)
    probs = torch.softmax(scaled, dim=-1)
    if top_p is not None:
        earlier = rank[:, None, :] < rank[:, :, None]
        mass_before = (probs[:, None, :] * earlier).sum(dim=-1)
        probs = torch.softmax(scaled.masked_fill(mass_before >= top_p, -torch.inf), dim=-1)
    return probs


def right_library(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    return filter_logits(logits, temperature, top_k, top_p).softmax(dim=-1)
