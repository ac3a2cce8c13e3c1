"""All V x V texts are compared: p(first) times p(second | first), and the largest product wins.

Greedy settles the first token before it has seen where the token leads. With more than two tokens the table has
V ** n entries, which is why nobody searches it whole; beam search keeps a few rows of it.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Check, Probs, fails

RARE_START = torch.tensor([0.3125, 0.25, 0.25, 0.1875])  # the least likely beginning of the likeliest text


def likeliest_pair(first: Tensor, second: Tensor) -> Tensor:
    """The ids of the likeliest two tokens: first (V,), second (V, V) -> int64 (2,)."""
    joint = first[:, None] * second
    best = joint.argmax()
    return torch.stack([best // len(first), best % len(first)])


def one_winner(first: Tensor, second: Tensor) -> bool:
    """Whether one text is clearly the likeliest, so that neither ties nor rounding decide."""
    joint = (first[:, None] * second).flatten()
    return len(joint) == 1 or float(joint.sort().values.diff()[-1]) > 1e-6


check_pairs = Check(
    likeliest_pair,
    first=Probs("V"),
    second=Probs("V", "V"),
    examples=[
        (torch.tensor([0.625, 0.375]), torch.tensor([[0.5, 0.5], [0.125, 0.875]])),
        (torch.tensor([0.25, 0.75]), torch.tensor([[1.0, 0.0], [0.25, 0.75]])),
        (RARE_START, torch.cat([torch.full((3, 4), 0.25), torch.tensor([[0.0, 0.0, 1.0, 0.0]])])),
        (
            torch.tensor([0.25, 0.1875, 0.1875, 0.15625, 0.125, 0.09375]),
            torch.cat([torch.full((5, 6), 1 / 6), torch.eye(6)[:1]]),
        ),
        (torch.tensor([0.5, 0.5]), torch.tensor([[0.75, 0.25], [0.75 + 2**-12, 0.25 - 2**-12]])),
    ],
    valid=one_winner,
)
not_checked = "ties"


def wrong_greedy(first: Tensor, second: Tensor) -> Tensor:
    """is greedy: it takes the likeliest first token, then the likeliest token after it"""
    start = first.argmax()
    return torch.stack([start, second[start].argmax()])


def wrong_second_alone(first: Tensor, second: Tensor) -> Tensor:
    """looks for the likeliest second step and forgets how likely the first one is"""
    best = second.argmax()
    return torch.stack([best // len(first), best % len(first)])


def wrong_adds(first: Tensor, second: Tensor) -> Tensor:
    """adds the two probabilities instead of multiplying them"""
    best = (first[:, None] + second).argmax()
    return torch.stack([best // len(first), best % len(first)])


def wrong_by_column(first: Tensor, second: Tensor) -> Tensor:
    """multiplies along the wrong axis: first[j] with second[i, j]"""
    best = (first * second).argmax()
    return torch.stack([best // len(first), best % len(first)])


def wrong_swapped(first: Tensor, second: Tensor) -> Tensor:
    """gives the second token before the first"""
    return likeliest_pair(first, second).flip(0)


def wrong_least(first: Tensor, second: Tensor) -> Tensor:
    """finds the least likely text"""
    best = (first[:, None] * second).argmin()
    return torch.stack([best // len(first), best % len(first)])


@fails("shape")
def wrong_flat_index(first: Tensor, second: Tensor) -> Tensor:
    """gives the place in the flattened table instead of two ids"""
    return (first[:, None] * second).argmax()


@fails("dtype")
def wrong_probability(first: Tensor, second: Tensor) -> Tensor:
    """gives the probabilities of the two tokens instead of their ids"""
    start, end = likeliest_pair(first, second)
    return torch.stack([first[start], second[start, end]])


def wrong_second_over_all(first: Tensor, second: Tensor) -> Tensor:
    """takes the likeliest second token over all first tokens together, whatever the first one is"""
    return torch.stack([first.argmax(), (first @ second).argmax()])


def wrong_two_beginnings(first: Tensor, second: Tensor) -> Tensor:
    """tries the two likeliest first tokens only, as a beam of two does; a rarer one may lead further"""
    kept = first.topk(min(2, len(first))).indices
    best = (first[kept, None] * second[kept]).argmax()
    return torch.stack([kept[best // len(first)], best % len(first)])


def right_loop(first: Tensor, second: Tensor) -> Tensor:
    texts = [(i, j) for i in range(len(first)) for j in range(len(first))]
    return torch.tensor(max(texts, key=lambda text: float(first[text[0]] * second[text])))


def right_best_end_of_each(first: Tensor, second: Tensor) -> Tensor:
    ends = second.max(dim=-1)
    start = (first.log() + ends.values.log()).argmax()
    return torch.stack([start, ends.indices[start]])
