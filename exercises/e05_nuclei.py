"""The nuclei of (0.4, 0.3, 0.2, 0.1).

For each top_p: which ranks stay (1 is the likeliest; write them as a set such as {1, 2, 3}), and what are the
four probabilities after renormalising? Two decimals are enough (tolerance 0.005).
"""

objective = "Find the nucleus of a small distribution by hand"
difficulty = 2
minutes = 8
hints = (
    "Write the mass before each token: 0, 0.4, 0.7, 0.9.",
    "A token stays if the mass before it is below top_p; so the token that crosses top_p stays.",
    "Divide what stays by its sum, and give 0 to the others.",
)

nuclei: dict[str, set[int] | list[float]] = {
    "ranks at 0.3": ...,
    "probabilities at 0.3": [..., ..., ..., ...],
    "ranks at 0.5": ...,
    "probabilities at 0.5": [..., ..., ..., ...],
    "ranks at 0.75": ...,
    "probabilities at 0.75": [..., ..., ..., ...],
}
