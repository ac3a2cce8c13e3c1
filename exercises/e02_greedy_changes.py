"""What can change a greedy choice?

Greedy takes the token with the largest logit, of equal ones the lower id. Somebody does something to the logits
or to the program first. Does another token come out? Take all sums and quotients as exact. Give the letter of one
option for each.
"""

objective = "Tell what can change a greedy text"
difficulty = 1
minutes = 4
hints = (
    "Greedy asks one thing only: which logit is the largest?",
    "Adding one number to all, dividing all by one positive number, raising e to each: does the order change?",
    "Round 2.4, 2.3 and 1.0 to whole numbers. Which of them is the largest now, and where does it stand?",
)
options = {
    "a": "Never: the same token, whatever the logits.",
    "b": "It may: for some logits another token.",
    "c": "Always: another token, whatever the logits.",
}

greedy_changes: dict[str, str] = {
    "5 added to every logit": ...,
    "every logit divided by 2": ...,
    "softmax taken first": ...,
    "another seed": ...,
    "logits rounded to whole numbers": ...,
    "its token banned (logit -inf)": ...,
}
