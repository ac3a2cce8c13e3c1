"""What a cache would still hold after its first tokens fell out, against a fresh reading: the numbers of `windows`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from llm_gen.layers import rotary_tables, rotate

PARTS = ("values", "keys", "keys turned back")
ROUNDING = 1e-5  # Positions turn keys in float32, whatever the model counts in.


class Staleness:
    """Reads one text with one model; `gaps` compares what stays of the first reading with a reading of the rest."""

    def __init__(self, model: Any, ids: Sequence[int]) -> None:
        self.model, self.ids = model, torch.tensor([list(ids)])
        self.gaps = lru_cache(maxsize=None)(self._gaps)

    def _gaps(self, context: int, past: int, part: str) -> Tensor:
        """How far each kept entry lies from the recomputed one, (L, context), as a share of its own length.

        The text has context + past tokens, the first `past` of which have fallen out. part: one of `PARTS`; "keys
        turned back" are rotary keys moved to their new positions.
        """
        old = self._read(0, context + past, part)[:, past:]
        fresh = self._read(past, context + past, part)
        if part == "keys turned back":
            old = self._turned_back(old, past)
        gaps = (old - fresh).flatten(2).norm(dim=2) / fresh.flatten(2).norm(dim=2)
        return gaps.where(gaps > ROUNDING, 0.0)

    @torch.no_grad()
    def _read(self, start: int, end: int, part: str) -> Tensor:
        """Keys or values of a reading of these tokens at positions 0, 1, ...: (L, T, G, d)."""
        cache = self.model.make_cache(1)
        self.model(self.ids[:, start:end], cache=cache)
        kept = cache.values if part == "values" else cache.keys
        return kept[:, 0, :, : end - start].transpose(1, 2)

    def _turned_back(self, keys: Tensor, past: int) -> Tensor:
        """Rotary keys as they are `past` positions earlier; learned positions cannot be turned."""
        if self.model.config.positions != "rope":
            return keys
        cos, sin = (table[past] for table in rotary_tables(self.model.config))
        return rotate(keys, cos, -sin)
