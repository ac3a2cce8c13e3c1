"""What a fixed k throws away.

For each row of a batch of distributions (B, V), in any order, give the probability that top-k takes away from the
tokens it drops: the sum of all but the `top_k` largest. A top_k above V throws nothing away.
"""

from torch import Tensor

objective = "Measure what a fixed k costs in sure and unsure contexts"
difficulty = 2
minutes = 8
hints = (
    "Sort each row downwards. Which part of the sorted row is dropped?",
    "Slicing from top_k on is harmless when top_k is larger than V: the slice is empty, and its sum is 0.",
    "sort(dim=-1, descending=True).values, then [:, top_k:], then a sum over the last axis.",
)


def mass_lost(probs: Tensor, top_k: int) -> Tensor:
    """The mass outside the `top_k` likeliest tokens of each row: probs (B, V) -> (B,). top_k >= 1."""
    raise NotImplementedError
