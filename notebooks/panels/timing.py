"""How long a pass takes on the reader's machine. What comes out differs from run to run, so no test compares it."""

from __future__ import annotations

import time

import torch

from llm_gen import DecoderLM
from notebooks.panels.costs import Machine

BEFORE = 8  # Tokens in the cache before the pass that is timed, as in the middle of writing.


def weight_bytes(model: torch.nn.Module) -> int:
    """Bytes of all weights and buffers."""
    return sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))


@torch.no_grad()
def seconds_per_pass(model: DecoderLM, tokens: int = 1, repeats: int = 3) -> float:
    """The shortest of several passes that feed `tokens` tokens to a cache that holds a few already.

    The shortest, because other programs can only make a pass longer.
    """
    ids, seconds = torch.zeros(1, max(tokens, BEFORE), dtype=torch.long), []
    for _repeat in range(repeats):
        cache = model.make_cache(1)
        model(ids[:, :BEFORE], cache=cache)
        start = time.perf_counter()
        model(ids[:, :tokens], cache=cache)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure_machine(model: DecoderLM, tokens: int = 256) -> Machine:
    """What this machine reads and computes in a second, from a pass of one token and one of many."""
    weights = sum(tensor.numel() for tensor in model.parameters())
    reading, computing = seconds_per_pass(model), seconds_per_pass(model, tokens)
    return Machine(weight_bytes(model) / reading, 2 * weights * tokens / computing)
