"""How sure is a share?

Under one setting 40 of 50 stories are true, under another 44 of 50. The standard error of a share p of n texts is
sqrt(p (1 - p) / n); that of a difference is the root of the sum of both squared errors. Give the first share; its
standard error; how many texts would bring that error down to 0.02 (a whole number, with the same share); and by how
many of its standard errors the second share is above the first (tolerance 0.005).
"""

objective = "Read a measured share with its standard error"
difficulty = 2
minutes = 8
hints = (
    "Put p = 0.8 and n = 50 into the formula.",
    "The error shrinks with the root of n: solve 0.02 = sqrt(0.8 * 0.2 / n) for n.",
    "The second share has its own error. Divide the difference 0.08 by the root of the sum of the squares of both.",
)

error_bars: dict[str, float | int] = {
    "share": ...,
    "standard error": ...,
    "texts for 0.02": ...,
    "difference in errors": ...,
}
