"""The five steps in order.

One step of generation does five things. Put them in the order in which they happen: a list of letters.
"""

objective = "Name the steps from text to next token in order"
difficulty = 1
minutes = 3
hints = (
    "Which of the steps needs nothing but the text?",
    "The choice needs probabilities, and probabilities are made from the logits of one position.",
    "It begins with the model and ends with a longer text.",
)
options = {
    "a": "Softmax turns the logits of one position into probabilities.",
    "b": "The chosen token is appended to the text.",
    "c": "The model turns the ids into logits for every position.",
    "d": "A token is chosen by its probability.",
    "e": "The logits of the last position are taken.",
}

five_steps: list[str] = [..., ..., ..., ..., ...]
