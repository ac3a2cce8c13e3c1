"""One new token a row through the whole decoder: a step of generation, and nothing that only longer inputs need.

The arithmetic is that of `DecoderLM.forward`; what is saved is the way to it. The ids were drawn here and need no
check, a single column needs no transposing, the cache names the places of all layers at once, and a module without
hooks is entered by its forward. In a small model that is most of a step. Letters as in model.py; T is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llm_gen.attention import Attention, plan_mask
from llm_gen.cache import KVCache
from llm_gen.layers import MLP, Experts, RMSNorm, at_least_float32, rotate
from llm_gen.model import GPT, GPT2, Block, DecoderLM, Gemma, LLaMA, Mistral, Mixtral
from llm_gen.quantized import Quantized, QuantizedEmbedding

MODELS = {DecoderLM, GPT, GPT2, Gemma, LLaMA, Mistral, Mixtral}
PARTS = {Attention, Block, Experts, MLP, RMSNorm, QuantizedEmbedding}
PARTS |= {nn.Embedding, nn.Identity, nn.LayerNorm, nn.Linear, nn.ModuleList}
# For some rows and a large matrix oneDNN repacks the matrix in less time than MKL loses by not doing so.
SOME_ROWS, LARGE = (5, 12), 800_000
HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class Decoder:
    """(ids (B, 1), cache) -> logits (B, V), for a cache that has read at least one column.

    The weights are the model's own, found once: make one for each text. `fits(model)` says whether it may be used.
    """

    def __init__(self, model: DecoderLM) -> None:
        self.model, self.config, attn = model, model.config, model.blocks[0].attn
        self.heads, self.size = (attn.heads, attn.kv_heads), attn.size
        self.layers = [self._layer(block) for block in model.blocks]
        self.final_norm = _norm(model.final_norm)
        tied = "head" not in model._modules
        self.head = partial(multiply, weight=model.embed.weight) if tied else _linear(model.head)

    @staticmethod
    def fits(model: object) -> bool:
        """Whether calling the model would do just what `Decoder` does: no forward of its own, no hooks, no dropout."""
        if type(model) not in MODELS or nn.modules.module._has_any_global_hook():
            return False
        return all(_is_plain(part) for part in model.modules() if part is not model) and not _is_watched(model)

    def __call__(self, ids: Tensor, cache: KVCache) -> Tensor:
        places = cache.next_column()
        with torch.inference_mode():
            logits = self._run(ids, *self._look(cache), places)
        cache.advance(1)
        return logits.clone()  # outside, so that it is an ordinary tensor

    def _look(self, cache: KVCache) -> tuple[Tensor, Tensor | None]:
        """The position (1 or B, 1) of the new column, and what each row may not see."""
        start, padding, window = cache.length, cache.padding, self.config.window_size
        column = torch.full((1, 1), start, device=cache.keys.device)
        if padding is None and (window is None or start < window):
            return column, None
        mask, _ = plan_mask(1, start, cache.key_columns(1), padding, window)
        return column if padding is None else (column - padding[:, None]).clamp(min=0), mask

    def _run(self, ids: Tensor, positions: Tensor, mask: Tensor | None, places: list[tuple[Tensor, ...]]) -> Tensor:
        turn = None
        if self.config.positions == "rope":
            turn = [table[:, 0] for table in self.model.rotary_at(positions)]
        x = self.model.embed_at(ids, positions)[:, 0]
        for (attn_norm, qkv, out, mlp_norm, mlp), place in zip(self.layers, places):
            if self.config.pre_norm:
                x = x + out(self._attend(qkv(attn_norm(x)), turn, mask, *place))
                x = x + mlp(mlp_norm(x))
            else:
                x = attn_norm(x + out(self._attend(qkv(x), turn, mask, *place)))
                x = mlp_norm(x + mlp(x))
        return self.head(self.final_norm(x))

    def _attend(self, qkv, turn, mask, new_key, new_value, keys, values) -> Tensor:
        """One query a head over all keys: the heads of a group stand where tokens would, as in `attend`."""
        q, k, v = self._heads(qkv, turn)
        new_key.copy_(k)
        new_value.copy_(v)
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask).view(len(qkv), -1)

    def _heads(self, qkv: Tensor, turn: list[Tensor] | None) -> tuple[Tensor, Tensor, Tensor]:
        """Turned q (B, G, H / G, d) and k (B, G, d), and v (B, G, d)."""
        batch, (heads, groups), size = len(qkv), self.heads, self.size
        turned, v = qkv.view(batch, -1, size).split_with_sizes([heads + groups, groups], dim=1)
        if turn is not None:
            turned = rotate(turned, *turn)
        q, k = turned.split_with_sizes([heads, groups], dim=1)
        return q.reshape(batch, groups, heads // groups, size), k, v

    @staticmethod
    def _layer(block: Block) -> tuple[Callable[[Tensor], Tensor], ...]:
        qkv, out = _linear(block.attn.qkv), _linear(block.attn.out)
        return _norm(block.attn_norm), qkv, out, _norm(block.mlp_norm), _mlp(block.mlp)


def _norm(norm: nn.Module) -> Callable[[Tensor], Tensor]:
    """The norm as a function of x (B, D); RMSNorm by few kernels, since sqrt(mean(x^2) + eps) is a hypotenuse."""
    if type(norm) is not RMSNorm:
        return norm.forward
    root = math.sqrt(norm.weight.numel())
    weight = (at_least_float32(norm.weight.detach()) + norm.adds_one) * root
    side = weight.new_tensor(root * math.sqrt(norm.eps))

    def rms_norm(x: Tensor) -> Tensor:
        return x * weight / torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True), side)

    if norm.weight.dtype == weight.dtype:
        return rms_norm
    return lambda x: rms_norm(x.float()).to(x.dtype)


def _mlp(mlp: MLP | Experts) -> Callable[[Tensor], Tensor]:
    if type(mlp) is not MLP:
        return mlp.forward
    up, inner, down = _linear(mlp.up), mlp.inner, _linear(mlp.down)
    return lambda x: down(inner(up(x)))


def _linear(linear: nn.Module) -> Callable[[Tensor], Tensor]:
    """The module as a function of x (B, D)."""
    if type(linear) is not nn.Linear:
        return linear.forward
    weight, bias = linear.weight, linear.bias
    return lambda x: multiply(x, weight, bias)


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """F.linear of x (B, D), by the kernel that is fastest for so many rows."""
    fewest, most = SOME_ROWS
    if HAS_ONEDNN and weight.numel() >= LARGE and fewest <= len(x) <= most and _is_plain_float(x):
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return F.linear(x, weight, bias)


def _is_plain_float(x: Tensor) -> bool:
    return x.dtype == torch.float32 and x.device.type == "cpu"


def _is_plain(part: nn.Module) -> bool:
    if type(part) is nn.Dropout:
        return not (part.training and part.p > 0)
    return (type(part) in PARTS or isinstance(part, Quantized)) and not _is_watched(part)


def _is_watched(part: nn.Module) -> bool:
    """Whether hooks, or a forward set on the object itself, would be passed over."""
    return bool(part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part))
