"""What does the temperature do to a distribution?

Match each temperature with what happens to the distribution of a model whose logits are (2, 1, 0). Give the
letter of one option for each.
"""

objective = "Explain what the temperature does to the ratio of two probabilities"
difficulty = 1
minutes = 4
hints = (
    "Two of the options are never true, whatever the temperature.",
    "Ask of each temperature: does the ratio of the first two tokens grow, shrink, or stay e?",
    "Look at the table of the chapter: 0.867 at 0.5, 0.665 at 1, 0.506 at 2.",
)
options = {
    "a": "The distribution is the model's own.",
    "b": "It is sharper: the likeliest token gains, the others lose.",
    "c": "It is flatter: the likeliest token loses, unlikely ones gain.",
    "d": "Only the likeliest token is left.",
    "e": "The order of the tokens turns round.",
    "f": "All tokens are equally likely.",
}

what_tau_does: dict[str, str] = {
    "temperature 0.5": ...,
    "temperature 1": ...,
    "temperature 2": ...,
    "towards 0": ...,
}
