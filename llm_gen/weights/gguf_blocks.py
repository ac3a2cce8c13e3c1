"""How GGUF stores numbers: block formats, expanded to float32.

The plain formats and those of SmolLM2 (Q4_1, Q8_0) are expanded here, three times as fast as by the `gguf`
package, which is asked for all others and need not be installed without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from llm_gen.checks import CheckpointError


@dataclass(frozen=True)
class BlockFormat:
    """values: numbers in a block. size: its bytes. expand(stored, out): bytes (n, size) -> float32 (n, values).

    It writes into memory that is already there: the weights are large, and fresh memory is slow.
    """

    name: str
    values: int
    size: int
    expand: Callable[[Tensor, Tensor], object]


def _plain(dtype: torch.dtype) -> Callable[[Tensor, Tensor], object]:
    return lambda stored, out: out.copy_(stored.view(dtype))


def _expand_q8_0(stored: Tensor, out: Tensor) -> None:
    """A block: float16 scale, then 32 signed bytes. value = scale * byte."""
    out.copy_(stored[:, 2:].view(torch.int8)).mul_(_halves(stored[:, :2]))


def _expand_q4_1(stored: Tensor, out: Tensor) -> None:
    """A block: float16 scale and minimum, then 16 bytes of two nibbles: the low ones are values 0 to 15, the
    high ones 16 to 31. value = scale * nibble + minimum."""
    nibbles = stored[:, 4:]
    out[:, :16] = nibbles & 15
    out[:, 16:] = nibbles >> 4
    out.mul_(_halves(stored[:, :2])).add_(_halves(stored[:, 2:4]))


def _halves(pairs: Tensor) -> Tensor:
    return pairs.contiguous().view(torch.float16).float()


_OWN = {
    0: BlockFormat("F32", 1, 4, _plain(torch.float32)),
    1: BlockFormat("F16", 1, 2, _plain(torch.float16)),
    3: BlockFormat("Q4_1", 32, 20, _expand_q4_1),
    8: BlockFormat("Q8_0", 32, 34, _expand_q8_0),
    30: BlockFormat("BF16", 1, 2, _plain(torch.bfloat16)),
}


@cache
def block_format(number: int) -> BlockFormat:
    """The format of this number. Raises CheckpointError if it is unknown, or needs the missing `gguf` package."""
    return _OWN[number] if number in _OWN else _format_of_package(number)


def _format_of_package(number: int) -> BlockFormat:
    try:
        import gguf
    except ImportError:
        raise CheckpointError(
            f"tensors of GGUF type {number} need the package gguf, which is not installed: pip install gguf"
        ) from None
    try:
        kind = gguf.GGMLQuantizationType(number)
        values, size = gguf.GGML_QUANT_SIZES[kind]
        gguf.dequantize(torch.zeros(1, size, dtype=torch.uint8).numpy(), kind)
    except (ValueError, KeyError, NotImplementedError):
        known = ", ".join(fmt.name for fmt in _OWN.values())
        raise CheckpointError(f"tensors of GGUF type {number} cannot be read; known: {known} and others") from None

    def expand(stored: Tensor, out: Tensor) -> None:
        out.copy_(torch.from_numpy(gguf.dequantize(stored.numpy(), kind)))

    return BlockFormat(kind.name, values, size, expand)
