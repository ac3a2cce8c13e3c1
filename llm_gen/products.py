"""Products of a few rows with a weight matrix: what a step of decoding spends its time on.

Letters: B rows, I in, O out features.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Few rows wait for the matrix to be read; some rows make BLAS slow unless it gets the matrix in pieces that stay in
# the nearest cache; many rows are what it is made for. A small matrix is in that cache anyway, and for other dtypes
# than float32 BLAS takes other ways, which pieces only hinder.
SOME_ROWS, LARGE, PIECE = range(4, 13), 200_000, 64


class Product:
    """x (B, I) -> x @ weight.T + bias (B, O), as F.linear says, by the fastest way for so many rows.

    Called as product(x, added) it gives the sum with added (B, O) too. weight (O, I), bias (O,) or None.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight, self.bias = weight.detach(), None if bias is None else bias.detach()
        self.columns = self.weight.t()  # taken once: a view costs as much as a small kernel
        self.is_cut = weight.dtype == torch.float32 and weight.numel() >= LARGE

    def __call__(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        start, rest = (self.bias, None) if added is None else (added, self.bias)
        if self.is_cut and len(x) in SOME_ROWS:
            result = in_pieces(x, self.weight)
            result = result if start is None else result.add_(start)
        else:
            result = torch.mm(x, self.columns) if start is None else torch.addmm(start, x, self.columns)
        return result if rest is None else result.add_(rest)


def in_pieces(x: Tensor, weight: Tensor) -> Tensor:
    """x (B, I) @ weight.T, PIECE rows of weight (O, I) after another -> (B, O)."""
    (out, width), rows = weight.shape, len(x)
    whole = out - out % PIECE
    pieces = weight[:whole].view(-1, PIECE, width).transpose(1, 2)
    parts = torch.bmm(x.expand(len(pieces), rows, width), pieces)
    result = parts.transpose(0, 1).reshape(rows, whole)
    return result if whole == out else torch.cat([result, torch.mm(x, weight[whole:].t())], dim=1)
