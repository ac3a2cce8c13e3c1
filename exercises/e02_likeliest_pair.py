"""Better than greedy.

A text is two tokens long. `first` (V,) holds the probabilities of the first token, row i of `second` (V, V) those
of the second token after first token i. Give the ids of the likeliest text, [first token, second token]. Greedy
decoding often finds it, but not always: write a function that always does.
"""

from torch import Tensor

objective = "Find the likeliest text where greedy misses it"
difficulty = 2
minutes = 8
hints = (
    "The probability of a text is a product: that of its first token times that of the second after it.",
    "first[:, None] * second is the table (V, V) of all texts.",
    "argmax of that table gives a flat index: row = index // V, column = index % V.",
)


def likeliest_pair(first: Tensor, second: Tensor) -> Tensor:
    """The ids of the likeliest two tokens: first (V,), second (V, V) -> int64 (2,)."""
    raise NotImplementedError
