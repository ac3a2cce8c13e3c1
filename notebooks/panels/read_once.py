"""A model that a panel may ask again and again: each text is read once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class ReadOnce:
    """The logits of a model, remembered for every beginning of every text that it has read; it keeps no cache."""

    def __init__(self, model: Any) -> None:
        self.model, self.vocab_size, self.max_seq_len = model, model.vocab_size, model.max_seq_len
        self.known: dict[tuple[int, ...], Tensor] = {}

    def make_cache(self, batch_size: int) -> None:
        return None

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        texts = [tuple(row) for row in ids.tolist()]
        self._read(sorted({text for text in texts if text not in self.known}))
        rows = [[self.known[text[:end]] for end in range(1, len(text) + 1)] for text in texts]
        return torch.stack([torch.stack(row) for row in rows])

    def _read(self, texts: list[tuple[int, ...]]) -> None:
        if not texts:
            return
        with torch.no_grad():
            for text, logits in zip(texts, self.model(torch.tensor(texts))):
                for end, row in enumerate(logits, start=1):
                    self.known.setdefault(text[:end], row)
