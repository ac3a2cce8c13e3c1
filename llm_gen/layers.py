"""The parts of a block that do not look at other tokens: norms, rotary positions, MLPs, experts.

Letters: B batch, T tokens, D embed_dim, d head size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llm_gen.config import ModelConfig

ACTIVATIONS = {
    "silu": F.silu,
    "gelu": F.gelu,
    # Not a lambda, which would keep a model from being pickled.
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
}


def at_least_float32(x: Tensor) -> Tensor:
    """x in float32, or in float64 where it is that already: what norms and rotations are computed in."""
    return x if x.dtype == torch.float64 else x.float()


class RMSNorm(nn.Module):
    """x / rms(x) * weight, or * (1 + weight), taken in at least float32 (arXiv:1910.07467)."""

    def __init__(self, size: int, eps: float, adds_one: bool) -> None:
        super().__init__()
        self.eps, self.adds_one = eps, adds_one
        self.weight = nn.Parameter(torch.zeros(size) if adds_one else torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        wide, weight = at_least_float32(x), at_least_float32(self.weight)
        if self.adds_one:
            weight = weight + 1
        return F.rms_norm(wide, weight.shape, weight, self.eps).to(x.dtype)


def make_norm(config: ModelConfig) -> nn.Module:
    """The norm that the config asks for, over the last axis of (B, T, D)."""
    if config.norm == "layer":
        return nn.LayerNorm(config.embed_dim, eps=config.norm_eps)
    return RMSNorm(config.embed_dim, config.norm_eps, config.norm_adds_one)


def rotary_tables(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """cos and signed sin, each (max_position_embeddings, d) in float32, for `rotate` (arXiv:2104.09864).

    Pair j turns by position * theta**(-2j / d); the first half of a head holds the pairs' first members.
    """
    exponents = torch.arange(0, config.head_size, 2, dtype=torch.float32) / config.head_size
    frequencies = _scale_frequencies(1.0 / config.rope_theta**exponents, config.rope_scaling)
    angles = torch.outer(torch.arange(config.max_position_embeddings, dtype=torch.float32), frequencies)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([cos, cos], dim=-1), torch.cat([-sin, sin], dim=-1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Heads x (B, T, heads, d) turned by their position; cos, sin: (1 or B, T, 1, d) of `rotary_tables`."""
    wide = at_least_float32(x)
    swapped = wide.roll(wide.shape[-1] // 2, dims=-1)
    return torch.addcmul(wide * cos, swapped, sin).type_as(x)


def _scale_frequencies(frequencies: Tensor, scaling: Mapping[str, Any] | None) -> Tensor:
    if scaling is None:
        return frequencies
    factor = scaling["factor"]
    if scaling["rope_type"] == "linear":
        return frequencies / factor
    # llama3: fast pairs stay, slow pairs are divided, those between are blended by turns per original context.
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    kept_share = ((turns - low) / (high - low)).clamp(0, 1)
    return frequencies * (kept_share + (1 - kept_share) / factor)


class MLP(nn.Module):
    """down(act(up(x))), or gated: down(act(gate(x)) * up(x)) with gate and up in one matrix (arXiv:2002.05202)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.activation, self.gated = ACTIVATIONS[config.activation], config.gated_mlp
        width = config.mlp_dim * (2 if config.gated_mlp else 1)
        self.halves = [config.mlp_dim, config.mlp_dim]
        self.up = nn.Linear(config.embed_dim, width, bias=config.mlp_bias)
        self.down = nn.Linear(config.mlp_dim, config.embed_dim, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.inner(self.up(x)))

    def inner(self, hidden: Tensor) -> Tensor:
        """What happens between the two matrices: (..., width of up) -> (..., mlp_dim)."""
        if not self.gated:
            return self.activation(hidden)
        gate, up = hidden.split_with_sizes(self.halves, dim=-1)
        return self.activation(gate) * up


class Experts(nn.Module):
    """Each token goes through its top_k_experts MLPs, weighted by the renormalised router (arXiv:2401.04088).

    There is no capacity limit, so no token is dropped and no row depends on the rows beside it.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.top_k = config.top_k_experts
        self.router = nn.Linear(config.embed_dim, config.num_experts, bias=False)
        self.experts = nn.ModuleList(MLP(config) for _ in range(config.num_experts))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])
        weights, chosen = at_least_float32(self.router(tokens)).softmax(dim=-1).topk(self.top_k, dim=-1)
        weights = (weights / weights.sum(dim=-1, keepdim=True)).to(x.dtype)
        mixed = torch.zeros_like(tokens)
        for index in chosen.unique().tolist():
            rows, slot = (chosen == index).nonzero(as_tuple=True)
            mixed.index_add_(0, rows, self.experts[index](tokens[rows]) * weights[rows, slot, None])
        return mixed.view_as(x)


def make_mlp(config: ModelConfig) -> nn.Module:
    """The MLP, or the mixture of experts in its place."""
    return MLP(config) if config.num_experts is None else Experts(config)
