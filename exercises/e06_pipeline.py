"""The pipeline: temperature, then top-k, then top-p.

Give the distribution that the next token is drawn from. First divide by the temperature. Then keep the
`top_k` largest. Then renormalise what is left and keep its nucleus: a token stays if the mass before it is
below `top_p`. None switches a filter off. Ties go to the lower id. Renormalise at the end.
"""

from torch import Tensor

objective = "Apply temperature, top-k and top-p in the right order"
difficulty = 4
minutes = 20
hints = (
    "Sort once: neither the temperature nor a filter changes the order of the tokens.",
    "Rank 0, 1, 2, ... decides top-k. Set what it drops to probability 0 and divide by the sum before you go on.",
    "Then the mass before each rank decides top-p. scatter brings the result back to the order of the ids.",
)


def next_token_probs(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """Distribution (B, V) after temperature, top-k and top-p, from logits (B, V); 0 for dropped tokens."""
    raise NotImplementedError
