"""Greedy in disguise.

Somebody samples with `sample_next_token(logits, do_sample=True, ...)`. With which settings is the token the greedy
one, the first maximum, for *all* logits, ties included? Give the list of all letters that fit, such as ["e", "f"].
"""

objective = "Recognise the settings that are greedy decoding in disguise"
difficulty = 2
minutes = 4
hints = (
    "If one token stays, it has probability 1, and no temperature can change that.",
    "A small temperature makes small gaps larger. Can it make a gap of 0 larger?",
    "Which k leaves a single token in each row, whatever the logits are?",
)
options = {
    "a": "top_k = 1",
    "b": "top_k = 1 and temperature = 5",
    "c": "temperature = 0.01",
    "d": "top_k = 2 and temperature = 0.01",
    "e": "top_k = the size of the vocabulary",
    "f": "top_p = 0.01",
}

which_is_greedy: list[str] = ...
