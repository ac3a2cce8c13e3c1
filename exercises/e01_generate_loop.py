"""The loop: predict, choose, append.

Write greedy generation in its plainest form. `model(ids)` takes ids (B, T) and gives logits (B, T, V): the
entry at position t scores the token that comes after position t. Feed the whole text each time, take the
likeliest token of each row, append it, and go on until `max_new_tokens` are added. Give back prompt and new
tokens together.
"""

from collections.abc import Callable

from torch import Tensor

objective = "Write the generation loop: predict, choose, append"
difficulty = 2
minutes = 10
hints = (
    "Only the logits of the last position speak of the token that comes next.",
    "argmax over the vocabulary with keepdim=True gives (B, 1), which fits beside the ids.",
    "Inside the loop: logits of the last position, argmax, then ids = torch.cat([ids, token], dim=1).",
)


def generate_greedy(model: Callable[[Tensor], Tensor], ids: Tensor, max_new_tokens: int) -> Tensor:
    """The prompt ids (B, T) followed by `max_new_tokens` greedy tokens: int64 (B, T + max_new_tokens)."""
    raise NotImplementedError
