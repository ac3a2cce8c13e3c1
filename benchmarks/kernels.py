"""Top-p and top-k alone, beside transformers' warpers and beside the literal rule (sort everything)."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks.measure import Effort, Row, compare
from benchmarks.peers import TOP_P
from llm_gen import filter_logits
from llm_gen.nucleus import nucleus_by_sorting

VOCABULARIES = (50_257, 128_256, 256_000)
SHAPES = {"peaked": 4.0, "flat": 1.0}  # deviation of the logits: a nucleus of hundreds, or of half the vocabulary


def sampling(effort: Effort) -> Iterator[Row]:
    """Milliseconds to filter logits (B, V)."""
    from transformers import TopKLogitsWarper, TopPLogitsWarper

    top_p, top_k = TopPLogitsWarper(TOP_P), TopKLogitsWarper(50)
    for size in VOCABULARIES:
        for batch in (1,) if effort.quick else (1, 8):
            for shape, deviation in SHAPES.items():
                logits = deviation * torch.randn(batch, size, generator=torch.Generator().manual_seed(size))
                sides = {
                    "ours": lambda logits=logits: filter_logits(logits, top_p=TOP_P),
                    "transformers": lambda logits=logits: top_p(None, logits),
                    "literal rule": lambda logits=logits: literal(logits),
                }
                goals = {"literal rule": 1.0} | ({"transformers": 8.0} if shape == "peaked" else {})
                what = f"top-p, {size:,} tokens, batch {batch}, {shape}"
                yield from compare("sampling", what, sides, effort.turns, goals=goals)
        sides = {
            "ours": lambda logits=logits: filter_logits(logits, top_k=50),
            "transformers": lambda logits=logits: top_k(None, logits),
        }
        yield from compare("sampling", f"top-k, {size:,} tokens, batch {batch}", sides, effort.turns)


def literal(logits: torch.Tensor) -> torch.Tensor:
    return torch.where(nucleus_by_sorting(logits, TOP_P, 1.0), logits, -torch.inf)
