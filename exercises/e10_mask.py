"""The mask of a padded batch.

`mask` (B, T) is 1 for text and 0 for padding on the left. Attention needs to know, for each row of the batch, which
position may look at which: give a bool tensor (B, T, T) whose entry [b, i, j] is True where position i may look at
position j.

- Nobody looks ahead: j is at most i.
- Nobody looks at padding ...
- ... except that each position may look at itself. So a padding position sees itself alone, and no row of the table
  is empty: the softmax of nothing would be NaN.
"""

from torch import Tensor

objective = "Build the mask of a padded batch"
difficulty = 3
minutes = 12
hints = (
    "Which of the two, the one that looks or the one that is looked at, must not be padding?",
    "positions = torch.arange(T): compare positions[None, :] (the keys j) with positions[:, None] (the queries i).",
    "(causal and key is text) or itself; mask[:, None, :] puts the keys' mask beside all queries of its row.",
)


def padded_causal_mask(mask: Tensor) -> Tensor:
    """True where a position may look: mask (B, T) of 0 and 1, padding on the left -> bool (B, T, T)."""
    raise NotImplementedError
