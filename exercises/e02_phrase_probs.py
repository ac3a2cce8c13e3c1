"""How likely is the phrase, each time?

A text has fallen into a loop. `probs` are the probabilities that the model gave its tokens, one after another. From
position `start` on the text is a phrase of `period` tokens, again and again; the last time it may break off in the
middle. Give the probability of the whole phrase each time that it comes whole: a list of products.
"""

objective = "Measure how a repetition feeds itself"
difficulty = 2
minutes = 8
hints = (
    "By the chain rule of chapter 1, the probability of a phrase is the product over its tokens.",
    "The repetitions begin at start, start + period, start + 2 * period, and so on.",
    "range(start, len(probs) - period + 1, period) gives the beginnings of those that are whole; math.prod multiplies.",
)


def phrase_probs(probs: list[float], start: int, period: int) -> list[float]:
    """The probability of each whole repetition: probs of all tokens, 0 <= start, period >= 1."""
    raise NotImplementedError
