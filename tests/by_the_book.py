"""The decoder once more, for one row and without any speed: every head, query and expert is a turn of a loop.

It reads a model's config and weights and nothing else of the package, in float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

ACTIVATIONS = {
    "silu": lambda x: x / (1 + (-x).exp()),
    "gelu": lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "relu": lambda x: x.clamp(min=0),
}


class Book:
    """`Book(model).logits(ids)` is (T, V) for a list of ids."""

    def __init__(self, model) -> None:
        self.config = model.config
        self.weights = {name: tensor.double() for name, tensor in model.state_dict().items()}

    def linear(self, name: str, x: Tensor) -> Tensor:
        bias = self.weights.get(f"{name}.bias", 0.0)
        return x @ self.weights[f"{name}.weight"].T + bias

    def norm(self, name: str, x: Tensor) -> Tensor:
        weight, eps = self.weights[f"{name}.weight"], self.config.norm_eps
        if self.config.norm == "layer":
            centred = x - x.mean(-1, keepdim=True)
            return (
                centred / (centred.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight + self.weights[f"{name}.bias"]
            )
        return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * (weight + self.config.norm_adds_one)

    def turn(self, head: Tensor, position: int) -> Tensor:
        """One head (d,) turned: member j of its first half with member j of its second is a complex number."""
        if self.config.positions != "rope":
            return head
        half = len(head) // 2
        angles = position * self.config.rope_theta ** (-torch.arange(half, dtype=torch.float64) / half)
        turned = torch.complex(head[:half], head[half:]) * torch.polar(torch.ones_like(angles), angles)
        return torch.cat([turned.real, turned.imag])

    def attention(self, name: str, x: Tensor) -> Tensor:
        heads, groups, size = self.config.num_heads, self.config.num_kv_heads, self.config.head_size
        window = self.config.window_size or len(x)
        q, k, v = self.linear(f"{name}.qkv", x).split([heads * size, groups * size, groups * size], dim=-1)
        mixed = torch.zeros(len(x), heads * size, dtype=torch.float64)
        for head in range(heads):
            own, group = slice(head * size, (head + 1) * size), head // (heads // groups)
            shared = slice(group * size, (group + 1) * size)
            for i in range(len(x)):
                seen = range(max(0, i - window + 1), i + 1)
                query = self.turn(q[i, own], i)
                scores = torch.stack([query @ self.turn(k[j, shared], j) / math.sqrt(size) for j in seen])
                mixed[i, own] = scores.softmax(0) @ v[list(seen)][:, shared]
        return self.linear(f"{name}.out", mixed)

    def mlp(self, name: str, x: Tensor) -> Tensor:
        if self.config.num_experts is not None and "experts" not in name:
            return torch.stack([self.experts(name, token) for token in x])
        hidden, act = self.linear(f"{name}.up", x), ACTIVATIONS[self.config.activation]
        if not self.config.gated_mlp:
            return self.linear(f"{name}.down", act(hidden))
        half = self.config.mlp_dim
        return self.linear(f"{name}.down", act(hidden[..., :half]) * hidden[..., half:])

    def experts(self, name: str, token: Tensor) -> Tensor:
        shares = self.linear(f"{name}.router", token).softmax(-1)
        best = sorted(range(len(shares)), key=lambda e: -shares[e])[: self.config.top_k_experts]
        return sum(shares[e] / shares[best].sum() * self.mlp(f"{name}.experts.{e}", token) for e in best)

    def logits(self, ids: list[int]) -> Tensor:
        embed = self.weights["embed.weight"]
        x = embed[ids] * (math.sqrt(self.config.embed_dim) if self.config.scale_embeddings else 1)
        if self.config.positions == "learned":
            x = x + self.weights["positions.weight"][: len(ids)]
        for i in range(self.config.num_layers):
            for part, read in (("attn", self.attention), ("mlp", self.mlp)):
                name, norm = f"blocks.{i}.{part}", f"blocks.{i}.{part}_norm"
                pre = self.config.pre_norm
                x = x + read(name, self.norm(norm, x)) if pre else self.norm(norm, x + read(name, x))
        if self.config.pre_norm:
            x = self.norm("final_norm", x)
        return x @ (embed if self.config.tie_embeddings else self.weights["head.weight"]).T
