"""Positions from a mask.

Prompts of different lengths stand in one batch, padded on the left. `mask` (B, T) is 1 for text and 0 for
padding. Give the position of each token: 0, 1, 2, ... counted from the first real token of its row. Padding
gets position 0.
"""

from torch import Tensor

objective = "Compute positions in a padded batch"
difficulty = 2
minutes = 6
hints = (
    "The n-th real token of a row has position n - 1. What counts real tokens from the left?",
    "The running sum of the mask minus 1; look at what it gives for padding.",
)


def positions_from_mask(mask: Tensor) -> Tensor:
    """Position of each token in its own row: mask (B, T) of 0 and 1, padding on the left -> int64 (B, T)."""
    raise NotImplementedError
