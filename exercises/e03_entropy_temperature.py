"""A temperature for a wanted entropy.

Write a function that finds the temperature at which softmax(logits / temperature) has the entropy `bits`, in
bits. The logits are a vector (V,); the wanted temperature lies between 0.1 and 10. A relative error of 0.001
is allowed.
"""

from torch import Tensor

objective = "Relate temperature and entropy"
difficulty = 3
minutes = 15
hints = (
    "The entropy grows with the temperature. How do you find where a growing function takes a value?",
    "Bisect: keep an interval that holds the answer, look at its middle, and keep the half that still holds it.",
    "The entropy in bits is -(p * log2(p)).sum(); forty halvings are plenty. For p = 0 the term is 0, not NaN.",
)


def temperature_for_entropy(logits: Tensor, bits: float) -> float:
    """The temperature in 0.1..10 at which the softmax of `logits` (V,) has an entropy of `bits`."""
    raise NotImplementedError
