"""The stop token is a choice of the model, so it counts; what stands after it was never chosen.

Only stops after the prompt end a row. A row without a stop counts to its end: argmax of "is stop" is 0 there
and would throw the whole answer away. And padding cannot be found by its id, because pad and stop may be the
same.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Check, Ids, OneOf, fails


def response_mask(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """True on generated tokens up to and with the first stop: sequences (B, T) -> bool (B, T)."""
    is_stop = (sequences == stop).long()
    is_stop[:, :prompt_len] = 0
    stops_before = is_stop.cumsum(dim=1) - is_stop
    generated = torch.arange(sequences.shape[1]) >= prompt_len
    return generated & (stops_before == 0)


check_rows = Check(
    response_mask,
    sequences=Ids("B", "T", below=4),
    prompt_len=OneOf(1, 2, 3),
    stop=OneOf(2, 0, 1),
    sizes={"B": (1, 2, 3, 4), "T": (2, 3, 4, 5, 6, 7)},
    examples=[
        (torch.tensor([[1, 1, 3, 2, 0], [1, 2, 3, 3, 3]]), 2, 2),
        (torch.tensor([[1, 3, 2, 2, 2], [1, 2, 2, 2, 2]]), 1, 2),
        (torch.tensor([[1, 3, 3, 3, 3, 3, 3, 3, 2, 0]] * 2 + [[1, 2, 0, 0, 0, 0, 0, 0, 0, 0]] * 3), 1, 2),
    ],
    valid=lambda sequences, prompt_len, stop: prompt_len <= sequences.shape[1],
)


def wrong_without_stop(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """leaves the stop token out, although the model chose it"""
    mask = response_mask(sequences, prompt_len, stop)
    return mask & (sequences != stop)


def wrong_stop_in_prompt(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """lets a stop token in the prompt end the row"""
    return response_mask(sequences, 0, stop) & (torch.arange(sequences.shape[1]) >= prompt_len)


def wrong_argmax(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """takes argmax for the place of the stop, which is 0 for a row without one"""
    answer = sequences[:, prompt_len:]
    first = (answer == stop).int().argmax(dim=1, keepdim=True) if answer.shape[1] else torch.zeros(1, 1)
    own = torch.arange(answer.shape[1]) <= first
    return torch.cat([torch.zeros_like(sequences[:, :prompt_len], dtype=torch.bool), own], dim=1)


def wrong_prompt_too(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """counts the prompt as the model's own"""
    prompt = torch.arange(sequences.shape[1]) < prompt_len
    return response_mask(sequences, prompt_len, stop) | prompt


def wrong_everything_after_prompt(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """counts everything after the prompt, also what comes after the stop"""
    return (torch.arange(sequences.shape[1]) >= prompt_len).expand(sequences.shape).clone()


def wrong_by_id(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """drops every stop token wherever it stands and keeps the rest"""
    return (sequences != stop) & (torch.arange(sequences.shape[1]) >= prompt_len)


def wrong_off_by_one(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """starts one token late"""
    return response_mask(sequences, prompt_len, stop) & (torch.arange(sequences.shape[1]) > prompt_len)


def wrong_last_stop(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """counts up to the last stop instead of the first"""
    is_stop = (sequences == stop) & (torch.arange(sequences.shape[1]) >= prompt_len)
    still = is_stop.flip(1).long().cumsum(dim=1).flip(1) > 0
    return (still | ~is_stop.any(dim=1, keepdim=True)) & (torch.arange(sequences.shape[1]) >= prompt_len)


@fails("dtype")
def wrong_numbers(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """gives 0 and 1 instead of False and True"""
    return response_mask(sequences, prompt_len, stop).long()


@fails("shape")
def wrong_response_only(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """leaves the prompt's columns out"""
    return response_mask(sequences, prompt_len, stop)[:, prompt_len:]


def right_loop(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    mask = torch.zeros_like(sequences, dtype=torch.bool)
    for row, out in zip(sequences.tolist(), mask):
        for place in range(prompt_len, len(row)):
            out[place] = True
            if row[place] == stop:
                break
    return mask


def right_shifted(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    ends = (sequences[:, prompt_len:] == stop).cummax(dim=1).values.bool()
    alive = torch.cat([torch.ones_like(ends[:, :1]), ~ends[:, :-1]], dim=1)[:, : ends.shape[1]]
    return torch.cat([torch.zeros(len(sequences), prompt_len, dtype=torch.bool), alive], dim=1)
