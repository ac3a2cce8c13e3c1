"""How long a pass takes on the reader's machine. What comes out differs from run to run, so no test compares it."""

from __future__ import annotations

import time
from functools import cache

import torch

from llm_gen import DecoderLM, LLaMA
from notebooks.panels.costs import Machine

BEFORE = 8  # Tokens in the cache before the pass that is timed, as in the middle of writing.


def random_model(num_layers: int, width: int = 768) -> DecoderLM:
    """A model of random weights in float32, about 7 million a layer: too large for a processor's own memory."""
    sizes = {"vocab_size": 1024, "embed_dim": width, "num_heads": width // 64, "max_position_embeddings": 512}
    with torch.device("meta"):  # no time goes into weights that are replaced
        model = LLaMA({**sizes, "num_layers": num_layers, "dropout": 0.0}).float()
    model = model.to_empty(device="cpu").eval()
    for weight in model.parameters():
        torch.nn.init.uniform_(weight, -0.05, 0.05)
    return model


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


@cache
def this_computer() -> Machine:
    """`measure_machine` of a model of 15 million weights, once."""
    return measure_machine(random_model(2))
