"""The repetition penalty.

Make tokens that stand in the text already less likely: a positive logit is divided by `penalty`, a negative
one is multiplied by it. Each token is punished once, however often it stands there, and only in its own row.
Do not write to the logits you are given.
"""

from torch import Tensor

objective = "Implement the repetition penalty exactly"
difficulty = 3
minutes = 10
hints = (
    "Dividing a negative logit by a number above 1 makes it larger. That is why the two signs are treated differently.",
    "gather the logits of the ids, change them, scatter them back: what is written twice is written the same.",
)


def penalise(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits (B, V) with the tokens of `ids` (B, T) made less likely, row by row; a new tensor. penalty >= 1."""
    raise NotImplementedError
