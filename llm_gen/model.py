"""DecoderLM: token ids to next-token logits. It holds weights; the conversation lives in the cache.

Letters: B batch, T tokens fed now, S columns seen so far, V vocabulary, D embed_dim, L layers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llm_gen.attention import Attention, Reading, padding_of, plan_mask
from llm_gen.cache import KVCache, cache_start_pos, check_sequence_length
from llm_gen.checks import check_ids, check_integer, check_mapping
from llm_gen.config import ModelConfig
from llm_gen.families import FAMILIES
from llm_gen.layers import make_mlp, make_norm, rotary_tables


class Block(nn.Module):
    """Attention, then the MLP, each added to the residual stream; the norm comes before it or after the sum."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attn_norm, self.attn = make_norm(config), Attention(config)
        self.mlp_norm, self.mlp = make_norm(config), make_mlp(config)
        self.dropout, self.pre_norm = nn.Dropout(config.dropout), config.pre_norm

    def forward(self, x: Tensor, reading: Reading, cache: KVCache | None, layer: int) -> Tensor:
        if self.pre_norm:
            x = x + self.dropout(self.attn(self.attn_norm(x), reading, cache, layer))
            return x + self.dropout(self.mlp(self.mlp_norm(x)))
        x = self.attn_norm(x + self.dropout(self.attn(x, reading, cache, layer)))
        return self.mlp_norm(x + self.dropout(self.mlp(x)))


