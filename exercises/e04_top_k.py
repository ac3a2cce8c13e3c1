"""Top-k: keep exactly k tokens, ties or not.

In each row keep the `top_k` largest logits as they are and set all others to -inf. Of equal logits the lower
id wins, so exactly min(top_k, V) tokens stay, and top_k = 1 is greedy decoding. Do not write to the logits
you are given.
"""

from torch import Tensor

objective = "Implement top-k filtering, with ties"
difficulty = 3
minutes = 12
hints = (
    "Everything below the k-th largest value goes; but what if several tokens are equal to it?",
    "A stable sort keeps equal tokens in the order of their ids: then the first k of the sorted row stay.",
    "Make a mask of False, scatter True to the first k places of the order, and use masked_fill.",
)


def keep_top_k(logits: Tensor, top_k: int) -> Tensor:
    """Logits (B, V) with all but the `top_k` largest of each row at -inf; ties go to the lower id. top_k >= 1."""
    raise NotImplementedError
