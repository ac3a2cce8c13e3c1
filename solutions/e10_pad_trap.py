"""The mask is made from the lengths, in the moment in which they are known.

`ids != pad` works until pad is a token that prompts may hold, and then it hides text from the model. Looking for the
first id that is not pad is better, and still wrong for a prompt that begins with the end, as those of GPT-2 often do.
From the ids alone the mask cannot be found again.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Check, ListOf, Whole, fails


def pad_left(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """The prompts (at least one, none empty) as ids (B, T) and mask (B, T), int64, padded on the left."""
    width = max(len(prompt) for prompt in prompts)
    ids = torch.full((len(prompts), width), pad)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        mask[row, width - len(prompt) :] = 1
    return ids, mask


check_batches = Check(
    pad_left,
    prompts=ListOf(ListOf(Whole(0, 4), least=1, most=5), least=1, most=4),
    pad=Whole(0, 4),
    examples=[
        ([[3, 2, 4], [1]], 0),
        ([[3, 4, 2, 4], [1, 4]], 4),
        ([[4, 3], [4], [2, 1, 3]], 4),
        ([[50256, 300, 9], [1] * 7], 0),
        ([[1] * 600], 0),
    ],
)


def wrong_mask_by_id(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """takes every id that equals pad for padding, and hides ends that belong to a prompt"""
    ids, _mask = pad_left(prompts, pad)
    return ids, (ids != pad).long()


def wrong_first_other_id(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """lets the text begin with the first id that is not pad, although a prompt may begin with the end"""
    ids, _mask = pad_left(prompts, pad)
    return ids, ((ids != pad).cumsum(dim=1) > 0).long()


def wrong_right(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """pads on the right"""
    width = max(map(len, prompts))
    ids = torch.tensor([prompt + [pad] * (width - len(prompt)) for prompt in prompts])
    return ids, torch.tensor([[1] * len(prompt) + [0] * (width - len(prompt)) for prompt in prompts])


def wrong_drops_the_ends(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """takes the ends out of the prompts before it pads"""
    ids, mask = pad_left(prompts, pad)
    kept = [[token for token in prompt if token != pad] for prompt in prompts]
    for row, prompt in enumerate(kept):
        ids[row] = torch.tensor([pad] * (ids.shape[1] - len(prompt)) + prompt)
        mask[row] = (torch.arange(ids.shape[1]) >= ids.shape[1] - len(prompt)).long()
    return ids, mask


def wrong_inverted(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """marks the padding with 1 and the text with 0"""
    ids, mask = pad_left(prompts, pad)
    return ids, 1 - mask


def wrong_all_text(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """gives a mask of ones"""
    ids, mask = pad_left(prompts, pad)
    return ids, torch.ones_like(mask)


def wrong_fills_with_zero(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """fills with 0 instead of pad"""
    ids, mask = pad_left(prompts, pad)
    return ids * mask, mask


@fails("shape")
def wrong_cuts(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """cuts every prompt to the length of the shortest one"""
    width = min(map(len, prompts))
    return pad_left([prompt[-width:] for prompt in prompts], pad)


@fails("shape")
def wrong_one_wider(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """always puts a pad in front, even of the longest prompt"""
    ids, mask = pad_left([*prompts, [pad] * (max(map(len, prompts)) + 1)], pad)
    return ids[:-1], mask[:-1]


@fails("dtype")
def wrong_bool(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """gives the mask as True and False"""
    ids, mask = pad_left(prompts, pad)
    return ids, mask.bool()


@fails("changed input")
def wrong_in_place(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """lengthens the caller's lists"""
    right = pad_left(prompts, pad)
    for prompt in prompts:
        prompt[:0] = [pad] * (right[0].shape[1] - len(prompt))
    return right


def right_lists(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    width = max(map(len, prompts))
    ids = [[pad] * (width - len(prompt)) + prompt for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return torch.tensor(ids), torch.tensor(mask)


def right_flipped(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    backwards = [torch.tensor(prompt[::-1]) for prompt in prompts]
    ids = torch.nn.utils.rnn.pad_sequence(backwards, batch_first=True, padding_value=pad)
    lengths = torch.tensor([[len(prompt)] for prompt in prompts])
    mask = torch.arange(ids.shape[1]) < lengths
    return ids.flip(1), mask.long().flip(1)
