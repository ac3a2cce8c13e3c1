"""Two equal logits: the limits of the temperature.

The logits are (1, 1, 0). Which distribution do you get at temperature 1, which one as the temperature goes to
0, and which one as it grows without end? Give three probabilities each, right to two decimals (tolerance
0.005).
"""

objective = "Derive both limits of the temperature, also with ties"
difficulty = 2
minutes = 6
hints = (
    "At temperature 1 the weights are e, e and 1.",
    "As the temperature goes to 0 only the largest logits survive. How many of them are there here?",
    "As it grows without end all logits divided by it go to 0, and all weights to 1.",
)

tie_limits: dict[str, list[float]] = {
    "temperature 1": [..., ..., ...],
    "to 0": [..., ..., ...],
    "to infinity": [..., ..., ...],
}
