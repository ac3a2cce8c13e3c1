"""Token passes when the context is full.

Count the tokens that generation feeds to a model which reads at most `max_seq_len` of them. As long as the
text fits, a step feeds the whole text without a cache, and only what is new with one. Once the text is
longer, every step feeds the last `max_seq_len` tokens, cache or not, because all positions have shifted. The
last token is never fed.
"""

objective = "Count the work when the context is full"
difficulty = 3
minutes = 12
hints = (
    "Write it as a loop over the steps: the text has prompt_len tokens in the first, one more in each later one.",
    "With a cache, keep a count of the tokens that it has read; a step feeds the text's length minus that count.",
    "A text of exactly max_seq_len tokens still fits.",
)


def window_passes(prompt_len: int, new_tokens: int, use_cache: bool, max_seq_len: int) -> int:
    """Tokens fed to generate `new_tokens` after `prompt_len`, each step seeing at most the last `max_seq_len`."""
    raise NotImplementedError
