"""Spot the wrong rule.

Four programs decide which tokens stay in top-p. The probabilities p are sorted downwards and c is their
running sum:

    rule A    keep where c - p < top_p
    rule B    keep where c <= top_p, and always the first
    rule C    keep where c - p <= top_p
    rule D    keep where p >= 1 - top_p, and always the first

Say of each rule what it does: give the letter of one option.
"""

objective = "Tell the top-p rule from its look-alikes"
difficulty = 2
minutes = 6
hints = (
    "Try p = (0.5, 0.25, 0.125, 0.125) with top_p = 0.6: the smallest set that reaches 0.6 has two tokens.",
    "Then top_p = 0.5: one token is enough. Which rule keeps two?",
    "A rule that looks at single probabilities cannot know how much mass has been collected.",
)
options = {
    "a": "It is right: the smallest set of likeliest tokens that reaches top_p.",
    "b": "It drops the token that crosses top_p, so it keeps less than top_p.",
    "c": "It keeps one token too many when the running sum hits top_p exactly.",
    "d": "It looks at single probabilities, so its mass may be far from top_p.",
    "e": "It keeps everything.",
}

wrong_rule: dict[str, str] = {
    "rule A": ...,
    "rule B": ...,
    "rule C": ...,
    "rule D": ...,
}
