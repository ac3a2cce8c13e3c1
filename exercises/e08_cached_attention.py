"""Attention with an offset.

With a cache there are fewer queries than keys: the T queries are the last T of S positions. Write causal
attention for them: query i stands at position S - T + i and sees the keys up to and with its own position.
Scores are divided by the square root of the head size, and the softmax runs over the keys.
"""

from torch import Tensor

objective = "Write attention over a cache with the right mask"
difficulty = 4
minutes = 20
hints = (
    "With one query and a full cache nothing is hidden. With T = S it is the usual triangle. What is it in between?",
    "Compare positions: key j is visible to query i if j <= S - T + i.",
    "Two aranges, one of them as a column, give the mask (T, S); masked_fill the scores with -inf before the softmax.",
)


def attend(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Causal attention of the last T of S positions: queries (B, H, T, d), keys and values (B, H, S, d)."""
    raise NotImplementedError
