"""The mask of a sliding window.

In sliding-window attention a token sees itself and the `window` - 1 tokens before it, however long the text is. Give
the mask for the last `num_queries` of `num_keys` tokens: True where a query may look at a key. Query i stands at
position num_keys - num_queries + i.
"""

from torch import Tensor

objective = "Write the mask of a sliding window"
difficulty = 2
minutes = 8
hints = (
    "Write the positions of the queries as a column and those of the keys as a row, and compare them.",
    "Two conditions: a key is not after its query, and not too far before it.",
    "With window = 1 a token sees itself and nothing else. Does your mask?",
)


def sliding_mask(num_queries: int, num_keys: int, window: int) -> Tensor:
    """bool (num_queries, num_keys), True where the query sees the key: 1 <= num_queries <= num_keys, window >= 1."""
    raise NotImplementedError
