"""A small risk at every token.

At each token a setting leaves the stories with probability 0.002, whatever came before. How large is the share of
texts without a slip after 100 tokens, and after 200? At which token does the first slip come on average, the token with
the slip counted (a whole number)? And how many slips in 10,000 tokens may a setting make if 95 % of its texts of 100
tokens shall have none (tolerance 0.005)?
"""

objective = "Predict what a small risk per token does to a whole text"
difficulty = 2
minutes = 8
hints = (
    "All tokens must go well: multiply 0.998 as often as there are tokens.",
    "If something happens once in 500 times, how long does one wait for it on average?",
    "Solve (1 - r) ** 100 = 0.95 for r: take the hundredth root. Then count per 10,000 tokens.",
)

survival: dict[str, float | int] = {
    "100 tokens": ...,
    "200 tokens": ...,
    "tokens to the first slip": ...,
    "slips in 10,000": ...,
}
