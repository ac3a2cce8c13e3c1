"""What does the next step feed?

The text so far is x (B, S), the prompt and what was written. `cache.length` says how many of its tokens the cache
has read; cache is None where there is none. Give back what the next step feeds to the model, and the cache it goes
with.

With a cache, feed what it has not read. Without one, or if `use_cache` is False, feed the whole text, with None. But
if the text is longer than `max_seq_len`, feed its last `max_seq_len` tokens, with None, whatever there is of a cache.
"""

from types import SimpleNamespace

from torch import Tensor

objective = "Write what the next step feeds, in and past the context"
difficulty = 3
minutes = 10
hints = (
    "There are three cases. Which one must be asked for first?",
    "A text of exactly max_seq_len tokens still fits, and may use its cache.",
    "What a cache has read are the first cache.length columns of x; the prompt may be unread altogether.",
)


def next_generation_input(
    x: Tensor, cache: SimpleNamespace | None, use_cache: bool, max_seq_len: int
) -> tuple[Tensor, SimpleNamespace | None]:
    """The ids to feed, (B, n), and the cache or None: x (B, S), cache.length < S columns of it read."""
    raise NotImplementedError
