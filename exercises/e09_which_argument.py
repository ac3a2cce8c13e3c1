"""Which argument holds?

A text has grown one token longer than the context. Somebody drops the first token from the cache and goes on. Two
arguments say that what is left in the cache is wrong:

1. positions: all tokens have moved one position forward, and what was computed with the old positions does not
   fit the new ones;
2. depth: what is left was computed while the dropped token could be seen.

Which of them holds for each model, compared with reading the window afresh? Rotary positions turn queries and keys,
a score depends on the difference of two positions only, and what is new is counted on from the old. The last model
was trained with a sliding window as long as the context, and reading afresh means reading the whole text with that
window. Give the letter of one option.
"""

objective = "Say which argument against the old cache holds for which model"
difficulty = 4
minutes = 10
hints = (
    "Positions that are added to the tokens are a part of every key and value. Rotary ones come in as differences.",
    "With one layer, keys and values are made of the token alone. Who has looked at the dropped token then?",
    "A model with a sliding window is meant to see so far and no further in each layer; its positions go on counting.",
)
options = {
    "a": "Both.",
    "b": "Only the first, positions.",
    "c": "Only the second, depth.",
    "d": "Neither: the cache may go on.",
}

which_argument: dict[str, str] = {
    "learned positions, several layers": ...,
    "learned positions, one layer": ...,
    "rotary positions, several layers": ...,
    "rotary positions, one layer": ...,
    "no positions, several layers": ...,
    "rotary positions, several layers, sliding window": ...,
}
