"""Products of some rows with a weight matrix: what a step of decoding spends its time on.

Letters: B rows, I in, O out features.
"""

from __future__ import annotations

import torch
from torch import Tensor

# BLAS reads some large matrices badly as a whole. With AVX-512 (measured on Intel) that is for some rows: they then
# meet pieces that stay in the nearest cache. With AVX2 (measured on AMD) MKL is slow up to many more rows, and for few
# of them one thread does it all: these get a part of the matrix for each thread. Small matrices are in a cache anyway,
# and for other dtypes than float32 BLAS takes other ways, which pieces only hinder.
LARGE, PIECE, PARTS = 200_000, 64, 8
MKL_WITHOUT_AVX512 = torch.backends.mkl.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX2"
FEW_ROWS, SOME_ROWS = (range(1, 5), range(5, 65)) if MKL_WITHOUT_AVX512 else (range(0), range(4, 13))


class Product:
    """x (B, I) -> x @ weight.T + bias (B, O), as F.linear says, by the fastest way for so many rows.

    Called as product(x, added) it gives the sum with added (B, O) too. weight (O, I), bias (O,) or None.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        weight, self.bias = weight.detach(), None if bias is None else bias.detach()
        self.columns = weight.t()  # views are taken once: each costs as much as a small kernel
        is_usual = weight.dtype == torch.float32 and weight.device.type == "cpu"
        self.is_large = is_usual and weight.numel() >= LARGE
        if self.is_large:
            self.pieces = cut(weight, PIECE)
            self.parts = cut(weight, max(1, len(weight) // PARTS)) if FEW_ROWS else None

    def __call__(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        start, rest = (self.bias, None) if added is None else (added, self.bias)
        if self.is_large and (len(x) in FEW_ROWS or len(x) in SOME_ROWS):
            result = self._by_cuts(x)
            result = result if start is None else result.add_(start)
        else:
            result = torch.mm(x, self.columns) if start is None else torch.addmm(start, x, self.columns)
        return result if rest is None else result.add_(rest)

    def _by_cuts(self, x: Tensor) -> Tensor:
        """The product with the parts or the pieces, and with the rows of the matrix that they leave over."""
        way, (cuts, rest) = (in_parts, self.parts) if len(x) in FEW_ROWS else (in_pieces, self.pieces)
        result = way(x, cuts)
        return result if rest is None else torch.cat([result, torch.mm(x, rest)], dim=1)


def cut(weight: Tensor, size: int) -> tuple[Tensor, Tensor | None]:
    """weight (O, I) as pieces (N, size, I), and the rows that are left as columns (I, R), or None; without a copy."""
    left = len(weight) % size
    pieces = weight[: len(weight) - left].view(-1, size, weight.shape[1])
    return pieces, weight[-left:].t() if left else None


def in_pieces(x: Tensor, pieces: Tensor) -> Tensor:
    """x (B, I) times each of the pieces (N, O / N, I) -> (B, O)."""
    parts = torch.bmm(x.expand(len(pieces), -1, -1), pieces.transpose(1, 2))
    return parts.transpose(0, 1).reshape(len(x), -1)


def in_parts(x: Tensor, parts: Tensor) -> Tensor:
    """The same with the parts on the left: they are read as they lie, and the rows of x are few."""
    columns = torch.bmm(parts, x.t().expand(len(parts), -1, -1))
    return columns.view(1, -1) if len(x) == 1 else columns.view(-1, len(x)).t().contiguous()
