"""Predict, then run: which tokens stay?

The probabilities of the tokens 0, 1, 2, 3 are (0.1, 0.2, 0.3, 0.4). Write down, before you run anything,
which ids stay with top_k = 2 and then top_p = 0.5, and which stay the other way round, top_p = 0.5 and then
top_k = 2. Write sets such as {0, 1}. The check shows what really happens.
"""

objective = "Apply temperature, top-k and top-p in the right order"
difficulty = 2
minutes = 4
hints = (
    "top_k = 2 keeps two tokens. What are their probabilities after renormalising?",
    "0.4 / 0.7 is 0.571, and that alone reaches 0.5. Without renormalising, 0.4 does not.",
)

predict_kept_set: dict[str, set[int]] = {
    "top-k, then top-p": ...,
    "top-p, then top-k": ...,
}