class DecoderLM(nn.Module):
    """A decoder-only language model (arXiv:1706.03762) of whatever ModelConfig says.

    config: a ModelConfig, or a mapping that `ModelConfig.from_dict` reads. New weights are normal with deviation
    0.02. `model.generate(x, ...)` is `llm_gen.generate(model, x, ...)`, attached in generation.py, which lies above.
    """

    family: str | None = None

    def __init__(self, config: ModelConfig | Mapping[str, Any]) -> None:
        super().__init__()
        if not isinstance(config, ModelConfig):
            config = ModelConfig.from_dict({**FAMILIES.get(self.family, {}), **check_mapping("config", config)})
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.embed_dim)
        if config.positions == "learned":
            self.positions = nn.Embedding(config.max_position_embeddings, config.embed_dim)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_layers))
        self.final_norm = make_norm(config) if config.pre_norm else nn.Identity()
        if not config.tie_embeddings:
            self.head = nn.Linear(config.embed_dim, config.vocab_size, bias=False)
        self._rotary: tuple[Tensor, Tensor] | None = None
        self.apply(_initialise)

    @property
    def vocab_size(self) -> int:
        return self.config.vocab_size

    @property
    def max_seq_len(self) -> int:
        """The context: how many columns one pass, or one cache, can hold."""
        return self.config.max_position_embeddings

    def _any_float(self) -> Tensor:
        """A weight of the dtype and on the device that keys have: norms may be wider, matrices quantised."""
        weight = getattr(self.blocks[0].attn.qkv, "weight", None)
        return self.blocks[0].attn_norm.weight if weight is None else weight

    def make_cache(self, batch_size: int, *, rolling: bool = True) -> KVCache:
        """An empty cache for `batch_size` rows, in the weights' dtype; a ring where attention is windowed.

        rolling=False keeps every column, so that the cache can be cut back (`KVCache.truncate`).
        """
        config, weight = self.config, self._any_float()
        return KVCache(
            config.num_layers,
            check_integer("batch_size", batch_size, minimum=0),
            config.num_kv_heads,
            config.head_size,
            self.max_seq_len,
            config.window_size,
            rolling=rolling,
            dtype=weight.dtype,
            device=weight.device,
        )

    def forward(
        self,
        ids: Tensor,
        attention_mask: Tensor | None = None,
        cache: KVCache | None = None,
        *,
        last_only: bool = False,
    ) -> Tensor:
        """Logits (B, T, V) after each of the ids (B, T), or (B, 1, V) after the last one.

        A cache is read, extended and moved on by T, without gradients. attention_mask: (B, S), over the columns in the
        cache and the new ones; zeros mark padding on the left. With a cache it may be left out after the first pass:
        the cache remembers. Raises TypeError or ValueError for ids outside the vocabulary, another mask, a cache of
        another model or batch, or more columns than the context.
        """
        with _gradients_unless(cache):
            hidden = self.hidden(ids, attention_mask, cache)
            return self.logits(hidden[:, -1:] if last_only else hidden)

    def hidden(self, ids: Tensor, attention_mask: Tensor | None = None, cache: KVCache | None = None) -> Tensor:
        """The states (B, T, D) after the last norm, of which `logits` makes logits; arguments as in `forward`."""
        ids = check_ids("ids", ids, self.vocab_size)
        with _gradients_unless(cache):
            return self._read(ids, self._plan(ids, attention_mask, cache), cache)

    def logits(self, hidden: Tensor) -> Tensor:
        """States (..., D) -> logits (..., V)."""
        # A quantised table is its own head, tied or not (quantized.py).
        return self.head(hidden) if "head" in self._modules else F.linear(hidden, self.embed.weight)

    def embed_at(self, ids: Tensor, positions: Tensor) -> Tensor:
        """What the first block reads, (B, T, D): ids (B, T) at positions (1 or B, T)."""
        x = self.embed(ids)
        if self.config.scale_embeddings:
            # Rounded to the weights' dtype first, as Gemma was trained.
            x = x * torch.tensor(math.sqrt(self.config.embed_dim), dtype=x.dtype, device=x.device)
        return x + self.positions(positions) if self.config.positions == "learned" else x

    def _read(self, ids: Tensor, reading: Reading, cache: KVCache | None) -> Tensor:
        x = self.dropout(self.embed_at(ids, reading.positions))
        for layer, block in enumerate(self.blocks):
            x = block(x, reading, cache, layer)
        if cache is not None:
            cache.advance(ids.shape[1])
        return self.final_norm(x)

    def _plan(self, ids: Tensor, attention_mask: Tensor | None, cache: KVCache | None) -> Reading:
        batch, count = ids.shape
        start = cache_start_pos(cache)
        check_sequence_length(count, start, self.max_seq_len)
        self._check_cache(cache, batch)
        padding = _padding(ids, attention_mask, cache)
        columns = torch.arange(start, start + count, device=ids.device)
        keys = columns if cache is None else cache.key_columns(count)
        positions = columns[None]
        if padding is not None:
            positions = (columns[None] - padding[:, None]).clamp(min=0)
        mask, causal = plan_mask(count, start, keys, padding, self.config.window_size)
        if self.config.positions == "learned":
            return Reading(positions, None, None, mask, causal)
        cos, sin = self.rotary_at(positions)
        return Reading(positions, cos, sin, mask, causal)

    def _check_cache(self, cache: KVCache | None, batch: int) -> None:
        if cache is None:
            return
        if not isinstance(cache, KVCache):
            raise TypeError(f"cache must be a KVCache or None, got {type(cache).__name__}")
        layers, rows, kv_heads, _, size = cache.keys.shape
        config, weight = self.config, self._any_float()
        got = (layers, rows, kv_heads, size, cache.window, cache.max_length, cache.keys.dtype)
        expected = (config.num_layers, batch, config.num_kv_heads, config.head_size)
        expected += (config.window_size, self.max_seq_len, weight.dtype)
        if got != expected:
            names = "layers, batch, kv heads, head size, window, max length, dtype"
            raise ValueError(f"cache must have ({names}) {expected}, got {got}")

    def rotary_at(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """cos and signed sin of `rotate` at positions (1 or B, T), each (1 or B, T, 1, d)."""
        cos, sin = self.rotary(positions.device)
        return cos[positions][:, :, None], sin[positions][:, :, None]

    def rotary(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """The tables of `rotary_tables`, each (max_position_embeddings, d)."""
        # Built on first use and kept outside the state dict: `model.half()` must not round the angles.
        if self._rotary is None or self._rotary[0].device != device:
            self._rotary = tuple(table.to(device) for table in rotary_tables(self.config))
        return self._rotary


def _gradients_unless(cache: KVCache | None) -> torch.set_grad_enabled:
    # Gradients through the storage of a cache would be lost at the next in-place write.
    return torch.set_grad_enabled(torch.is_grad_enabled() and cache is None)


def _padding(ids: Tensor, attention_mask: Tensor | None, cache: KVCache | None) -> Tensor | None:
    """Padding columns of each row (B,), or None where there are none; the cache keeps it for the passes to come."""
    start = cache_start_pos(cache)
    known = cache.padding if cache is not None and start else None
    if attention_mask is None:
        padding = known
    else:
        padding = padding_of(attention_mask, (ids.shape[0], start + ids.shape[1]))
        if not padding.any():
            padding = None
        if start and not _same(padding, known):
            raise ValueError("attention_mask must have the padding that the cache was filled with, got another")
    if cache is not None and not start:
        cache.padding = padding
    return padding


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is other or (one is not None and other is not None and torch.equal(one, other))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


class GPT(DecoderLM):
    family = "GPT"


class GPT2(DecoderLM):
    family = "GPT2"


class LLaMA(DecoderLM):
    family = "LLaMA"


class Mistral(DecoderLM):
    family = "Mistral"


class Mixtral(DecoderLM):
    family = "Mixtral"


class Gemma(DecoderLM):
    family = "Gemma"
