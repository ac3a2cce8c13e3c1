"""New tokens of a text that is already read, through the whole decoder: one a row, or a few of a single row.

The arithmetic is that of `DecoderLM.forward`; what is saved is the way to it. The ids were drawn here and need no
check, a single column needs no transposing, the cache names the places of all layers at once, a module without hooks
is entered by its forward, and one matrix turns all heads. In a small model that is most of a step. Letters as in
model.py, with rows (B, D) where it has (B, T, D).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llm_gen.attention import Attention, build_mask, plan_mask
from llm_gen.cache import KVCache
from llm_gen.layers import MLP, Experts, RMSNorm, at_least_float32
from llm_gen.model import GPT, GPT2, Block, DecoderLM, Gemma, LLaMA, Mistral, Mixtral
from llm_gen.products import Product
from llm_gen.quantized import Quantized, QuantizedEmbedding

MODELS = {DecoderLM, GPT, GPT2, Gemma, LLaMA, Mistral, Mixtral}
PARTS = {Attention, Block, Experts, MLP, RMSNorm, QuantizedEmbedding}
PARTS |= {nn.Embedding, nn.Identity, nn.LayerNorm, nn.Linear, nn.ModuleList}
METHODS = {"forward", "hidden", "logits", "embed_at", "rotary_at"}


class Decoder:
    """(ids (B, 1), cache) -> logits (B, V), for a cache that has read at least one column.

    The weights are the model's own, found once, those of norms copied: make one for each text, and change the model
    between texts only. `fits(model)` says whether it may be used.
    """

    def __init__(self, model: DecoderLM) -> None:
        self.model, self.config, attn = model, model.config, model.blocks[0].attn
        heads, groups, self.size = attn.heads, attn.kv_heads, attn.size
        self.q_k, self.qk_v, self.parts = [heads, groups], [heads + groups, groups], (-1, heads + 2 * groups, self.size)
        self.grouped, self.joined = (-1, groups, heads // groups, self.size), (-1, heads * self.size)
        self.layers = [self._layer(block) for block in model.blocks]
        self.final_norm = _norm(model.final_norm)
        self.head = _product(model.head) if "head" in model._modules else Product(model.embed.weight)
        bare = not self.config.scale_embeddings and self.config.positions != "learned"
        self.table = model.embed.weight if bare and type(model.embed) is nn.Embedding else None
        like = at_least_float32(model.blocks[0].attn_norm.weight)
        self.stays = torch.eye(self.size, dtype=like.dtype, device=like.device)
        self.swaps = self.stays.roll(self.size // 2, dims=0)

    @staticmethod
    def fits(model: object) -> bool:
        """Whether calling the model would do just what `Decoder` does: no forward of its own, no hooks, no dropout, and
        one dtype, since between parts of several `Decoder` would not convert where the model does."""
        if type(model) not in MODELS or nn.modules.module._has_any_global_hook():
            return False
        if len({weight.dtype for weight in model.parameters()}) > 1:
            return False
        return all(_is_plain(part) for part in model.modules() if part is not model) and not _is_watched(model)

    def __call__(self, ids: Tensor, cache: KVCache) -> Tensor:
        places = cache.next_column()
        with torch.inference_mode():
            logits = self._run(ids, *self._look(cache), places)
        cache.advance(1)
        return logits.clone()  # outside, so that it is an ordinary tensor

    def read(self, ids: Tensor, cache: KVCache) -> Tensor:
        """Several columns of one row at once: ids (1, T) -> logits (1, T, V) after each of them.

        They stand where rows would, except in attention. The cache has T free slots.
        """
        places = cache.next_columns(ids.shape[1])
        with torch.inference_mode():
            position, bias = self._look_far(cache, ids.shape[1])
            logits = self._run(ids.T, position, bias, places, self._attend_columns)
        cache.advance(ids.shape[1])
        return logits.clone()[None]

    def _look(self, cache: KVCache) -> tuple[int | Tensor, Tensor | None]:
        """The position of the new column, of all rows or (B, 1), and the bias of what each row may not see."""
        start, padding, window = cache.length, cache.padding, self.config.window_size
        if padding is None and (window is None or start < window):
            return start, None
        mask, _ = plan_mask(1, start, cache.key_columns(1), padding, window)
        bias = None if mask is None else as_bias(mask, cache.keys.dtype)
        return start if padding is None else (start - padding[:, None]).clamp(min=0), bias

    def _look_far(self, cache: KVCache, count: int) -> tuple[Tensor, Tensor]:
        """The positions (T, 1) of new columns of one row, and the bias of the queries of a group, (T * H / G, S)."""
        start, padding, keys = cache.length, cache.padding, cache.key_columns(count)
        columns = keys[start:, None]
        visible = build_mask(columns[:, 0], keys, padding, self.config.window_size)[0, 0]
        position = columns if padding is None else (columns - padding).clamp(min=0)
        return position, as_bias(visible.repeat_interleave(self.grouped[2], dim=0), cache.keys.dtype)

    def _run(self, ids: Tensor, position: int | Tensor, bias: Tensor | None, places: list, attend=None) -> Tensor:
        attend = attend or self._attend
        turn = self._turn(position) if self.config.positions == "rope" else None
        x = self._embed(ids, position)
        for (attn_norm, qkv, out, mlp_norm, mlp), place in zip(self.layers, places):
            if self.config.pre_norm:
                x = out(attend(qkv(attn_norm(x)), turn, bias, *place), x)
                x = mlp(mlp_norm(x), x)
            else:
                x = attn_norm(out(attend(qkv(x), turn, bias, *place), x))
                x = mlp_norm(mlp(x, x))
        return self.head(self.final_norm(x))

    def _turn(self, position: int | Tensor) -> Tensor:
        """What `rotate` does to a head, as a matrix (d, d) for all rows or (B, d, d)."""
        cos, sin = (table[position] for table in self.model.rotary(self.stays.device))
        return torch.addcmul(self.stays * cos, self.swaps, sin)

    def _embed(self, ids: Tensor, position: int | Tensor) -> Tensor:
        if self.table is not None:
            return self.table.index_select(0, ids[:, 0])
        if isinstance(position, int):
            position = torch.full((1, 1), position, device=ids.device)
        return self.model.embed_at(ids, position)[:, 0]

    def _attend(self, qkv, turn, bias, new_key, new_value, keys, values) -> Tensor:
        """One query a head over all keys: the heads of a group stand where tokens would, as in `attend`."""
        q, k, v = self._heads(qkv, turn)
        new_key.copy_(k)
        new_value.copy_(v)
        return F.scaled_dot_product_attention(q, keys, values, bias).view(self.joined)

    def _attend_columns(self, qkv, turn, bias, new_key, new_value, keys, values) -> Tensor:
        """The queries of T columns and of the heads of a group, side by side, over all keys of one row."""
        q, k, v = self._heads(qkv, turn)
        new_key.copy_(k.transpose(0, 1))
        new_value.copy_(v.transpose(0, 1))
        count, groups, heads, size = q.shape
        queries = q.transpose(0, 1).reshape(1, groups, count * heads, size)
        mixed = F.scaled_dot_product_attention(queries, keys, values, bias)
        return mixed.view(groups, count, heads * size).transpose(0, 1).reshape(count, -1)

    def _heads(self, qkv: Tensor, turn: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Turned q (B, G, H / G, d) and k (B, G, d), and v (B, G, d)."""
        heads, v = qkv.view(self.parts).split_with_sizes(self.qk_v, 1)
        if turn is not None:
            heads = turn_heads(heads, turn)
        q, k = heads.split_with_sizes(self.q_k, 1)
        return q.reshape(self.grouped), k, v

    @staticmethod
    def _layer(block: Block) -> tuple[Callable[..., Tensor], ...]:
        qkv, out = _product(block.attn.qkv), _product(block.attn.out)
        return _norm(block.attn_norm), qkv, out, _norm(block.mlp_norm), _mlp(block.mlp)


