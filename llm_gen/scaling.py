"""Logits at a temperature, in a width that masses can be summed in: never NaN, never +inf."""

from __future__ import annotations

import torch
from torch import Tensor

FLOAT32 = torch.finfo(torch.float32)


def scale_by_temperature(logits: Tensor, temperature: float) -> Tensor:
    """`logits / temperature`, never NaN or +inf: a row that would overflow has its maximum subtracted first.

    logits: (B, V), checked. The softmax is the same either way; a tiny temperature gives a one-hot, shared by ties.
    """
    if temperature == 1:
        return logits
    # float32 turns such a temperature into 0 or infinity, and 0 / 0 or -inf / inf into NaN.
    extreme = not FLOAT32.tiny <= temperature <= FLOAT32.max
    wide = logits.double() if extreme else logits
    scaled = (wide / temperature).to(logits.dtype)
    overflows = ~scaled.amax(dim=-1, keepdim=True).isfinite()
    if not overflows.any():
        return scaled
    shifted = (wide - wide.amax(dim=-1, keepdim=True)) / temperature
    return torch.where(overflows, shifted.to(logits.dtype), scaled)


def to_float32(logits: Tensor) -> Tensor:
    """float32 logits with the same softmax: a float64 row beyond float32's range is shifted to maximum 0 first."""
    narrow = logits.float()
    if logits.dtype != torch.float64:
        return narrow
    highest = logits.amax(dim=-1, keepdim=True)
    return torch.where(narrow.amax(dim=-1, keepdim=True).isfinite(), narrow, (logits - highest).float())
