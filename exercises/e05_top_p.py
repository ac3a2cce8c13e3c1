"""Top-p: keep the nucleus, renormalise the rest away.

Write the function of the chapter for a batch of distributions (B, V), in any order. In each row, from the
likeliest token downwards, a token stays if the mass before it is below top_p; of two equal ones the lower id
comes first. Give back the probabilities (B, V) in the original order: 0 for dropped tokens, each row summing
to 1.
"""

from torch import Tensor

objective = "Implement top-p filtering exactly"
difficulty = 3
minutes = 15
hints = (
    "Sort each row downwards and remember where each token came from; with stable=True equal tokens keep their order.",
    "The mass before a token is the running sum minus the token's own probability.",
    "scatter(dim, index, source) is the way back: it writes sorted entries to their original places.",
)


def keep_top_p(probs: Tensor, top_p: float) -> Tensor:
    """The nucleus of each row, renormalised: probs (B, V) -> (B, V), 0 for dropped tokens. top_p in (0, 1]."""
    raise NotImplementedError
