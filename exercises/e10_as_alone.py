"""Which batches are safe?

Prompts of different lengths stand in one batch (in one case all have the same length). What happens to a short row?
Give the letter of one option for each case. Positions "by column" are 0, 1, 2, ... from the left edge of the
rectangle; "from the mask" are those of the row itself. Learned positions are added to each token; rotary ones enter
attention as differences of two positions.
"""

objective = "Tell which batches keep each row as it is alone"
difficulty = 3
minutes = 8
hints = (
    "Ask three things: does the row read padding? Are its positions, or their differences, its own? What comes last?",
    "A causal model never looks to the right: what stands behind a token cannot change the logits at that token.",
    "Shift a whole row by two places. Learned positions all change. Differences of positions do not.",
)
options = {
    "a": "It gets what it gets alone.",
    "b": "It gets something else, and nobody notices.",
    "c": "An error before the first step.",
}

as_alone: dict[str, str] = {
    "left, masked, positions from the mask": ...,
    "left, mask forgotten": ...,
    "left, masked, learned positions by column": ...,
    "left, masked, rotary positions by column": ...,
    "right, no mask, writing after the last column": ...,
    "right, no mask, scoring the tokens of the prompt": ...,
    "right, its mask given to generate": ...,
    "all prompts equally long, no mask": ...,
}
