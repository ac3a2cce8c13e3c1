"""Padding with the end.

Prompts of different lengths become one batch: ids (B, T) and mask (B, T), both int64, padded on the left with `pad`
to the longest prompt. The mask is 1 for text and 0 for padding. As so often, pad is also the end of text, and the
prompts may hold it: between two examples, at their end, and even in front. What was part of a prompt is text.
"""

from torch import Tensor

objective = "Pad a batch where pad is the end"
difficulty = 3
minutes = 10
hints = (
    "Take the prompts [7, 5] and [7] with pad = 7, and pad them by hand. Can you tell padding by its id?",
    "You know how long each prompt is while you pad it. Afterwards nobody knows.",
    "For each prompt: gap = width - len(prompt); ids are [pad] * gap + prompt, the mask is [0] * gap + [1] * the rest.",
)


def pad_left(prompts: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """The prompts (at least one, none empty) as ids (B, T) and mask (B, T), int64, padded on the left."""
    raise NotImplementedError
