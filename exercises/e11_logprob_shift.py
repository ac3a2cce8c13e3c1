"""Log-probs, shifted by one.

A model read `ids` (B, T) and gave `logits` (B, T, V). The logits at position t speak of the token at t + 1.
Give the log-probability of every token but the first, float32, so entry t belongs to the token at t + 1.
"""

from torch import Tensor

objective = "Compute the log-probs of given tokens"
difficulty = 3
minutes = 10
hints = (
    "Nothing predicts the first token, and nothing is predicted from the last: one of each is left out.",
    "log_softmax over the vocabulary, then pick the entry of the token that really came: gather.",
    "gather wants the ids as (B, T - 1, 1): ids[:, 1:, None].",
)


def token_log_probs(logits: Tensor, ids: Tensor) -> Tensor:
    """log p(ids[:, t + 1] | ids up to t): logits (B, T, V), ids (B, T) -> float32 (B, T - 1)."""
    raise NotImplementedError
