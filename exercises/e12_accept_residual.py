"""Speculative decoding: accept, or draw from what is left.

A small model drafts a token with probabilities `draft`; the large model has probabilities `target`. The
drafted token x is accepted with probability min(1, target[x] / draft[x]). If it is refused, another is drawn
from the residual distribution: max(target - draft, 0), renormalised. Give both for all tokens of a row. A
token that is never drafted gets acceptance 1; if the two distributions are equal nothing is ever refused, and
the residual is then `target` itself.
"""

from torch import Tensor

objective = "Explain why speculative decoding keeps the distribution"
difficulty = 4
minutes = 15
hints = (
    "Where draft is 0 the division gives inf or nan. Find out where, and put 1 there.",
    "clamp(max=1) and clamp(min=0) say min(1, ...) and max(..., 0).",
    "The sum of the residual is 0 just when nothing can be refused: use torch.where to give target there.",
)


def accept_and_residual(target: Tensor, draft: Tensor) -> tuple[Tensor, Tensor]:
    """(acceptance, residual), each (B, V), from the distributions target and draft (B, V)."""
    raise NotImplementedError
