"""The budget.

A model has a context of `context` tokens, and prompt and answer must fit into it together. Several prompts of the
lengths `prompt_lens` (at least one) are written on in one batch. How many new tokens may the loop make, if the caller
asks for `max_new_tokens` and nothing may fall out of the context in any row? If there is no room for a single new
token, raise a ValueError.
"""

objective = "Compute the budget that a prompt leaves"
difficulty = 2
minutes = 8
hints = (
    "One prompt of 1,000 tokens in a context of 1,024: how many more fit? And if the caller asks for 256, or for 10?",
    "The rows of a batch grow together. Which prompt leaves least?",
    "room = context minus the longest prompt; below 1 raise; else the smaller of room and max_new_tokens.",
)


def new_token_budget(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """The most new tokens a batch may get, at most `max_new_tokens`; ValueError where the context leaves none."""
    raise NotImplementedError
