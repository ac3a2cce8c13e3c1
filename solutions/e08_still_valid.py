"""An entry stays valid if nothing that it was computed from has changed: its token, its position, what it looked at.

In the first layer that is the token and its position. In deeper layers it is also every token that it could see, and
with causal attention those are the ones before it. So appending and taking back at the end leave everything valid,
a change in the middle spoils what comes after it, except in the first layer, and a token in front moves all positions.

The key is computed: a small model of two layers reads the text before and after, and what enters each layer, of
which keys and values are made, is compared position by position.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Choice

TEXT, WIDTH, LAYERS = (1, 2, 3, 4, 5), 8, 2
EVENTS = {
    "a sixth token is appended": ((*TEXT, 6), 0, True),
    "token 5 is taken back": (TEXT[:4], 0, True),
    "token 3 is replaced": ((1, 2, 7, 4, 5), 0, True),
    "a token is put in front of token 1": ((0, *TEXT), 1, True),
    "a sixth token is appended, and attention is not causal": ((*TEXT, 6), 0, False),
}
# The valid positions of each layer, of those that are still there.
LETTERS = {
    ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5)): "a",
    ((1, 2, 3, 4), (1, 2, 3, 4)): "a",
    ((1, 2, 4, 5), (1, 2)): "b",
    ((1, 2), (1, 2)): "c",
    ((1, 2, 4, 5), (1, 2, 4, 5)): "d",
    ((1, 2, 3, 4, 5), ()): "e",
    ((), ()): "f",
}


def still_valid() -> dict[str, str]:
    return {name: LETTERS[valid_positions(*event)] for name, event in EVENTS.items()}


def valid_positions(text: tuple[int, ...], moved: int, causal: bool) -> tuple[tuple[int, ...], ...]:
    """For each layer the tokens of TEXT, counted from 1, whose entries are the same in `text`, `moved` places on."""
    before, after = layer_inputs(TEXT, causal), layer_inputs(text, causal)
    there = min(len(TEXT), len(text) - moved)
    return tuple(
        tuple(t + 1 for t in range(there) if torch.allclose(old[t], new[t + moved], atol=1e-6))
        for old, new in zip(before, after)
    )


def layer_inputs(text: tuple[int, ...], causal: bool) -> list[Tensor]:
    """What enters each layer, (T, WIDTH): token and position vectors, then what attention adds to them."""
    generator = torch.Generator().manual_seed(0)
    tokens, positions = torch.randn(2, 8, WIDTH, generator=generator, dtype=torch.float64)
    x = tokens[list(text)] + positions[: len(text)]
    inputs = []
    for _layer in range(LAYERS):
        inputs.append(x)
        scores = x @ x.T / WIDTH
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
        x = x + scores.softmax(dim=-1) @ x
    return inputs


check_letters = Choice(still_valid)


def wrong_append_spoils() -> dict[str, str]:
    """Causal attention never looks ahead, so no kept entry can know of a token that comes after it."""
    return still_valid() | {"a sixth token is appended": "e"}


def wrong_taking_back_spoils() -> dict[str, str]:
    """Token 5 was the last, and no other token has looked at it: what is left is as good as new."""
    return still_valid() | {"token 5 is taken back": "e"}


def wrong_first_layer_spoilt() -> dict[str, str]:
    """In the first layer tokens 4 and 5 have not looked at token 3 yet: their entries are made of themselves."""
    return still_valid() | {"token 3 is replaced": "c"}


def wrong_deep_layers_clean() -> dict[str, str]:
    """Tokens 4 and 5 looked at token 3 in the first layer, so what enters the second one has changed with it."""
    return still_valid() | {"token 3 is replaced": "d"}


def wrong_replaced_ends_all() -> dict[str, str]:
    """Tokens 1 and 2 stand before token 3 and never look at it, so their entries are valid in every layer."""
    return still_valid() | {"token 3 is replaced": "e"}


def wrong_front_is_like_behind() -> dict[str, str]:
    """A token in front moves every other to the next position, and the position is a part of every entry."""
    return still_valid() | {"a token is put in front of token 1": "a"}


def wrong_front_spares_first_layer() -> dict[str, str]:
    """The position vector is added at the entrance, so with new positions even the first layer's entries are others."""
    return still_valid() | {"a token is put in front of token 1": "e"}


def wrong_mask_does_not_matter() -> dict[str, str]:
    """Without the mask the old tokens look at the new one, and deeper layers change: there is nothing to cache."""
    return still_valid() | {"a sixth token is appended, and attention is not causal": "a"}


def wrong_nothing_without_mask() -> dict[str, str]:
    """Even without a mask the first layer's entries are made of one token and its position, and stay."""
    return still_valid() | {"a sixth token is appended, and attention is not causal": "f"}


def wrong_nothing_is_left() -> dict[str, str]:
    """What stands before the change never looked at it, so its entries stay; only what lies behind can be spoilt."""
    return still_valid() | {"token 3 is replaced": "f", "token 5 is taken back": "f", "a sixth token is appended": "f"}


def right_by_hand() -> dict[str, str]:
    return dict(zip(EVENTS, "aabfe"))
