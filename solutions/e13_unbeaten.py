"""Row i of each table asks whether the setting in column j is as good as i, or better.

Both conditions are needed: with "at least as good" alone every setting would beat itself, and with "better in both" a
setting would survive beside one that is equally varied and truer.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Check, Reals, fails


def unbeaten(quality: Tensor, diversity: Tensor) -> Tensor:
    """True where no other setting is better: quality (N,), diversity (N,) -> bool (N,)."""
    as_good = (quality[None, :] >= quality[:, None]) & (diversity[None, :] >= diversity[:, None])
    better = (quality[None, :] > quality[:, None]) | (diversity[None, :] > diversity[:, None])
    return ~(as_good & better).any(dim=1)


check_settings = Check(
    unbeaten,
    quality=Reals("N"),
    diversity=Reals("N"),
    sizes={"N": (1, 2, 3, 4, 5, 6, 8)},
    examples=[
        (torch.tensor([1.0, 0.75, 0.5, 0.25]), torch.tensor([0.0, 0.5, 0.25, 0.75])),
        (torch.tensor([0.5, 0.5, 0.5]), torch.tensor([0.5, 0.25, 0.5])),
        (torch.tensor([0.75, 0.5]), torch.tensor([0.5, 0.5])),
        (torch.tensor([0.5, 0.5 - 2**-20]), torch.tensor([0.5, 0.75])),
        (torch.arange(9.0).flip(0), torch.arange(9.0).flip(0)),
    ],
)
not_checked = "speed, standard errors"


def wrong_better_in_both(quality: Tensor, diversity: Tensor) -> Tensor:
    """calls a setting beaten only if another is better in both, but better in one and equal in the other is enough"""
    better = (quality[None, :] > quality[:, None]) & (diversity[None, :] > diversity[:, None])
    return ~better.any(dim=1)


def wrong_better_in_one(quality: Tensor, diversity: Tensor) -> Tensor:
    """calls a setting beaten as soon as another is better in one of the two"""
    better = (quality[None, :] > quality[:, None]) | (diversity[None, :] > diversity[:, None])
    return ~better.any(dim=1)


def wrong_beats_itself(quality: Tensor, diversity: Tensor) -> Tensor:
    """asks only for "at least as good", so that every setting beats itself"""
    return torch.zeros_like(quality, dtype=torch.bool)


def wrong_beaten(quality: Tensor, diversity: Tensor) -> Tensor:
    """gives True for the settings that are beaten"""
    return ~unbeaten(quality, diversity)


def wrong_less_is_better(quality: Tensor, diversity: Tensor) -> Tensor:
    """turns the comparison round, as if less were better"""
    return unbeaten(-quality, -diversity)


def wrong_best_sum(quality: Tensor, diversity: Tensor) -> Tensor:
    """keeps the settings with the largest sum of quality and diversity, which weighs the two against each other"""
    total = quality + diversity
    return total == total.max()


def wrong_first_of_equals(quality: Tensor, diversity: Tensor) -> Tensor:
    """lets the first of two equal settings beat the second"""
    same = (quality[None, :] == quality[:, None]) & (diversity[None, :] == diversity[:, None])
    return unbeaten(quality, diversity) & ~same.tril(-1).any(dim=1)


def wrong_ignores_diversity(quality: Tensor, diversity: Tensor) -> Tensor:
    """looks at the quality alone"""
    return quality == quality.max()


def wrong_neighbours(quality: Tensor, diversity: Tensor) -> Tensor:
    """compares each setting with its neighbours in the list only"""
    pairs = [unbeaten(quality[i : i + 2], diversity[i : i + 2]) for i in range(len(quality) - 1)]
    kept = torch.ones_like(quality, dtype=torch.bool)
    for i, pair in enumerate(pairs):
        kept[i : i + 2] &= pair
    return kept


@fails("dtype")
def wrong_numbers(quality: Tensor, diversity: Tensor) -> Tensor:
    """gives 0 and 1 instead of False and True"""
    return unbeaten(quality, diversity).long()


@fails("shape")
def wrong_places(quality: Tensor, diversity: Tensor) -> Tensor:
    """gives the places of the unbeaten settings instead of a mask"""
    return unbeaten(quality, diversity).nonzero()[:, 0] > -1


def right_loop(quality: Tensor, diversity: Tensor) -> Tensor:
    points = list(zip(quality.tolist(), diversity.tolist()))
    beaten = [any(q >= a and d >= b and (q, d) != (a, b) for q, d in points) for a, b in points]
    return ~torch.tensor(beaten)


def right_sweep(quality: Tensor, diversity: Tensor) -> Tensor:
    kept, best = torch.zeros_like(quality, dtype=torch.bool), -torch.inf
    for level in quality.unique(sorted=True).flip(0):
        same = quality == level
        top = diversity[same].max()
        kept |= same & (diversity == top) & (top > best)
        best = max(best, top)
    return kept
