"""The risk of the tail.

1,000 senseless tokens have a probability of 0.0001 each, at every step. How likely is a senseless token in one
step, and at least one in 50 steps? And after how many steps is it more likely than not that one has come: the
smallest whole number of steps? Tolerance 0.001.
"""

objective = "Compute the risk that a long tail brings"
difficulty = 2
minutes = 6
hints = (
    "The probabilities of tokens that exclude each other add up. Steps do not exclude each other.",
    "All 50 steps must go well: multiply 50 times the probability that one step goes well.",
    "For the last line: the smallest n for which 0.9 ** n is below 0.5.",
)

tail_risk: dict[str, float | int] = {
    "in one step": ...,
    "in 50 steps": ...,
    "steps until likely": ...,
}
