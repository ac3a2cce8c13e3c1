"""Softmax with temperature.

Write the distribution softmax(logits / temperature) over the last axis, for logits of any shape (..., V): one row
(V,), a batch of rows (B, V), or more axes in front. Logits may be large, such as 1000, and some may be -inf; the
result must still be finite and sum to 1. Do not call a ready-made softmax: build it from exp.
"""

from torch import Tensor

objective = "Compute the next-token distribution at any temperature"
difficulty = 2
minutes = 10
hints = (
    "exp(1000) overflows. What may you subtract from every logit of a row without changing the result?",
    "Divide by the temperature first, then subtract the largest entry of each row: then every exponent is at most 0.",
    "amax(dim=-1, keepdim=True) is the largest entry of each row, in a shape that subtracts row by row.",
)


def softmax_with_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Probabilities of the shape and dtype of `logits` (..., V); each row sums to 1. temperature > 0."""
    raise NotImplementedError
