"""A token is padding if an eos stands before it in its row: count the eos before each place.

The eos itself stays, because it is part of what was written. pad may be any id, even eos, so nothing may be
learned from `token == pad`; only the count knows. The batch is as wide as its longest row.
"""

import torch
from torch import Tensor

from llm_gen import generate
from solutions.vocabulary import Check, Ids, OneOf, fails


def finish_rows(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """The finished batch: int64 (B, n) with n <= N, each row up to and with its first eos, then pad."""
    is_eos = (new_tokens == eos).long()
    ended = is_eos.cumsum(dim=1) - is_eos > 0
    width = (~ended).sum(dim=1).amax()
    return new_tokens.masked_fill(ended, pad)[:, :width]


check_batches = Check(
    finish_rows,
    new_tokens=Ids("B", "N", below=5),
    eos=OneOf(2, 0, 1),
    pad=OneOf(0, 3, 1, 2),
    sizes={"B": (1, 2, 3, 4), "N": (1, 2, 3, 4, 5, 6)},
    examples=[
        (torch.tensor([[11, 21, 5, 21, 8], [9, 16, 36, 28, 3]]), 21, 0),
        (torch.tensor([[4, 2, 4, 4], [2, 4, 2, 4]]), 2, 0),
        (torch.tensor([[4, 2, 4, 4], [4, 4, 4, 2]]), 2, 2),
        (torch.tensor([[7, 90, 2, 7, 7, 7, 7, 7], [2] * 8, [7] * 7 + [2], [3] * 6 + [2, 3], [2] + [9] * 7]), 2, 0),
    ],
)


def wrong_drops_eos(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """overwrites the eos itself with pad"""
    right = finish_rows(new_tokens, eos, pad)
    return right.masked_fill(right == eos, pad)


@fails("shape")
def wrong_never_cuts(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """keeps all columns, although every row has ended"""
    is_eos = (new_tokens == eos).long()
    return new_tokens.masked_fill(is_eos.cumsum(dim=1) - is_eos > 0, pad)


@fails("shape")
def wrong_stops_with_first_row(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """stops the whole batch when the first row ends"""
    right = finish_rows(new_tokens, eos, pad)
    ends = (right == eos).any(dim=0).nonzero()
    return right[:, : ends[0, 0] + 1] if len(ends) else right


def wrong_does_not_pad(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """lets a row write on after its eos"""
    return new_tokens[:, : finish_rows(new_tokens, eos, pad).shape[1]]


@fails("shape")
def wrong_argmax_of_nothing(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """takes argmax for the place of the eos, which is 0 for a row without one"""
    first = (new_tokens == eos).int().argmax(dim=1, keepdim=True)
    ended = torch.arange(new_tokens.shape[1]) > first
    return new_tokens.masked_fill(ended, pad)[:, : first.amax() + 1]


@fails("shape")
def wrong_last_eos(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """ends a row with its last eos instead of its first"""
    later = (new_tokens == eos).flip(1).long().cumsum(dim=1).flip(1)
    ended = (later == 0) & (new_tokens == eos).any(dim=1, keepdim=True)
    return new_tokens.masked_fill(ended, pad)[:, : (~ended).sum(dim=1).amax()]


@fails("shape")
def wrong_pad_also_ends(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """takes a written token that looks like pad for the end of the row"""
    ends = ((new_tokens == eos) | (new_tokens == pad)).long()
    ended = ends.cumsum(dim=1) - ends > 0
    return new_tokens.masked_fill(ended, pad)[:, : (~ended).sum(dim=1).amax()]


def wrong_pads_with_eos(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """fills up with eos instead of pad"""
    return finish_rows(new_tokens, eos, eos)


@fails("shape")
def wrong_cuts_one_more(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """cuts the last column too"""
    return finish_rows(new_tokens, eos, pad)[:, :-1]


@fails("changed input")
def wrong_in_place(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """writes pad into the caller's tokens"""
    right = finish_rows(new_tokens, eos, pad)
    new_tokens[:, : right.shape[1]] = right
    return right


@fails("shape")
def wrong_drops_columns_of_pad(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """drops every column that holds nothing but the id of pad, although the model may have written that id itself"""
    right = finish_rows(new_tokens, eos, pad)
    return right[:, (right != pad).any(dim=0)]


@fails("shape")
def wrong_cuts_endless_rows(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """is as wide as the longest row that has ended, and so cuts the rows that never end"""
    is_eos = (new_tokens == eos).long()
    ended = is_eos.cumsum(dim=1) - is_eos > 0
    places = is_eos.argmax(dim=1)[is_eos.any(dim=1)]
    return new_tokens.masked_fill(ended, pad)[:, : int(places.max()) + 1 if len(places) else None]


def right_step_by_step(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    finished = torch.zeros(len(new_tokens), dtype=torch.bool)
    columns = []
    for column in new_tokens.T:
        columns.append(torch.where(finished, pad, column))
        finished = finished | (column == eos)
        if finished.all():
            break
    return torch.stack(columns, dim=1)


def right_row_by_row(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    rows = [row[: row.index(eos) + 1] if eos in row else row for row in new_tokens.tolist()]
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])


class Script:
    """A model that writes the given tokens, whatever it reads."""

    def __init__(self, tokens: Tensor) -> None:
        self.tokens, self.vocab_size, self.max_seq_len = tokens, 100, 100

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        following = self.tokens[:, ids.shape[1] - 1]
        return torch.nn.functional.one_hot(following, self.vocab_size).float()[:, None]

    def make_cache(self, batch_size: int) -> None:
        return None


def right_library(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    start = torch.zeros_like(new_tokens[:, :1])
    steps = new_tokens.shape[1]
    text = generate(Script(new_tokens), start, steps, do_sample=False, eos_token_id=eos, pad_token_id=pad)
    return text[:, 1:]
