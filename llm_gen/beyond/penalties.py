"""Processors: what the text so far makes less likely, impossible or certain.

Each takes ids (B, S), with -1 for padding, and logits (B, V), and gives new logits. `skip` leaves out the first
columns of ids: the prompt's width, so that only new text counts. Wrong numbers raise ValueError or TypeError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from llm_gen.checks import check_integer, check_mapping, check_real, check_token_id, check_token_ids


def repetition_penalty(ids: Tensor, logits: Tensor, penalty: float, skip: int = 0) -> Tensor:
    """Tokens already written: positive logits divided by `penalty` > 0, negative ones multiplied (arXiv:1909.05858)."""
    penalty = check_real("penalty", penalty)
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty:g}")
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(count_tokens(ids, logits, skip) > 0, penalised, logits)


def frequency_penalty(ids: Tensor, logits: Tensor, penalty: float, skip: int = 0) -> Tensor:
    """`penalty` subtracted once for each time that the token was written; any real number, negative ones reward."""
    return logits - check_real("penalty", penalty) * count_tokens(ids, logits, skip)


def presence_penalty(ids: Tensor, logits: Tensor, penalty: float, skip: int = 0) -> Tensor:
    """`penalty` subtracted once from every token already written; any real number, negative ones reward."""
    return logits - check_real("penalty", penalty) * count_tokens(ids, logits, skip).clamp(max=1)


def no_repeat_ngram(ids: Tensor, logits: Tensor, size: int, skip: int = 0) -> Tensor:
    """No run of `size` >= 1 tokens comes twice in a row's text (arXiv:1705.04304)."""
    size = check_integer("size", size, minimum=1)
    ids = ids[:, check_integer("skip", skip, minimum=0) :]
    if ids.shape[1] < size:
        return logits
    runs = ids.unfold(1, size, 1)
    beginning = ids[:, ids.shape[1] - size + 1 :]
    matches = (runs[:, :, :-1] == beginning[:, None]).all(dim=-1) & (runs >= 0).all(dim=-1)
    row, run = matches.nonzero(as_tuple=True)
    logits = logits.clone()
    logits[row, runs[row, run, -1]] = -torch.inf
    return logits


def bias_logits(ids: Tensor, logits: Tensor, biases: Mapping[int, float]) -> Tensor:
    """`biases`, id -> finite number, added to the logits of those tokens."""
    logits = logits.clone()
    for token, bias in check_mapping("biases", biases).items():
        logits[:, check_token_id("biases", token, logits.shape[1])] += check_real("biases", bias)
    return logits


def ban_tokens(ids: Tensor, logits: Tensor, tokens: int | Sequence[int]) -> Tensor:
    """These tokens never."""
    logits = logits.clone()
    logits[:, check_token_ids("tokens", tokens, logits.shape[1])] = -torch.inf
    return logits


def force_tokens(ids: Tensor, logits: Tensor, tokens: Sequence[int], skip: int) -> Tensor:
    """The new text begins with `tokens`; `skip` is the prompt's width. Afterwards nothing is forced.

    A token that an earlier processor has banned cannot be forced: no token is left, which the loop refuses.
    """
    tokens = check_token_ids("tokens", tokens, logits.shape[1])
    written = ids.shape[1] - check_integer("skip", skip, minimum=0)
    if not 0 <= written < len(tokens):
        return logits
    forced = torch.full_like(logits, -torch.inf)
    forced[:, tokens[written]] = logits[:, tokens[written]]
    return forced


def minimum_length(ids: Tensor, logits: Tensor, length: int, eos: int | Sequence[int], skip: int) -> Tensor:
    """No `eos` before `length` new tokens; `skip` is the prompt's width."""
    if ids.shape[1] - check_integer("skip", skip, minimum=0) >= check_integer("length", length, minimum=0):
        return logits
    return ban_tokens(ids, logits, eos)


def count_tokens(ids: Tensor, logits: Tensor, skip: int = 0) -> Tensor:
    """How often each token stands in ids (B, S) from column `skip` on, padding (-1) left out: (B, V)."""
    written = ids[:, check_integer("skip", skip, minimum=0) :]
    counts = logits.new_zeros(logits.shape)
    return counts.scatter_add_(1, written.clamp(min=0), (written >= 0).to(logits.dtype))
