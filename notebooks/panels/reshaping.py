"""What the settings do to one distribution: the numbers behind the panels, without any drawing.

Which tokens stay is asked of `llm_gen.sampling` alone. Ranked logits are given to it, so what stays is always
the first `kept` tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from llm_gen.sampling import filter_logits, top_k_mask
from llm_gen.scaling import scale_by_temperature
from llm_gen.text import _
from notebooks.panels.context import Context, entropy_bits
from notebooks.panels.words import two_decimals

GREEDY = "greedy"


@dataclass(frozen=True)
class Reshaped:
    """One context under one setting. The distributions are (V,), float64, likeliest token first.

    heated: after temperature alone. sampled: after the filters, renormalised. kept: how many tokens can be drawn.
    """

    heated: Tensor
    sampled: Tensor
    kept: int
    possible: int
    cause: str | None

    @property
    def top(self) -> float:
        return float(self.sampled[0])

    @cached_property
    def thrown_away(self) -> float:
        """The mass that the filters drop, in [0, 1]; exactly 0 when they drop nothing."""
        return float(self.heated[self.kept :].sum())

    @cached_property
    def bits(self) -> float:
        return entropy_bits(self.sampled[: self.kept])

    @property
    def equally_likely(self) -> float:
        """As uncertain as a fair die with this many faces."""
        return 2**self.bits


def reshaped(context: Context, tau: float | str = 1.0, k: int = 0, p: float = 1.0) -> Reshaped:
    """`context` at temperature tau (or `"greedy"`), then top-k (0 = off), then top-p (1 = off)."""
    ranked = context.ranked[None]
    if tau == GREEDY:
        scaled, filtered = ranked, ranked.masked_fill(~top_k_mask(ranked, 1), -torch.inf)
    else:
        scaled, filtered = scale_by_temperature(ranked, tau), filter_logits(ranked, tau, k or None, p)
    kept, possible = (int((logits > -torch.inf).sum()) for logits in (filtered, ranked))
    return Reshaped(
        heated=scaled[0].double().softmax(dim=-1),
        sampled=filtered[0].double().softmax(dim=-1),
        kept=kept,
        possible=possible,
        cause=_cause(tau, k, p, kept) if kept < possible else None,
    )


def setting(tau: float | str, k: int, p: float) -> str:
    """A setting in one line: `tau=0.80 k=20 p=0.90`."""
    if tau == GREEDY:
        return _("greedy")
    return f"tau={two_decimals(tau)} k={k or _('off')} p={two_decimals(p)}"


def _cause(tau: float | str, k: int, p: float, kept: int) -> str:
    if tau == GREEDY:
        return _("greedy")
    return f"top-k = {k}" if kept == k else f"top-p = {two_decimals(p)}"


@dataclass(frozen=True)
class Tally:
    """Draws by inversion: how often each rank was hit (V,), and the rank of the last hit."""

    hits: Tensor
    last: int


def tally(sampled: Tensor, uniforms: Tensor) -> Tally:
    """Each uniform in [0, 1) is a dart at the ruler that `sampled` cuts into tokens; at least one is thrown."""
    # Rounding may end the ruler just below 1; a dart beyond the end still hits the last token that can be drawn.
    last_token = int(sampled.count_nonzero()) - 1
    ranks = torch.searchsorted(sampled.cumsum(dim=-1), uniforms, right=True).clamp(max=last_token)
    return Tally(ranks.bincount(minlength=len(sampled)), int(ranks[-1]))
