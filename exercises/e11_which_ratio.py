"""The ratio of a model with itself.

A text was drawn with temperature 0.8 and top_p 0.9, and `rollout` holds both of its log-probs. The model has not
changed since. Five programs compute the ratio exp(new - old) of each token:

    program A    old = rollout.log_probs         new = compute_logprobs(..., temperature=0.8, top_p=0.9)
    program B    old = rollout.log_probs         new = compute_logprobs(..., temperature=0.8)
    program C    old = rollout.full_log_probs    new = compute_logprobs(..., temperature=0.8)
    program D    old = rollout.full_log_probs    new = compute_logprobs(...)
    program E    old = rollout.full_log_probs    new = compute_logprobs(..., temperature=0.8, top_p=0.9)

What comes out? Give the letter of one option for each.
"""

objective = "Find what moves the ratio of a model with itself away from 1"
difficulty = 3
minutes = 8
hints = (
    "Write each side as a distribution: heated or not, filtered or not. Only equal distributions give 1 everywhere.",
    "A filter divides what it keeps by the kept mass, which is at most 1. Which side has been divided?",
    "At 0.8 likely tokens are likelier than at 1, and unlikely ones less likely.",
)
options = {
    "a": "1 for every token.",
    "b": "The kept mass of the token's place: at most 1, for every token.",
    "c": "One over the kept mass: at least 1, for every token.",
    "d": "Below 1 for likely tokens, and for unlikely ones above.",
}

which_ratio: dict[str, str] = {
    "program A": ...,
    "program B": ...,
    "program C": ...,
    "program D": ...,
    "program E": ...,
}
