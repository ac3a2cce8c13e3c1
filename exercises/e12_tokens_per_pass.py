"""How many tokens does one pass give?

A draft guesses `guesses` tokens, and one pass of the target judges them in order. Each is accepted with probability
`rate`, whatever happened before; after the first refusal the rest is thrown away. The pass always gives one token of
its own: in the place of the refused one, or after the last if all were accepted. How many tokens is that on average?
"""

objective = "Predict how many tokens a pass of the target gives"
difficulty = 3
minutes = 8
hints = (
    "How likely is it that the first guess is kept? The first two? The first k?",
    "The mean of a count is the sum, over k, of the probability that it is at least k.",
    "If you use the closed form of the geometric series, look at what it does at rate 1.",
)


def tokens_per_pass(rate: float, guesses: int) -> float:
    """The mean number of tokens a pass, its own one included; rate in [0, 1], guesses >= 0."""
    raise NotImplementedError
