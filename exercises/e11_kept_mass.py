"""Filtered and full, by hand.

After *The kite flew over the* come roof 0.5, hill 0.3, sea 0.15, piano 0.05. Three texts are drawn at τ = 1 with
top_p = 0.7, one word each: roof, hill, roof. Give their log-probs (natural logarithm) under the distribution that
they were drawn from, and under the whole softmax; the mass that the filter kept; and the ratio full / filtered of
a text of three such words, where each probability is multiplied (tolerance 0.002).
"""

objective = "Relate filtered and full log-probs by the kept mass"
difficulty = 2
minutes = 8
hints = (
    "The nucleus for 0.7 holds roof and hill. The distribution drawn from divides both by their sum.",
    "log(0.5 / m) is log 0.5 - log m: the two log-probs of a token differ by the same number, whatever the token.",
    "One word has the ratio 0.5 / 0.625. Three words multiply three of them.",
)

kept_mass: dict[str, float | list[float]] = {
    "filtered": [..., ..., ...],
    "full": [..., ..., ...],
    "kept mass": ...,
    "ratio of three words": ...,
}
