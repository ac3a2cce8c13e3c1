"""The same settings in another program.

The probabilities are (0.5, 0.3, 0.15, 0.05), and somebody asks for temperature 2 and top_p = 0.7. This course applies
the temperature first. Another program applies top-p first, renormalises, and then the temperature. Give the four
probabilities of both, right to two decimals (tolerance 0.005). Use the computer if you like.
"""

objective = "Compute what another order of the filters gives"
difficulty = 3
minutes = 8
hints = (
    "Temperature 2 takes the square root of each probability and divides by the sum.",
    "Here: the nucleus of the heated (0.379, 0.294, 0.208, 0.120). Three tokens are needed for 0.7.",
    "There: the nucleus of (0.5, 0.3, 0.15, 0.05) has two tokens. Take the square roots of those two.",
)

other_program: dict[str, list[float]] = {
    "temperature first": [..., ..., ..., ...],
    "top-p first": [..., ..., ..., ...],
}
