"""Which neighbours may change places?

Two steps stand side by side, each renormalises what it leaves. Somebody swaps them. What can happen to the
distribution, for some logits and settings? Give the letter of one option for each pair.
"""

objective = "Tell which pairs of filters may change places"
difficulty = 2
minutes = 5
hints = (
    "Which step looks only at who is before whom? Which one looks at probabilities?",
    "Temperature keeps the order and changes the probabilities. Does top-k notice? Does top-p?",
    "Renormalising after top-k raises each probability. Then top-p reaches its threshold sooner.",
)
options = {
    "a": "Nothing: the same distribution comes out.",
    "b": "The same tokens stay, with other probabilities.",
    "c": "Other tokens may stay.",
}

which_may_swap: dict[str, str] = {
    "temperature and top-k": ...,
    "temperature and top-p": ...,
    "top-k and top-p": ...,
    "top-k = 5 and top-k = 2": ...,
}
