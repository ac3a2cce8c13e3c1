"""Write into the cache.

`cache.keys` and `cache.values` (B, G, M, d) are allocated once for M tokens; the first `cache.length` of them
are filled. Store the new keys and values (B, G, T, d) behind those, move `cache.length` on, and give back all
keys and values so far. Write into the tensors that are there, do not make new ones. If the new tokens do not
fit, raise ValueError and leave the cache as it is.
"""

from types import SimpleNamespace

from torch import Tensor

objective = "Write the update of a preallocated cache"
difficulty = 3
minutes = 12
hints = (
    "The new tokens go to the places from cache.length to cache.length + T of the third axis.",
    "What comes back ends where the new tokens end; the rest of the buffer holds nothing yet.",
    "cache.keys[:, :, start:end] = keys writes in place. Check `end` against the size of the buffer first.",
)


def update(cache: SimpleNamespace, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Store new keys and values (B, G, T, d); give all keys and values so far, each (B, G, length, d)."""
    raise NotImplementedError
