"""Who predicts what?

A model with causal attention has read four tokens, The, kite, flew and over, in one pass, and gave four rows of
logits, one for each position. Complete each line with the letter of one option.
"""

objective = "Explain why only the last position chooses the next token"
difficulty = 2
minutes = 5
hints = (
    "The row at a position scores the token that comes right after it.",
    "Causal attention: a position sees itself and what stands before it, never what comes later.",
    "Training knows the whole text, so every row can be compared with the token that really came. Writing does not.",
)
options = {
    "a": "the token after kite, although the text has it already",
    "b": "the token after over, which nobody has written yet",
    "c": "The and kite",
    "d": "The, kite, flew and over",
    "e": "every row, since each next token is known",
    "f": "the last row only",
}

last_position: dict[str, str] = {
    "row 2 predicts": ...,
    "row 4 predicts": ...,
    "row 2 has seen": ...,
    "row 4 has seen": ...,
    "writing uses": ...,
    "training uses": ...,
}
