"""Top-k with pencil and paper.

The probabilities of the tokens 0, 1, 2, 3 are (0.1, 0.5, 0.15, 0.25). Give the four probabilities after top-k, in
the order of the ids, right to two decimals (tolerance 0.005).
"""

objective = "Compute by hand the distribution that top-k leaves"
difficulty = 1
minutes = 5
hints = (
    "Which k tokens are the likeliest? All others get 0.",
    "Divide each of those that stay by the sum of those that stay.",
    "For k = 2 the ids 1 and 3 stay, and their sum is 0.75.",
)

by_hand: dict[str, list[float]] = {
    "k = 1": [..., ..., ..., ...],
    "k = 2": [..., ..., ..., ...],
    "k = 3": [..., ..., ..., ...],
}
