"""How many tokens stay?

A row has six tokens with the logits (4, 3, 3, 3, 1, -inf). How many of them can still be drawn after top-k? Give
whole numbers. "exactly k" is the rule of this course: ties go to the lower id. "at least the k-th" keeps every
token whose logit is at least the k-th largest.
"""

objective = "Predict how many tokens stay, with ties and with any k"
difficulty = 2
minutes = 5
hints = (
    "The second largest logit is 3. How many tokens have a logit of at least 3?",
    "The rule of this course looks at ranks, so it keeps exactly k, as long as there are k tokens.",
    "A logit of -inf is a probability of 0, whatever k is.",
)

how_many_stay: dict[str, int] = {
    "k = 2, exactly k": ...,
    "k = 2, at least the k-th": ...,
    "k = 1, at least the k-th": ...,
    "k = 100, exactly k": ...,
}
