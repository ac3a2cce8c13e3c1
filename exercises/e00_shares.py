"""From weights to shares.

Some weights are given, whole numbers above 0. Give each weight's share of the whole, in the same order: numbers
that add up to 1. So [5, 3, 2] gives [0.5, 0.3, 0.2].
"""

objective = "Check an answer, and read what the check says"
difficulty = 1
minutes = 3
hints = (
    "What must all shares add up to, whatever the weights are?",
    "Find the sum of the weights first, then divide each weight by it.",
    "[weight / total for weight in weights]",
)


def shares(weights: list[int]) -> list[float]:
    """Each weight's share of their sum, in the same order. weights: whole numbers above 0, at least one."""
    raise NotImplementedError
