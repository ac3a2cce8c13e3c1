"""The ratio of two probabilities.

Two tokens have the logits 2 and 1. How many times likelier is the first than the second at each temperature?
The other tokens do not matter, and that is the point. Tolerance 0.01.
"""

objective = "Explain what the temperature does to the ratio of two probabilities"
difficulty = 1
minutes = 4
hints = (
    "Write both probabilities with the same denominator, and divide.",
    "The denominator cancels: what is left is exp(a / temperature) / exp(b / temperature).",
    "That is exp((a - b) / temperature), and here a - b = 1.",
)

ratio: dict[str, float] = {
    "temperature 1": ...,
    "temperature 0.5": ...,
    "temperature 2": ...,
}
