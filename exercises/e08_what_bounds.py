"""The pace of a step.

A model has 8 billion weights of 2 bytes each. The computer reads 400 GB a second (1 GB is 10^9 bytes) and does
40 × 10^12 operations a second. A pass reads each weight once, however many tokens it feeds, and does 2 operations
for each weight and each token. Reading and computing overlap, so a pass takes as long as the slower of the two.
Leave the cache aside.

How many tokens a second are written with one row, with 16 rows together, and with one row and weights of 1 byte?
How many milliseconds does a prompt of 1,000 tokens take? And with how many tokens in one pass does computing take
as long as reading? Tolerance 0.01.
"""

objective = "Predict the pace of a step from bytes and operations"
difficulty = 3
minutes = 10
hints = (
    "First two times: to read all weights once, and to compute one token.",
    "One token is computed in a hundredth of the time that the weights take. So who waits for whom?",
    "Sixteen rows are sixteen tokens in one pass: the weights are still read once.",
)

what_bounds: dict[str, float] = {
    "tokens a second, one row": ...,
    "tokens a second, 16 rows together": ...,
    "tokens a second, one row, 1 byte a weight": ...,
    "milliseconds for a prompt of 1,000": ...,
    "tokens in a pass where both are equal": ...,
}
