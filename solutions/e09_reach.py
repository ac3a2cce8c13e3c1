"""Each layer adds window - 1 tokens, so L layers reach L x (window - 1) + 1, the token itself included.

For Mistral's 32 layers and window of 4,096 that is 131,041, and yet the cache holds 4,096 tokens: what lies further
back has been mixed into younger entries. Nothing is fed twice, since positions go on and no entry goes stale.

The small ones are computed by following the mask from layer to layer, the cache is a real one.
"""

import torch

from llm_gen import KVCache, token_passes
from llm_gen.attention import build_mask
from solutions.vocabulary import Numbers

LAYERS, WINDOW = 3, 4
NAMES = (
    "tokens it depends on: 1 layer, window 4",
    "tokens it depends on: 3 layers, window 4",
    "tokens it depends on: 32 layers, window 4,096",
    "tokens in the cache: window 4,096, text of 10,000",
    "tokens fed: 500 after 500, window 256",
)


def reach() -> dict[str, int]:
    depths = followed(1, WINDOW), followed(LAYERS, WINDOW), depth(32, 4096)
    return table(*depths, kept(4096, 10_000), token_passes(500, 500, True))


def table(*values: int) -> dict[str, int]:
    return dict(zip(NAMES, values))


def depth(layers: int, window: int) -> int:
    return layers * (window - 1) + 1


def followed(layers: int, window: int) -> int:
    """The same by passing the mask on from layer to layer in a long text."""
    columns = torch.arange(2 * depth(layers, window))
    mask = build_mask(columns, columns, None, window)[0, 0].double()
    return int((torch.linalg.matrix_power(mask, layers)[-1] > 0).sum())


def kept(window: int, length: int) -> int:
    """Columns that a ring holds after so many tokens."""
    cache = KVCache(1, 1, 1, 1, max_length=length, window=window, device="meta")
    new = torch.empty(1, 1, length, 1, device="meta")
    cache.update(0, new, new)
    return cache.keys.shape[3]


check_numbers = Numbers(reach)
variants = (
    ("3 layers, window 4", "LAYERS, WINDOW = 3, 4"),
    ("5 layers, window 4", "LAYERS, WINDOW = 5, 4"),
    ("6 layers, window 4", "LAYERS, WINDOW = 6, 4"),
)


def wrong_one_window() -> dict[str, int]:
    """lets every depth see one window, as if deeper layers did not look at what others have mixed"""
    return reach() | dict(zip(NAMES[1:3], (WINDOW, 4096)))


def wrong_whole_windows() -> dict[str, int]:
    """multiplies layers and window, and so counts the token itself once a layer"""
    return reach() | dict(zip(NAMES[1:3], (LAYERS * WINDOW, 32 * 4096)))


def wrong_without_itself() -> dict[str, int]:
    """leaves out the token itself"""
    return reach() | {name: reach()[name] - 1 for name in NAMES[:3]}


def wrong_powers() -> dict[str, int]:
    """raises the window to the number of layers, but the windows of neighbours overlap"""
    return reach() | dict(zip(NAMES[1:3], (WINDOW**LAYERS, 4096**32)))


def wrong_keeps_all() -> dict[str, int]:
    """keeps the whole text, of which all but the last window is never looked at again"""
    return reach() | {NAMES[3]: 10_000}


def wrong_keeps_the_reach() -> dict[str, int]:
    """keeps as many tokens as the deepest layer depends on, but those were mixed into younger entries"""
    return reach() | {NAMES[3]: depth(32, 4096)}


def wrong_feeds_windows_again() -> dict[str, int]:
    """feeds the window again at every step, as one must where a context is full"""
    return reach() | {NAMES[4]: token_passes(500, 500, True, 256)}


def wrong_no_cache() -> dict[str, int]:
    """counts as if there were no cache"""
    return reach() | {NAMES[4]: token_passes(500, 500, False)}


def wrong_feeds_the_last() -> dict[str, int]:
    """feeds the last token too, although nothing is predicted from it"""
    return reach() | {NAMES[4]: 1000}


def wrong_keeps_the_ones_before() -> dict[str, int]:
    """keeps the tokens before it and forgets the newest, which has an entry of its own"""
    return reach() | {NAMES[3]: 4095}


def right_by_hand() -> dict[str, int]:
    return table(4, 10, 131_041, 4096, 999)
