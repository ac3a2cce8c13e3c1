"""Text <-> pieces: a word with the space before it, or a run of punctuation. The units a story is made of.

The rule is the one GPT-2's pre-tokenizer uses, so a byte-level tokenizer never merges across two pieces.
"""

import re

PIECE = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s")


def split_pieces(text: str) -> tuple[str, ...]:
    """The pieces of a text; joined they give it back."""
    return tuple(PIECE.findall(text))
