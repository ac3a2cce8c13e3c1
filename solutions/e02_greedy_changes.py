"""Only what changes the order at its top changes a greedy choice.

Adding one number, dividing by a positive one and the softmax keep the order, and there is no dice for a seed to
load. Rounding makes ties of what was nearly equal, and of equal logits the lower id wins: so the same model in
fewer digits, or on another machine, may write another text. A ban takes the winner away whatever it was.

The key is computed: each change is tried on rows with a clear winner and on rows with a narrow one.
"""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from llm_gen import sample_next_token
from solutions.vocabulary import Choice

ROWS = torch.tensor([[2.0, 1.0, 0.0], [2.3, 2.4, 1.0], [-4.0, -3.0, -9.0], [0.0, 0.2, 0.4]], dtype=torch.float64)


def greedy(logits: Tensor, seed: int = 0) -> Tensor:
    return sample_next_token(logits, do_sample=False, generator=Generator().manual_seed(seed))


CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "5 added to every logit": lambda logits: greedy(logits + 5),
    "every logit divided by 2": lambda logits: greedy(logits / 2),
    "softmax taken first": lambda logits: greedy(logits.softmax(dim=-1)),
    "another seed": lambda logits: greedy(logits, seed=1),
    "logits rounded to whole numbers": lambda logits: greedy(logits.round()),
    "its token banned (logit -inf)": lambda logits: greedy(logits.scatter(-1, greedy(logits), -torch.inf)),
}


def greedy_changes() -> dict[str, str]:
    return {name: letter(change(ROWS) != greedy(ROWS)) for name, change in CHANGES.items()}


def letter(changed: Tensor) -> str:
    if changed.all():
        return "c"
    return "b" if changed.any() else "a"


check_letters = Choice(greedy_changes)


def wrong_large_logits() -> dict[str, str]:
    """Adding one number to all logits lifts them together, and the largest stays the largest."""
    return greedy_changes() | {"5 added to every logit": "b"}


def wrong_temperature() -> dict[str, str]:
    """Dividing by 2 is temperature 2: it changes the probabilities, but never their order, and greedy sees no more."""
    return greedy_changes() | {"every logit divided by 2": "b"}


def wrong_softmax() -> dict[str, str]:
    """e to a power grows with the power, and all are divided by one sum, so the largest logit has the largest p."""
    return greedy_changes() | {"softmax taken first": "b"}


def wrong_seed() -> dict[str, str]:
    """Greedy throws no dice, so there is nothing that a seed could change."""
    return greedy_changes() | {"another seed": "b"}


def wrong_rounding() -> dict[str, str]:
    """Rounding may make a tie of two logits that were nearly equal, and then the lower id is taken."""
    return greedy_changes() | {"logits rounded to whole numbers": "a"}


def wrong_rounding_always() -> dict[str, str]:
    """Rounding changes a narrow choice only; a clear winner stays the largest."""
    return greedy_changes() | {"logits rounded to whole numbers": "c"}


def wrong_ban() -> dict[str, str]:
    """A token with logit -inf cannot be taken, so another one comes whatever the logits are."""
    return greedy_changes() | {"its token banned (logit -inf)": "b"}


def wrong_always() -> dict[str, str]:
    """That leaves the order of the logits as it is, or has no part in the choice: the same token comes every time."""
    unchanged = [name for name, right in greedy_changes().items() if right == "a"]
    return greedy_changes() | dict.fromkeys(unchanged, "c")


def wrong_ban_is_in_vain() -> dict[str, str]:
    """A ban takes the winner away: -inf is below every other logit, so the second best is taken."""
    return greedy_changes() | {"its token banned (logit -inf)": "a"}


def right_by_hand() -> dict[str, str]:
    return dict(zip(CHANGES, "aaaabc"))
