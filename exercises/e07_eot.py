"""Waiting for 50256.

A program was written for GPT-2: it calls our `generate` with 50256, the end of text of GPT-2, as the one id that ends
a row. Then other models, prompts and settings are tried with it. What happens in each case? Give the letter of one
option.
"""

objective = "Explain why the end id must be the model's own"
difficulty = 2
minutes = 6
hints = (
    "First question: is 50256 in the vocabulary? With V tokens, the ids are 0 to V - 1.",
    "Second question: does the model write this id, and does it mean the end where it does?",
    "Only a token that was written by the model ends a row; and without an id to wait for, nothing does.",
)
options = {
    "a": "A text ends where the model means it to end.",
    "b": "No text ends: each runs on until the budget is used up.",
    "c": "A text is cut off in its middle.",
    "d": "An error before the first step: there is no such id.",
    "e": "Nothing is written at all.",
}

eot: dict[str, str] = {
    "GPT-2: 50,257 tokens, ends with 50256": ...,
    "GPT-2, and the prompt has a 50256 between two examples": ...,
    "a model like GPT-2, trained on texts without any end": ...,
    "GPT-2, but the program is given no end id": ...,
    "tiny: 1,024 tokens, ends with 2": ...,
    "SmolLM2: 49,152 tokens, ends with 2": ...,
    "a model of 128,256 tokens, for which 50256 is a piece of a word": ...,
}
