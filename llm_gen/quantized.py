"""Linear layers whose weights stay in few bits: a token waits for its weights to be read, so smaller ones are faster.

Only weights are quantised. PyTorch's kernels are fast for activations in bfloat16, so x is rounded to that at the door
and the result is given back in the dtype of x; norms, attention and the cache keep theirs. Where a kernel is missing,
and for many rows at once, the weights are expanded and multiplied as usual.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MANY_ROWS = 32  # from here on expanding the weights once costs less than the kernel, which is made for few rows
HAS_INT8 = hasattr(torch.ops.aten, "_weight_int8pack_mm")


class Quantized(nn.Module):
    """x (..., in) -> x @ weight.T + bias (..., out). Each kind of storage has its own `multiply` and `rows`."""

    def __init__(self, shape: tuple[int, int], bias: nn.Parameter | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = shape
        self.bias = bias

    def multiply(self, x: Tensor) -> Tensor | None:
        """bfloat16 x (N, in) -> (N, out) by a kernel of PyTorch's own; None where there is none for this device."""
        raise NotImplementedError

    def rows(self, ids: Tensor | slice) -> Tensor:
        """Rows of the weight in float32, (..., in)."""
        raise NotImplementedError

    def _apply(self, fn, recurse: bool = True) -> Quantized:
        # The kernels want what is stored as it is: `model.half()` means the norms and the activations.
        stored = dict(self._buffers)
        super()._apply(fn, recurse)
        for name, buffer in stored.items():
            self._buffers[name] = buffer.to(self._buffers[name].device)
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the stored weight, without the bias."""
        return sum(buffer.nbytes for buffer in self.buffers())

    def forward(self, x: Tensor) -> Tensor:
        return self.product(x.reshape(-1, self.in_features)).view(*x.shape[:-1], self.out_features)

    def product(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        """`forward` of rows x (B, in), or its sum with added (B, out): a step of decoding, without detours."""
        result = self.multiply(x.bfloat16()) if len(x) < MANY_ROWS else None
        if result is None:
            dtype = self._dtype_for_many(x)
            result = F.linear(x.to(dtype), self.rows(slice(None)).to(dtype))
        if self.bias is not None:
            result = result.to(x.dtype) + self.bias.to(x.dtype)
        result = result if added is None else added + result
        return result if result.dtype == x.dtype else result.to(x.dtype)

    def _dtype_for_many(self, x: Tensor) -> torch.dtype:
        fast = len(x) >= MANY_ROWS and x.device.type == "cpu" and hasattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported")
        return torch.bfloat16 if fast and torch.ops.mkldnn._is_mkldnn_bf16_supported() else x.dtype


class Int8Linear(Quantized):
    """weight = values * scales: int8 in [-127, 127], one scale an output channel (symmetric, absolute maximum)."""

    def __init__(self, weight: Tensor, bias: nn.Parameter | None = None) -> None:
        super().__init__(tuple(weight.shape), bias)
        weight = weight.detach().float()
        # bfloat16 is what the kernel multiplies with; a row of zeros needs some scale.
        scales = (weight.abs().amax(dim=1) / 127).clamp(min=1e-30).bfloat16()
        self.register_buffer("values", (weight / scales.float()[:, None]).round().clamp(-127, 127).to(torch.int8))
        self.register_buffer("scales", scales)

    def multiply(self, x: Tensor) -> Tensor | None:
        # The kernel reads 16 columns at a time and does not look where a row ends.
        if not HAS_INT8 or self.in_features % 16 or x.device.type != "cpu":
            return None
        return torch.ops.aten._weight_int8pack_mm(x, self.values, self.scales)

    def rows(self, ids: Tensor | slice) -> Tensor:
        return self.values[ids] * self.scales[ids].float()[..., None]


class QuantizedEmbedding(nn.Module):
    """ids (B, T) -> rows of the table (B, T, D) in `dtype`; the table is also the head where the two are tied."""

    def __init__(self, table: Quantized, dtype: torch.dtype) -> None:
        super().__init__()
        self.table = table
        # Empty: it is there to follow `model.half()`, as the norms do.
        self.register_buffer("like", torch.empty(0, dtype=dtype), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        return self.table.rows(ids).to(self.like.dtype)


def to_int8(model: nn.Module) -> nn.Module:
    """The model itself, its linear layers, embedding and head in int8; routers and norms stay as they are.

    A quarter of the memory, and a faster token. It can no longer be trained or saved.
    """
    for module in list(model.modules()):
        for name, part in list(module.named_children()):
            if type(part) is nn.Linear and name != "router":
                setattr(module, name, Int8Linear(part.weight, part.bias))
    if type(model.embed) is nn.Embedding:
        replace_embedding(model, Int8Linear(model.embed.weight))
    return model.requires_grad_(False)


def replace_embedding(model: nn.Module, table: Quantized) -> None:
    """Lets a quantised table take the place of the embedding, and of the head where it is tied to it."""
    model.embed = QuantizedEmbedding(table, model.embed.weight.dtype)
    if model.config.tie_embeddings:
        model.head = table
