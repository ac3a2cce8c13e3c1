"""While the text fits, a cache feeds each token once; past it every step feeds the window again.

For 500 and 500 in a window of 512 that is 249,856 against 255,922 without a cache: nearly all of the gain is
gone. The loop is the definition; `llm_gen.token_passes` has the sum in closed form, and the two are compared
here.
"""

from llm_gen import token_passes
from solutions.vocabulary import Check, OneOf, Whole


def window_passes(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """Tokens fed to generate `new_tokens` after `prompt_len`, each step seeing at most the last `max_seq_len`."""
    total = read = 0
    for length in range(prompt_len, prompt_len + new_tokens):
        if length > max_seq_len:
            total += max_seq_len
        elif use_cache:
            total += length - read
            read = length
        else:
            total += length
    return total


check_counts = Check(
    window_passes,
    prompt_len=Whole(1, 12),
    new_tokens=Whole(0, 12),
    use_cache=OneOf(True, False),
    max_seq_len=OneOf(100, 8, 4, 1, 13),
    examples=[
        (100, 100, False, 1000),
        (100, 100, True, 1000),
        (500, 500, False, 512),
        (500, 500, True, 512),
        (1500, 10, False, 2048),
        (10, 600, True, 2000),
    ],
)


def wrong_ignores_window(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """forgets the window"""
    return token_passes(prompt_len, new_tokens, use_cache)


def wrong_cache_goes_on(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """lets the cache go on past the window, one token a step"""
    if not use_cache:
        return window_passes(prompt_len, new_tokens, use_cache, max_seq_len)
    return min(prompt_len, max_seq_len) + new_tokens - 1 if new_tokens else 0


def wrong_last_token_too(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """feeds the last token too, although nothing is predicted from it"""
    return window_passes(prompt_len, new_tokens + 1, use_cache, max_seq_len)


def wrong_window_a_step_early(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """takes a text of exactly max_seq_len tokens for too long already"""
    steps = range(prompt_len, prompt_len + new_tokens)
    full = sum(max_seq_len for length in steps if length >= max_seq_len)
    return full + window_passes(prompt_len, sum(length < max_seq_len for length in steps), use_cache, max_seq_len)


def wrong_stops_at_window(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """stops when the window is full"""
    within = max(0, min(new_tokens, max_seq_len - prompt_len + 1))
    return token_passes(prompt_len, within, use_cache)


def wrong_ignores_cache(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """counts as if there were no cache"""
    return window_passes(prompt_len, new_tokens, False, max_seq_len)


def wrong_always_cached(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """counts as if there were always a cache"""
    return window_passes(prompt_len, new_tokens, True, max_seq_len)


def wrong_window_less_one(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """feeds one token less than the window holds"""
    past = sum(length > max_seq_len for length in range(prompt_len, prompt_len + new_tokens))
    return window_passes(prompt_len, new_tokens, use_cache, max_seq_len) - past


def right_library(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    return token_passes(prompt_len, new_tokens, use_cache, max_seq_len)


def right_sums(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    fitting = range(prompt_len, min(prompt_len + new_tokens, max_seq_len + 1))
    first = (fitting[-1] if use_cache else sum(fitting)) if fitting else 0
    return first + (new_tokens - len(fitting)) * max_seq_len
