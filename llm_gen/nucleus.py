"""The tokens that top-p keeps: by the rule as it is said, and faster where the vocabulary is large.

Large vocabularies are not sorted. The mass of a row usually lies on few of its tokens, and a look at the weights
shows it: then these few are sorted. Otherwise only the narrow band in which the mass reaches `top_p` is.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from llm_gen.scaling import FLOAT32, scale_by_temperature, to_float32

SMALL_VOCABULARY = 4096  # up to here sorting is the faster way to a nucleus
FEW = 16  # a shortlist has at most one in so many tokens
BANDS, BANDS_PER_NAT = 2048, 64  # of logits below the row's largest: 32 nats, and all that lies deeper in the last


def top_p_mask(logits: Tensor, top_p: float, temperature: float = 1.0) -> Tensor:
    """The nucleus of each row as a mask (B, V): tokens with less than `top_p` of mass before them.

    Ranks by the logits (ties: lower id first), masses at the temperature. `top_p=1` keeps everything: a running
    sum may round to 1 before the tail is counted. Small vocabularies are sorted, large ones need not be.
    """
    if top_p >= 1:
        return torch.ones_like(logits, dtype=torch.bool)
    small = logits.shape[-1] <= SMALL_VOCABULARY or not len(logits)
    return (nucleus_by_sorting if small else nucleus_by_shortlists)(logits, top_p, temperature)


def nucleus_by_sorting(logits: Tensor, top_p: float, temperature: float, total: Tensor | float | None = None) -> Tensor:
    """`top_p_mask` as it is said: sort, sum, compare. Takes top_p < 1.

    total: the mass of each whole row where `logits` are only its likeliest, (B, 1) float64 or a number for one row; the
    likeliest weighs 1.
    """
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    scaled = scale_by_temperature(to_float32(ranked), temperature).double()
    mass = (scaled - scaled[:, :1]).exp_()
    total = mass.sum(dim=-1, keepdim=True) if total is None else total
    stays = is_below(mass.cumsum(dim=-1).sub_(mass).div_(total), top_p)
    return torch.empty_like(stays).scatter_(-1, order, stays)


def nucleus_by_shortlists(logits: Tensor, top_p: float, temperature: float) -> Tensor:
    """The same, where only rows with a shortlist of likely tokens are sorted, and only these tokens of them."""
    scaled = scale_by_temperature(to_float32(logits), temperature)
    stays = torch.zeros_like(logits, dtype=torch.bool)
    room = torch.empty_like(scaled[0], dtype=torch.float64)
    rows, lists, masses = [], [], []
    for row, values in enumerate(scaled):
        if found := shortlist(values, top_p, room):
            rows.append(row)
            lists.append(found[0])
            masses.append(found[1])
        else:
            stays[row] = nucleus_by_bands(logits[row], top_p, temperature)
    if rows:
        likely = [logits[row].index_select(0, ids) for row, ids in zip(rows, lists)]
        for row, ids, kept in zip(rows, lists, nucleus_of_the_likely(likely, masses, top_p, temperature)):
            stays[row].index_copy_(0, ids, kept[: len(ids)])
    return stays


def nucleus_of_the_likely(likely: list[Tensor], masses: list[float], top_p: float, temperature: float) -> Tensor:
    """Which of the likeliest logits of each row stay, (rows, longest list). likely: one (n,) a row; masses: of the
    whole rows."""
    if len(likely) == 1:  # does not pay for the table
        return nucleus_by_sorting(likely[0][None], top_p, temperature, masses[0])
    table = pad_sequence(likely, batch_first=True, padding_value=-torch.inf)
    total = torch.tensor(masses, dtype=torch.float64, device=table.device)[:, None]
    return nucleus_by_sorting(table, top_p, temperature, total)


def shortlist(scaled: Tensor, top_p: float, room: Tensor) -> tuple[Tensor, float] | None:
    """Ascending ids of at most V / FEW tokens, none outside of which stays, and the mass of the row; or None.

    scaled: one row (V,), float32. room: (V,), float64, is written to. The likeliest token weighs 1. A token that stays
    has more than `spare` of mass in itself and the less likely. If all weights, none of them counted for more than
    `light`, are together no more than `spare`, then tokens up to `light` do not stay, and few weigh more.
    """
    total = room.copy_(scaled).sub_(scaled.amax()).exp_().sum().item()
    # From 1 - 2**-25 on, is_below takes mass for 1. The hundredth makes up for the rounding of the sums.
    spare = 0.99 * total * max(1 - top_p, 2**-25)
    light = spare / max(1, len(room) // FEW)
    excess = room.sub_(light).clamp_(min=0)
    if total - excess.sum().item() > spare:
        return None
    return excess.bool().nonzero()[:, 0], total


def nucleus_by_bands(logits: Tensor, top_p: float, temperature: float) -> Tensor:
    """The same for one row (V,) -> (V,), however flat: mass is summed in narrow bands of the logits, from the top
    down, and only the band in which it reaches `top_p` is sorted."""
    scaled = scale_by_temperature(to_float32(logits), temperature)
    highest = scaled.amax()
    weights = scaled.double().sub_(highest).exp_()
    band = (highest - scaled).mul_(BANDS_PER_NAT).clamp_(max=BANDS - 1).long()
    mass = weights.new_zeros(BANDS).scatter_add_(0, band, weights)
    before, total = mass.cumsum(dim=0) - mass, mass.sum()
    last = int(is_below(before / total, top_p).sum()) - 1
    stays, ids = band < last, (band == last).nonzero()[:, 0]
    ids = ids[logits[ids].argsort(descending=True, stable=True)]
    ranked = weights[ids]
    stays[ids] = is_below((before[last] + ranked.cumsum(dim=0) - ranked) / total, top_p)
    return stays


def is_below(mass: Tensor, top_p: float) -> Tensor:
    """`mass < top_p` for mass summed in float64, compared in float32: 0.5 + 0.3 then reaches 0.8 on every CPU and
    from every dtype. A top_p that float32 would round to 0 still exceeds no mass at all, so the likeliest stays."""
    return mass.float() < max(top_p, FLOAT32.tiny)
