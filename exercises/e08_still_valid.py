"""What stays valid?

A model of several layers with causal attention has read the five tokens of a text and keeps the keys and values of
each layer. Position vectors are learned, and added to the tokens at the entrance. Then something happens to the
text. Which of the kept entries are still what a fresh computation would give? Give the letter of one option for
each line.
"""

objective = "Say when kept keys and values stay valid"
difficulty = 3
minutes = 8
hints = (
    "In the first layer a key is made of its own token and its own position, and of nothing else.",
    "What enters a deeper layer has looked at other tokens: which ones, if attention is causal?",
    "Without the mask every token looks at every other. And a token in front moves all the others to new positions.",
)
options = {
    "a": "All entries of the tokens that are still there.",
    "b": "In the first layer all but those of token 3; in deeper layers those of tokens 1 and 2.",
    "c": "In every layer those of tokens 1 and 2 only.",
    "d": "In every layer all but those of token 3.",
    "e": "Those of the first layer only.",
    "f": "None.",
}

still_valid: dict[str, str] = {
    "a sixth token is appended": ...,
    "token 5 is taken back": ...,
    "token 3 is replaced": ...,
    "a token is put in front of token 1": ...,
    "a sixth token is appended, and attention is not causal": ...,
}
