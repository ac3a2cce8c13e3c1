"""Positions that are added are in every entry, rotary ones only in differences; depth needs a layer below.

So rotary positions answer the first argument, and a single layer the second. Real models have many layers: for them
the second remains, whatever the positions. A sliding window is no exception but another rule: there the older tokens
belong to what a deep layer is meant to know, and positions never start again.

The key is computed. A small model reads the window with its positions as they are and one further on: if its outputs
differ, the first argument holds. It reads the window with and without the token before it, at the same positions: if
what enters some layer differs, and the model's own rule does not want it so, the second holds.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Choice

TEXT, WIDTH = (1, 2, 3, 4, 5), 4
CONTEXT = len(TEXT) - 1
MODELS = {
    "learned positions, several layers": ("learned", 3, None),
    "learned positions, one layer": ("learned", 1, None),
    "rotary positions, several layers": ("rotary", 3, None),
    "rotary positions, one layer": ("rotary", 1, None),
    "no positions, several layers": ("none", 3, None),
    "rotary positions, several layers, sliding window": ("rotary", 3, CONTEXT),
}
LETTERS = {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}


def which_argument() -> dict[str, str]:
    return {name: LETTERS[shifted(*model), seen_too_much(*model)] for name, model in MODELS.items()}


def shifted(positions: str, layers: int, window: int | None) -> bool:
    """Whether the outputs for the window depend on where its positions start."""
    here, there = (read(TEXT[1:], start, positions, layers, window)[-1] for start in (0, 1))
    return not torch.allclose(here, there, atol=1e-6)


def seen_too_much(positions: str, layers: int, window: int | None) -> bool:
    """Whether the entries of the window, as they were computed, differ from those that the model's rule wants."""
    kept = [entry[1:] for entry in read(TEXT, 0, positions, layers, window)[:-1]]
    wanted = kept if window else read(TEXT[1:], 1, positions, layers, window)[:-1]
    return not all(torch.allclose(one, other, atol=1e-6) for one, other in zip(kept, wanted))


def read(text: tuple[int, ...], start: int, positions: str, layers: int, window: int | None) -> list[Tensor]:
    """What enters each layer, of which keys and values are made, and then what leaves the last: (T, WIDTH) each."""
    generator = torch.Generator().manual_seed(0)
    tokens, table = torch.randn(2, 8, WIDTH, generator=generator, dtype=torch.float64)
    places = torch.arange(start, start + len(text))
    x = tokens[list(text)] + (table[places] if positions == "learned" else 0)
    states = [x]
    for _layer in range(layers):
        turned = turn(x, places) if positions == "rotary" else x
        scores = (turned @ turned.T).masked_fill(hidden(places, window), -torch.inf)
        x = x + scores.softmax(dim=-1) @ x
        states.append(x)
    return states


def turn(x: Tensor, places: Tensor) -> Tensor:
    """Each pair of numbers turned by its token's position, as rotary positions do."""
    pairs = torch.view_as_complex(x.reshape(len(x), -1, 2).contiguous())
    turned = pairs * torch.polar(torch.ones(len(x), dtype=x.dtype), places.to(x.dtype))[:, None]
    return torch.view_as_real(turned).flatten(1)


def hidden(places: Tensor, window: int | None) -> Tensor:
    later = places > places[:, None]
    return later if window is None else later | (places <= places[:, None] - window)


check_letters = Choice(which_argument)


def wrong_depth_needs_no_layer() -> dict[str, str]:
    """With one layer nobody below has looked at the dropped token: keys and values are made of single tokens."""
    return which_argument() | {"learned positions, one layer": "a"}


def wrong_rotary_fails_on_positions() -> dict[str, str]:
    """Rotary positions enter a score as a difference, and differences do not shift."""
    return which_argument() | {"rotary positions, several layers": "a"}


def wrong_rotary_saves_all() -> dict[str, str]:
    """Rotary positions answer the first argument only: deep layers have still seen the token that is gone."""
    return which_argument() | {"rotary positions, several layers": "d"}


def wrong_learned_positions_only() -> dict[str, str]:
    """Learned positions do not make the deep layers forget: both arguments hold."""
    return which_argument() | {"learned positions, several layers": "b"}


def wrong_one_rotary_layer() -> dict[str, str]:
    """One layer and differences of positions: there is nothing that the dropped token could have left behind."""
    return which_argument() | {"rotary positions, one layer": "c"}


def wrong_no_positions_no_trouble() -> dict[str, str]:
    """Without positions the first argument is gone, but the second never was about positions."""
    return which_argument() | {"no positions, several layers": "d"}


def wrong_sliding_is_the_same() -> dict[str, str]:
    """A model with a sliding window is meant to be influenced by older tokens through its deep layers."""
    return which_argument() | {"rotary positions, several layers, sliding window": "c"}


def wrong_both_everywhere() -> dict[str, str]:
    """Each argument needs something: positions that are added, or a layer below the one that is kept."""
    return dict.fromkeys(MODELS, "a")


def wrong_learned_depth_only() -> dict[str, str]:
    """Learned positions are added at the entrance, so every entry holds its old one: the first argument counts too."""
    return which_argument() | {"learned positions, several layers": "c", "learned positions, one layer": "d"}


def wrong_rotary_is_learned() -> dict[str, str]:
    """Rotary positions enter a score as a difference, so a shift of all of them changes nothing."""
    return which_argument() | {"rotary positions, several layers": "b", "rotary positions, one layer": "b"}


def right_by_hand() -> dict[str, str]:
    return dict(zip(MODELS, "abcdcd"))
