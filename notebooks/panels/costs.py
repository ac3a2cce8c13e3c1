"""What a model and its cache weigh, and what one step costs on a machine: the numbers behind `memory_price`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch

from llm_gen.cache import BLOCK, KVCache, kv_cache_bytes

DTYPES = {"float32": torch.float32, "float16": torch.float16, "int8": torch.int8}


@dataclass(frozen=True)
class Sizes:
    """A model of LLaMA's kind, as its authors publish it; tied: one matrix embeds tokens and gives logits."""

    layers: int
    heads: int
    kv_heads: int
    head_size: int
    width: int
    mlp_width: int
    vocab_size: int
    tied: bool = False

    @property
    def weights(self) -> int:
        """How many numbers the model consists of."""
        attention = self.width * self.head_size * 2 * (self.heads + self.kv_heads)
        layer = attention + 3 * self.width * self.mlp_width + 2 * self.width
        return self.layers * layer + self.width + self.vocab_size * self.width * (1 if self.tied else 2)


# SmolLM2 arXiv:2502.02737, Gemma arXiv:2403.08295, Mistral arXiv:2310.06825, LLaMA arXiv:2302.13971, Llama 3
# arXiv:2407.21783.
MODELS = {
    "SmolLM2 135M": Sizes(30, 9, 3, 64, 576, 1536, 49152, tied=True),
    "Gemma 2B": Sizes(18, 8, 1, 256, 2048, 16384, 256000, tied=True),
    "LLaMA 7B": Sizes(32, 32, 32, 128, 4096, 11008, 32000),
    "Mistral 7B": Sizes(32, 32, 8, 128, 4096, 14336, 32000),
    "Llama 3 8B": Sizes(32, 32, 8, 128, 4096, 14336, 128256),
    "Llama 3 70B": Sizes(80, 64, 8, 128, 8192, 28672, 128256),
}


@dataclass(frozen=True)
class Machine:
    """Bytes and operations a second, and bytes of memory if they are known."""

    bytes_per_second: float
    operations_per_second: float
    memory: int | None = None


# By the makers' data sheets, for dense products of numbers of 16 bits; the laptop has two channels of DDR5-5600 and
# eight ordinary cores.
MACHINES = {
    "laptop": Machine(89.6e9, 1e12, 16 * 2**30),
    "RTX 4090": Machine(1008e9, 165e12, 24 * 2**30),
    "A100 80 GB": Machine(2039e9, 312e12, 80 * 10**9),
    "H100 80 GB": Machine(3350e9, 989e12, 80 * 10**9),
}


@dataclass(frozen=True)
class Cost:
    """One setting: a model that writes the next token of each of `rows` texts of `tokens` tokens."""

    sizes: Sizes
    tokens: int
    rows: int
    dtype: str
    machine: Machine

    @property
    def bytes_per_number(self) -> int:
        return DTYPES[self.dtype].itemsize

    @property
    def weight_bytes(self) -> int:
        return self.sizes.weights * self.bytes_per_number

    def cache_bytes(self, kv_heads: int | None = None) -> int:
        """By the formula; kv_heads: another number of key/value heads than the model's."""
        sizes = self.sizes
        heads = sizes.kv_heads if kv_heads is None else kv_heads
        return kv_cache_bytes(sizes.layers, heads, sizes.head_size, self.tokens, self.bytes_per_number, self.rows)

    @property
    def allocated(self) -> int:
        """Bytes that a `KVCache` really takes to hold the tokens."""
        return allocated_bytes(self.sizes, self.tokens, self.rows, self.dtype)

    @property
    def weight_seconds(self) -> float:
        return self.weight_bytes / self.machine.bytes_per_second

    @property
    def cache_seconds(self) -> float:
        return self.cache_bytes() / self.machine.bytes_per_second

    @property
    def compute_seconds(self) -> float:
        """2 operations for each weight and row, 4 for each query head, number of a head, and token looked at."""
        sizes = self.sizes
        looking = 4 * sizes.layers * sizes.heads * sizes.head_size * self.tokens
        return self.rows * (2 * sizes.weights + looking) / self.machine.operations_per_second

    @property
    def step_seconds(self) -> float:
        """Reading and computing overlap, so the slower of the two."""
        return max(self.weight_seconds + self.cache_seconds, self.compute_seconds)

    @property
    def memory_bound(self) -> bool:
        return self.weight_seconds + self.cache_seconds > self.compute_seconds

    @property
    def fits(self) -> bool:
        memory = self.machine.memory
        return memory is None or self.weight_bytes + self.cache_bytes() <= memory


@cache
def allocated_bytes(sizes: Sizes, tokens: int, rows: int, dtype: str) -> int:
    """What a cache takes after it has read `tokens` columns; on the device "meta" it has a size and no memory."""
    kind = DTYPES[dtype]
    room = tokens + BLOCK  # more than it reads, as in a text that goes on
    store = KVCache(sizes.layers, rows, sizes.kv_heads, sizes.head_size, room, dtype=kind, device="meta")
    new = torch.empty(rows, sizes.kv_heads, tokens, sizes.head_size, dtype=kind, device="meta")
    store.update(0, new, new)
    return store.nbytes
