"""Min-p: a bar that moves with the likeliest token.

Keep the tokens that have at least `share` of the likeliest token's probability, in each row by itself; a token
exactly at the bar stays. Divide what is left by its sum, and give 0 for the others.
"""

from torch import Tensor

objective = "Find what min-p and typical sampling keep"
difficulty = 2
minutes = 8
hints = (
    "amax(dim=-1, keepdim=True) gives the largest probability of each row, as a column.",
    "The bar is share times that; torch.where writes 0 below it.",
)


def keep_min_p(probs: Tensor, share: float) -> Tensor:
    """What min-p keeps of each row, renormalised: probs (B, V) -> (B, V), 0 for dropped tokens. share in (0, 1]."""
    raise NotImplementedError
