"""Which top_p gives greedy decoding?

The distribution is (0.4, 0.3, 0.2, 0.1). For which values of top_p is the likeliest token the only one that
can be drawn? Give the list of all letters that fit, such as ["e", "f"].
"""

objective = "Predict how many tokens a given top_p keeps"
difficulty = 1
minutes = 3
hints = (
    "The second token stays if the mass before it is below top_p. How large is that mass?",
    "It is 0.4. Is 0.4 below 0.4?",
    "So every top_p up to and including 0.4 keeps one token only.",
)
options = {"a": "0.1", "b": "0.3", "c": "0.4", "d": "0.41", "e": "0.7", "f": "1"}

which_p_is_greedy: list[str] = ...
