"""Key j is seen by the query at position p if p - window < j <= p: a band of `window` diagonals.

Nothing in it depends on how the keys are stored, so the same rule serves the whole text at once, a piece of it, and
one new token before a cache. The usual mistake is one token too many: a window of 4 is the token and three before it.
"""

import torch
from torch import Tensor

from llm_gen.attention import build_mask
from solutions.vocabulary import Check, Whole, fails


def sliding_mask(num_queries: int, num_keys: int, window: int) -> Tensor:
    """bool (num_queries, num_keys), True where the query sees the key: 1 <= num_queries <= num_keys, window >= 1."""
    queries = torch.arange(num_keys - num_queries, num_keys)[:, None]
    keys = torch.arange(num_keys)
    return (keys <= queries) & (keys > queries - window)


def enough_keys(num_queries: int, num_keys: int, window: int) -> bool:
    return num_queries <= num_keys


check_masks = Check(
    sliding_mask,
    num_queries=Whole(1, 5),
    num_keys=Whole(1, 7),
    window=Whole(1, 8),
    examples=[
        (4, 4, 2),
        (1, 5, 3),
        (2, 5, 3),
        (5, 5, 1),
        (3, 3, 8),
        (3, 20, 12),
        (3, 20, 3),
    ],
    valid=enough_keys,
)


def wrong_one_more(num_queries: int, num_keys: int, window: int) -> Tensor:
    """sees `window` tokens and itself besides, which is one too many"""
    return sliding_mask(num_queries, num_keys, window + 1)


def wrong_causal_only(num_queries: int, num_keys: int, window: int) -> Tensor:
    """forgets the window and sees everything before"""
    return sliding_mask(num_queries, num_keys, num_keys + 1)


def wrong_looks_ahead(num_queries: int, num_keys: int, window: int) -> Tensor:
    """forgets that later tokens are hidden"""
    queries = torch.arange(num_keys - num_queries, num_keys)[:, None]
    return torch.arange(num_keys) > queries - window


def wrong_both_sides(num_queries: int, num_keys: int, window: int) -> Tensor:
    """opens the window to both sides"""
    queries = torch.arange(num_keys - num_queries, num_keys)[:, None]
    return (torch.arange(num_keys) - queries).abs() < window


def wrong_no_offset(num_queries: int, num_keys: int, window: int) -> Tensor:
    """counts the queries from position 0, as if nothing stood before them"""
    queries = torch.arange(num_queries)[:, None]
    keys = torch.arange(num_keys)
    return (keys <= queries) & (keys > queries - window)


def wrong_blind_to_itself(num_queries: int, num_keys: int, window: int) -> Tensor:
    """sees the tokens before it and not itself"""
    queries = torch.arange(num_keys - num_queries, num_keys)[:, None]
    keys = torch.arange(num_keys)
    return (keys < queries) & (keys >= queries - window)


def wrong_hidden(num_queries: int, num_keys: int, window: int) -> Tensor:
    """is True where a key is hidden"""
    return ~sliding_mask(num_queries, num_keys, window)


def wrong_blocks(num_queries: int, num_keys: int, window: int) -> Tensor:
    """cuts the text into blocks of `window` tokens, and sees its own block only"""
    queries = torch.arange(num_keys - num_queries, num_keys)[:, None]
    keys = torch.arange(num_keys)
    return (keys <= queries) & (keys // window == queries // window)


def wrong_last_keys(num_queries: int, num_keys: int, window: int) -> Tensor:
    """lets every query see the last `window` keys of the text, instead of those before itself"""
    keys = torch.arange(num_keys).expand(num_queries, num_keys)
    return (keys >= num_keys - window) & sliding_mask(num_queries, num_keys, num_keys)


def wrong_turned(num_queries: int, num_keys: int, window: int) -> Tensor:
    """gives keys as rows and queries as columns"""
    return sliding_mask(num_queries, num_keys, window).T


@fails("dtype")
def wrong_numbers(num_queries: int, num_keys: int, window: int) -> Tensor:
    """gives 0 and 1 as numbers; a mask is made of True and False"""
    return sliding_mask(num_queries, num_keys, window).float()


def right_triangles(num_queries: int, num_keys: int, window: int) -> Tensor:
    offset, ones = num_keys - num_queries, torch.ones(num_queries, num_keys, dtype=torch.bool)
    return ones.tril(offset) & ones.triu(offset - window + 1)


def right_loop(num_queries: int, num_keys: int, window: int) -> Tensor:
    rows = []
    for position in range(num_keys - num_queries, num_keys):
        rows.append([position - window < key <= position for key in range(num_keys)])
    return torch.tensor(rows)


def right_library(num_queries: int, num_keys: int, window: int) -> Tensor:
    columns = torch.arange(num_keys)
    return build_mask(columns[-num_queries:], columns, None, window)[0, 0]
