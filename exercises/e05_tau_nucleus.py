"""When does the nucleus grow?

The distribution is (0.5, 0.3, 0.15, 0.05) and top_p is 0.9, so the nucleus has three tokens. Raise the
temperature: from which temperature on has it four? Give one number (tolerance 0.01). Use the computer if you
like.
"""

objective = "Explain how temperature and top-p act together"
difficulty = 3
minutes = 10
hints = (
    "The fourth token enters when the mass of the first three falls to top_p.",
    "At a temperature t the probabilities are proportional to p ** (1 / t).",
    "At 1.5 the first three have 0.909, at 2 they have 0.880: the answer lies between. Bisect, or try values.",
)

tau_nucleus: float = ...
