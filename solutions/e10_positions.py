"""cumsum(mask) - 1 counts the real tokens from the left, and the padding, which would get -1, is held at 0.

With arange a short row would start at a position that depends on its neighbours, and the row would not give
what it gives alone. What the padding gets does not matter to the result, as it is masked out, but it must be
a valid position.
"""

import torch
from torch import Tensor

from llm_gen import check_generation_mask
from solutions.vocabulary import Check, Mask, fails


def positions_from_mask(mask: Tensor) -> Tensor:
    """Position of each token in its own row: mask (B, T) of 0 and 1, padding on the left -> int64 (B, T)."""
    return (mask.cumsum(dim=1) - 1).clamp(min=0)


check_rows = Check(
    positions_from_mask,
    mask=Mask("B", "T"),
    examples=[
        (torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]),),
        (torch.tensor([[0, 1]]),),
        (torch.tensor([[0] * 3 + [1] * 12]),),
        (torch.tensor([[0] * 3 + [1] * 140]),),
    ],
)


def wrong_arange(mask: Tensor) -> Tensor:
    """counts the columns and does not look at the mask"""
    return torch.arange(mask.shape[1]).expand(mask.shape).clone()


def wrong_from_one(mask: Tensor) -> Tensor:
    """counts from 1"""
    return mask.cumsum(dim=1)


def wrong_padding_at_one(mask: Tensor) -> Tensor:
    """gives padding the position 1, as some libraries do; here it is 0"""
    return (mask.cumsum(dim=1) - 1).masked_fill(mask == 0, 1)


def wrong_minus_one(mask: Tensor) -> Tensor:
    """gives padding the position -1, which no table of positions has"""
    return mask.cumsum(dim=1) - 1


def wrong_down_the_batch(mask: Tensor) -> Tensor:
    """sums down the batch instead of along the row"""
    return (mask.cumsum(dim=0) - 1).clamp(min=0)


def wrong_from_the_right(mask: Tensor) -> Tensor:
    """counts from the right"""
    return ((mask.flip(1).cumsum(dim=1) - 1).clamp(min=0) * mask.flip(1)).flip(1)


def wrong_first_row(mask: Tensor) -> Tensor:
    """uses the padding of the first row for every row"""
    return positions_from_mask(mask[:1]).expand(mask.shape).clone()


def wrong_times_mask(mask: Tensor) -> Tensor:
    """multiplies the columns by the mask, so a short row starts late"""
    return torch.arange(mask.shape[1]) * mask


@fails("dtype")
def wrong_floats(mask: Tensor) -> Tensor:
    """gives floats; positions are whole numbers"""
    return positions_from_mask(mask).float()


def right_arange_minus_padding(mask: Tensor) -> Tensor:
    padding = (mask == 0).sum(dim=1, keepdim=True)
    return (torch.arange(mask.shape[1]) - padding).clamp(min=0)


def right_loop(mask: Tensor) -> Tensor:
    rows = []
    for row in mask.tolist():
        rows.append([max(0, sum(row[: i + 1]) - 1) for i in range(len(row))])
    return torch.tensor(rows)


def right_library(mask: Tensor) -> Tensor:
    padding = check_generation_mask(mask, mask)
    return (torch.arange(mask.shape[1]) - padding[:, None]).clamp(min=0)
