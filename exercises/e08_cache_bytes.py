"""How large is the cache?

A cache keeps a key and a value, `head_size` numbers each, for every layer, every key/value head, every token
and every row of the batch. How many bytes is that?
"""

objective = "Compute the memory of a cache"
difficulty = 1
minutes = 5
hints = (
    "Count the numbers first: for one token of one row and one layer there are two for each entry of each head.",
    "All the sizes are multiplied; nothing is added.",
)


def cache_bytes(
    num_layers: int, num_kv_heads: int, head_size: int, seq_len: int, bytes_per_value: int, batch_size: int
) -> int:
    """Bytes of a cache that holds `seq_len` tokens of each of `batch_size` rows."""
    raise NotImplementedError
