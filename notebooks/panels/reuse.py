"""A text written with a cache beside the same text without one: the numbers behind `caching`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llm_gen.tokenizer import Tokenizer
from notebooks.panels.words import visible

STALE = 1e-3  # Rounding is a thousand times smaller, what another token changes a thousand times larger.


@dataclass(frozen=True)
class Reuse:
    """One text, written greedily with a cache, and what a model without a cache says at each step.

    labels: the P + N - 1 tokens that are fed. cached, fresh: logits (N, V) of each step; chosen: the likeliest token
    of each step, by the one and by the other. stale: (L, P + N - 1), kept entries that a fresh computation would not
    give.
    """

    labels: Sequence[str]
    chosen: Sequence[tuple[str, str]]
    prompt_len: int
    cached: Tensor
    fresh: Tensor
    stale: Tensor

    @property
    def layers(self) -> int:
        return len(self.stale)

    def fed(self, step: int, use_cache: bool) -> int:
        """Tokens read in a step, counted from 1."""
        return 1 if use_cache and step > 1 else self.prompt_len + step - 1

    def fed_so_far(self, step: int, use_cache: bool) -> int:
        return sum(self.fed(each, use_cache) for each in range(1, step + 1))

    def kept(self, step: int) -> int:
        """Positions that a step finds in the cache."""
        return 0 if step == 1 else self.prompt_len + step - 2

    def stale_kept(self, step: int) -> int:
        """How many of the entries, layers times positions, that a step reuses are no longer right."""
        return int(self.stale[:, : self.kept(step)].sum())

    def difference(self, step: int) -> float:
        """The largest difference between the two rows of logits."""
        return float((self.cached[step - 1] - self.fresh[step - 1]).abs().max())


@torch.no_grad()
def reuse(model: Any, tokenizer: Tokenizer, prompt: str, steps: int, edited: str | None = None) -> Reuse:
    """Write `steps` tokens after the prompt with a cache; the twin without one reads `edited` in its place.

    ValueError if the two prompts have different numbers of tokens, or prompt and steps do not fit the context.
    """
    ids = torch.tensor([tokenizer.encode(prompt)])
    other = ids if edited is None else torch.tensor([tokenizer.encode(edited)])
    if other.shape != ids.shape:
        raise ValueError(f"edited must have the {ids.shape[1]} tokens of the prompt, got {other.shape[1]}")
    cache, cached, new = model.make_cache(1), [], ids
    for _step in range(steps):
        cached.append(model(new, cache=cache)[0, -1])
        new = cached[-1].argmax()[None, None]
        ids = torch.cat([ids, new], dim=1)
    ids, length = ids[:, :-1], other.shape[1]
    other = torch.cat([other, ids[:, length:]], dim=1)
    fresh = [model(other[:, :end])[0, -1] for end in range(length, length + steps)]
    best = [labels_of(tokenizer, torch.stack(rows).argmax(-1)) for rows in (cached, fresh)]
    labels, stale = labels_of(tokenizer, ids[0]), _stale(model, cache, other)
    return Reuse(labels, list(zip(*best)), length, torch.stack(cached), torch.stack(fresh), stale)


def labels_of(tokenizer: Tokenizer, ids: Tensor) -> list[str]:
    """The texts of the tokens of ids (S,), spaces made visible."""
    spelled = [(token, tokenizer.token_bytes(token)) for token in ids.tolist()]
    return [visible(text) if text else tokenizer.decode([token], show_control=True) for token, text in spelled]


def _stale(model: Any, kept: Any, ids: Tensor) -> Tensor:
    """Where the keys or values of a cache are not those of a fresh reading of ids (1, S): (L, S)."""
    fresh, length = model.make_cache(1), ids.shape[1]
    model(ids, cache=fresh)
    pairs = ((kept.keys, fresh.keys), (kept.values, fresh.values))
    gaps = [(one - other)[:, 0, :, :length].abs().amax(dim=(1, 3)) for one, other in pairs]
    return torch.maximum(*gaps) > STALE
