"""Grouped-query attention, and the one place where masks are built.

A mask comes from columns: the query at column i sees the key at column j iff j <= i, j > i - window and j is not
padding. Whether there is a cache plays no part.

            j = 0 1 2 3 4 5      window 4, no padding: the row's newest four columns
    i = 3       1 1 1 1 . .
    i = 4       . 1 1 1 1 .
    i = 5       . . 1 1 1 1
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llm_gen.cache import KVCache
from llm_gen.config import ModelConfig
from llm_gen.layers import rotate


@dataclass(frozen=True)
class Reading:
    """What one forward pass reads, the same for every layer.

    positions: (1 or B, T) of the new tokens, from 0 at each row's first real token. cos, sin: (1 or B, T, 1, d) or
    None. mask: (1 or B, 1, T, S), or None where nothing is hidden. causal: the plain triangle, needs no mask.
    """

    positions: Tensor
    cos: Tensor | None
    sin: Tensor | None
    mask: Tensor | None
    causal: bool


def check_generation_mask(attention_mask: Tensor, x: Tensor) -> Tensor:
    """The padding of each row (B,), int64, from a mask of the shape of x (B, T): 0 padding, 1 text, any dtype.

    Padding lies on the left only and each row has a real token; else ValueError (TypeError: not a tensor).
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor of token ids, got {type(x).__name__}")
    if x.ndim != 2:
        raise ValueError(f"x must have shape (B, T), got {tuple(x.shape)}")
    return padding_of(attention_mask, tuple(x.shape))


def padding_of(attention_mask: Tensor, shape: tuple[int, int]) -> Tensor:
    """`check_generation_mask` where the ids of the columns already read are gone and only their shape is known."""
    if not isinstance(attention_mask, Tensor):
        raise TypeError(f"attention_mask must be a tensor, got {type(attention_mask).__name__}")
    if attention_mask.shape != shape:
        raise ValueError(f"attention_mask must have the shape {shape} of the ids, got {tuple(attention_mask.shape)}")
    strange = attention_mask[(attention_mask != 0) & (attention_mask != 1)]
    if strange.numel():
        raise ValueError(f"attention_mask must hold 0 (padding) and 1 (text) only, got {strange[0].item()}")
    real = attention_mask.bool()
    _refuse_rows(~real.any(dim=1), "must have at least one 1 a row")
    _refuse_rows((real[:, :-1] & ~real[:, 1:]).any(dim=1), "must have padding on the left only, no 0 after a 1")
    return (~real).sum(dim=1)


def _refuse_rows(bad: Tensor, rule: str) -> None:
    if bad.any():
        raise ValueError(f"attention_mask {rule}, got another in row {int(bad.nonzero()[0])}")


def build_mask(queries: Tensor, keys: Tensor, padding: Tensor | None, window: int | None) -> Tensor:
    """True where the query may look: columns queries (T,) and keys (S,), padding (B,) -> (1 or B, 1, T, S).

    A padding column sees itself, so that no row of the softmax is empty and no NaN reaches the next layer.
    """
    query, key = queries[:, None], keys[None, :]
    visible = key <= query
    if window is not None:
        visible = visible & (key > query - window)
    if padding is None:
        return visible[None, None]
    real = key >= padding[:, None, None]
    return ((visible & real) | (key == query))[:, None]


def plan_mask(count: int, start: int, keys: Tensor, padding: Tensor | None, window: int | None):
    """(mask, causal) for `count` new tokens from column `start`; no mask is built where none is needed."""
    fits = window is None or len(keys) <= window
    if padding is None and count == 1 and fits:
        return None, False
    if padding is None and start == 0 and fits:
        return None, True
    queries = torch.arange(start, start + count, device=keys.device)
    return build_mask(queries, keys, padding, window), False


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, dropout: float) -> Tensor:
    """softmax(q k' / sqrt(d)) v: q (B, H, T, d); k, v (B, G, S, d), each shared by H / G heads -> (B, H, T, d)."""
    batch, heads, count, size = q.shape
    if count > 1:
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=causal, enable_gqa=k.shape[1] != heads
        )
    # One new token: the heads of a group stand where tokens would, so keys are read once and never repeated.
    grouped = q.reshape(batch, k.shape[1], heads // k.shape[1], size)
    return F.scaled_dot_product_attention(grouped, k, v, attn_mask=mask, dropout_p=dropout).view_as(q)


class Attention(nn.Module):
    """Self-attention with H query heads over G key/value heads of size d (arXiv:2305.13245)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = config.num_heads, config.num_kv_heads, config.head_size
        width = (self.heads + 2 * self.kv_heads) * self.size
        self.qkv = nn.Linear(config.embed_dim, width, bias=config.qkv_bias)
        self.out = nn.Linear(self.heads * self.size, config.embed_dim, bias=config.attention_out_bias)
        self.dropout = config.dropout

    def forward(self, x: Tensor, reading: Reading, cache: KVCache | None, layer: int) -> Tensor:
        batch, count, _ = x.shape
        heads = self.qkv(x).view(batch, count, self.heads + 2 * self.kv_heads, self.size)
        turned, v = heads.split([self.heads + self.kv_heads, self.kv_heads], dim=2)
        if reading.cos is not None:
            turned = rotate(turned, reading.cos, reading.sin)
        q, k = turned.split([self.heads, self.kv_heads], dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if cache is not None:
            k, v = cache.update(layer, k, v)
        dropout = self.dropout if self.training else 0.0
        mixed = attend(q, k, v, reading.mask, reading.causal, dropout)
        return self.out(mixed.transpose(1, 2).reshape(batch, count, self.heads * self.size))
