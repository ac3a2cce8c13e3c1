"""How likely is this continuation?

A model has read the whole text ids (T,), prompt and continuation, in one pass, and gave logits (T, V): the row
at position t scores the token at position t + 1. Give the log-probability (natural logarithm) of the
continuation, which is everything from position `prompt_len` on, given the prompt. An empty continuation has
probability 1.
"""

from torch import Tensor

objective = "Compute the log-probability of a continuation"
difficulty = 3
minutes = 12
hints = (
    "By the chain rule the log-probabilities of the single tokens add up.",
    "The first token of the continuation is scored by the last row of the prompt, row prompt_len - 1.",
    "Take log_softmax of rows prompt_len - 1 to T - 2, pick the entries of ids[prompt_len:], and sum.",
)


def continuation_log_prob(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """log p(ids[prompt_len:] | ids[:prompt_len]): logits (T, V), ids (T,), 1 <= prompt_len <= T."""
    raise NotImplementedError
