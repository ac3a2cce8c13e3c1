"""Causal, and the key is text, or it is the position itself.

Padding is forbidden as a key, for that is how it would get into the text; as a query it may do what it likes, since
nobody reads what it finds. It only must not be empty: its NaN would be multiplied by weights of 0 in the next layer,
and 0 times NaN is NaN.
"""

import torch
from torch import Tensor

from llm_gen.attention import build_mask
from solutions.vocabulary import Check, Mask, fails


def padded_causal_mask(mask: Tensor) -> Tensor:
    """True where a position may look: mask (B, T) of 0 and 1, padding on the left -> bool (B, T, T)."""
    positions = torch.arange(mask.shape[1])
    query, key = positions[:, None], positions[None, :]
    text = mask.bool()[:, None, :]
    return (key <= query) & text | (key == query)


check_tables = Check(
    padded_causal_mask,
    mask=Mask("B", "T"),
    examples=[
        (torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]]),),
        (torch.tensor([[0, 1]]),),
        (torch.tensor([[0] * 3 + [1] * 9]),),
    ],
    valid=lambda mask: bool(mask.any(dim=1).all()),
)
not_checked = "speed, sliding windows"
equivalent = {
    "return (key <= query) & text | (key == query) -> return (key < query) & text | (key == query)": (
        "a position sees itself either way"
    ),
}


def triangle(mask: Tensor) -> Tensor:
    """The causal table alone, once for each row of the batch: (B, T, T)."""
    length = mask.shape[1]
    return torch.ones(len(mask), length, length, dtype=torch.bool).tril()


def itself(mask: Tensor) -> Tensor:
    return torch.eye(mask.shape[1], dtype=torch.bool)


def wrong_empty_rows(mask: Tensor) -> Tensor:
    """lets padding see nothing at all, so that its softmax is NaN"""
    return triangle(mask) & mask.bool()[:, None, :]


def wrong_ignores_padding(mask: Tensor) -> Tensor:
    """forbids only to look ahead, and reads padding as text"""
    return triangle(mask)


def wrong_looks_ahead(mask: Tensor) -> Tensor:
    """forbids padding, but lets each position look ahead"""
    return mask.bool()[:, None, :] & mask.bool()[:, :, None] | itself(mask)


def wrong_masks_queries(mask: Tensor) -> Tensor:
    """forbids padding to look, instead of forbidding to look at padding"""
    return triangle(mask) & mask.bool()[:, :, None] | itself(mask)


def wrong_upside_down(mask: Tensor) -> Tensor:
    """swaps the one that looks and the one that is looked at"""
    return padded_causal_mask(mask).mT.clone()


def wrong_not_itself(mask: Tensor) -> Tensor:
    """lets text look at what comes before it, but not at itself"""
    return triangle(mask).tril(-1) & mask.bool()[:, None, :]


def wrong_padding_sees_all(mask: Tensor) -> Tensor:
    """lets padding look at everything before it, other padding included"""
    return triangle(mask) & (mask.bool()[:, None, :] | ~mask.bool()[:, :, None])


def wrong_first_row_for_all(mask: Tensor) -> Tensor:
    """uses the padding of the first row for every row"""
    return padded_causal_mask(mask[:1].expand(mask.shape))


def wrong_inverted(mask: Tensor) -> Tensor:
    """says True where looking is forbidden"""
    return ~padded_causal_mask(mask)


@fails("dtype")
def wrong_numbers(mask: Tensor) -> Tensor:
    """gives 0 and 1 instead of False and True"""
    return padded_causal_mask(mask).long()


@fails("shape")
def wrong_one_table(mask: Tensor) -> Tensor:
    """gives one table for the whole batch, without its first axis"""
    return padded_causal_mask(mask)[0]


def right_loop(mask: Tensor) -> Tensor:
    table = torch.zeros(*mask.shape, mask.shape[1], dtype=torch.bool)
    for row, real in enumerate(mask.tolist()):
        for i in range(len(real)):
            for j in range(i + 1):
                table[row, i, j] = real[j] == 1 or i == j
    return table


def right_triangle(mask: Tensor) -> Tensor:
    return (mask[:, None, :] * triangle(mask) + itself(mask)) > 0


def right_library(mask: Tensor) -> Tensor:
    columns = torch.arange(mask.shape[1])
    return build_mask(columns, columns, (mask == 0).sum(dim=1), None)[:, 0]
