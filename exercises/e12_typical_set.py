"""What is typical, by hand.

Four tokens have the probabilities 0.5, 0.25, 0.125, 0.125. Give the surprise of each in bits, the entropy in bits (the
mean of the surprises, each weighed by its probability), and how far each surprise lies from the entropy. Then say which
tokens typical sampling keeps for each mass: a set of ranks such as {1, 2}, the likeliest being 1; of two equally near
ones, the one with the lower rank comes first. Tolerance 0.005.
"""

objective = "Find what min-p and typical sampling keep"
difficulty = 3
minutes = 8
hints = (
    "0.5 is one coin toss, 0.25 two, 0.125 three: so many bits.",
    "The nearest surprise comes first. A token stays if the mass of those before it is below the wanted mass.",
    "Two tokens are equally far away: the one with the lower rank comes first.",
)

typical_set: dict[str, float | list[float] | set[int]] = {
    "surprises": [..., ..., ..., ...],
    "entropy": ...,
    "distances": [..., ..., ..., ...],
    "ranks at mass 0.2": ...,
    "ranks at mass 0.75": ...,
    "ranks at mass 0.8": ...,
}
