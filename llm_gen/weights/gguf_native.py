"""Matrices of a GGUF file multiplied as they are stored, in 4 or 8 bits.

PyTorch's 4-bit kernel has the value (nibble - 8) * scale + zero, with a scale and a zero for each 32 columns:
a Q4_1 block (scale d, minimum m, nibbles n) is one group of it, d * n + m = (n - 8) * d + (m + 8 * d);
a Q8_0 block (scale d, bytes 16 * high + low) is two: (high * 16 * d) and (low - 8) * d + 8 * d, of the same x.
The integers are the file's own; the kernel wants scales and zeros in bfloat16, which rounds them by up to 1 / 512.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from llm_gen.quantized import Quantized
from llm_gen.weights.gguf_blocks import block_format

GROUP = 32
Q4_1, Q8_0 = 3, 8  # numbers of the formats that fit
HAS_KERNEL = hasattr(torch.ops.aten, "_weight_int4pack_mm_for_cpu")


class BlockLinear(Quantized):
    """stored: (out, bytes of a row), as in the file, in format `kind`: Q4_1 or Q8_0. It is kept for `rows`."""

    def __init__(self, stored: Tensor, kind: int, bias: nn.Parameter | None = None) -> None:
        self.form = block_format(kind)
        blocks = stored.shape[1] // self.form.size
        super().__init__((len(stored), blocks * GROUP), bias)
        self.times = 2 if kind == Q8_0 else 1
        self.register_buffer("stored", stored)
        if not HAS_KERNEL:
            return
        nibbles, scales, zeros = (_of_q8_0 if kind == Q8_0 else _of_q4_1)(stored.view(len(stored), blocks, -1))
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(nibbles.int(), 1)
        self.register_buffer("packed", packed)
        self.register_buffer("scales_and_zeros", torch.stack([scales, zeros], dim=-1).transpose(0, 1).contiguous())

    def multiply(self, x: Tensor) -> Tensor | None:
        if x.device.type != "cpu" or not HAS_KERNEL:
            return None
        x = torch.cat([x] * self.times, dim=1) if self.times > 1 else x
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, self.packed, GROUP, self.scales_and_zeros)

    def rows(self, ids: Tensor | slice) -> Tensor:
        stored = self.stored[ids]
        out = torch.empty((*stored.shape[:-1], self.in_features), device=stored.device)
        self.form.expand(stored.reshape(-1, self.form.size), out.view(-1, GROUP))
        return out


def fits(kinds: set[int], rows: int) -> bool:
    """Whether matrices of these formats can be one BlockLinear of so many rows."""
    return len(kinds) == 1 and kinds <= {Q4_1, Q8_0} and rows % 16 == 0


def _of_q4_1(blocks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Nibbles (out, in), scales and zeros (out, groups) in bfloat16, of blocks (out, groups, 20)."""
    scale, minimum = blocks[..., :4].contiguous().view(torch.float16).float().unbind(-1)
    nibbles = torch.cat([blocks[..., 4:] & 15, blocks[..., 4:] >> 4], dim=-1)
    return nibbles.flatten(1), scale.bfloat16(), (minimum + 8 * scale).bfloat16()


def _of_q8_0(blocks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same of blocks (out, groups, 34): the high nibbles of all columns, then the low ones."""
    scale = blocks[..., :2].contiguous().view(torch.float16)[..., 0].bfloat16()
    values = blocks[..., 2:].view(torch.int8).flatten(1)
    nibbles = torch.cat([(values >> 4) + 8, values & 15], dim=1)
    return nibbles, torch.cat([16 * scale, scale], dim=1), torch.cat([0 * scale, 8 * scale], dim=1)
