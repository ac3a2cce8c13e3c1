"""The response mask: which tokens are the model's own?

Each row of `sequences` (B, T) holds a prompt of `prompt_len` tokens and then what the model wrote: text up to
and with the first `stop` token, and padding after that. Give True for the tokens that the model chose, and
they include the stop token; False for the prompt and for what comes after the stop. A stop token inside the
prompt ends nothing.
"""

from torch import Tensor

objective = "Tell the model's tokens from prompt and padding"
difficulty = 3
minutes = 10
hints = (
    "Look at the part after the prompt only, and put the prompt's False in front at the end.",
    "A token is the model's own if no stop stands before it in that part.",
    "The running count of stops, minus the token's own, is the number before it.",
)


def response_mask(sequences: Tensor, prompt_len: int, stop: int) -> Tensor:
    """True on generated tokens up to and with the first stop: sequences (B, T) -> bool (B, T)."""
    raise NotImplementedError