def as_bias(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask as what is added to the scores: made once, where attention would make it from the mask in each layer."""
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, -torch.inf)


def turn_heads(heads: Tensor, turn: Tensor) -> Tensor:
    """heads (B, n, d) @ turn (d, d) or (B, d, d), computed in the dtype of turn."""
    if heads.dtype != turn.dtype:
        return turn_heads(heads.to(turn.dtype), turn).to(heads.dtype)
    return torch.bmm(heads, turn) if turn.ndim == 3 else torch.mm(heads.reshape(-1, len(turn)), turn).view(heads.shape)


def _norm(norm: nn.Module) -> Callable[[Tensor], Tensor]:
    """The norm as a function of x (B, D); RMSNorm by few kernels, since sqrt(mean(x^2) + eps) is a hypotenuse."""
    if type(norm) is not RMSNorm:
        return norm.forward
    root = math.sqrt(norm.weight.numel())
    weight = (at_least_float32(norm.weight.detach()) + norm.adds_one) * root
    side = weight.new_tensor(root * math.sqrt(norm.eps))

    def rms_norm(x: Tensor) -> Tensor:
        return (x * weight).div_(torch.linalg.vector_norm(x, dim=-1, keepdim=True).hypot_(side))

    if norm.weight.dtype == weight.dtype:
        return rms_norm
    return lambda x: rms_norm(x.float()).to(x.dtype)


def _mlp(mlp: MLP | Experts) -> Callable[[Tensor, Tensor], Tensor]:
    """(x, added) -> mlp(x) + added."""
    if type(mlp) is not MLP:
        return lambda x, added: added + mlp.forward(x)
    up, inner, down = _product(mlp.up), mlp.inner, _product(mlp.down)
    return lambda x, added: down(inner(up(x)), added)


def _product(linear: nn.Linear | Quantized) -> Callable[..., Tensor]:
    """(x, added=None) -> linear(x) + added, of x (B, I)."""
    return Product(linear.weight, linear.bias) if type(linear) is nn.Linear else linear.product


def _is_plain(part: nn.Module) -> bool:
    if type(part) is nn.Dropout:
        return not (part.training and part.p > 0)
    if type(part) is Attention and part.training and part.dropout > 0:
        return False
    return (type(part) in PARTS or isinstance(part, Quantized)) and not _is_watched(part)


def _is_watched(part: nn.Module) -> bool:
    """Whether hooks, or a method set on the object itself, would be passed over."""
    return bool(part._forward_hooks or part._forward_pre_hooks) or not METHODS.isdisjoint(vars(part))
