"""One token must stay in every row: that is top_k = 1, at any temperature, and nothing else in the list.

A small temperature shares the mass among tied maxima, and so does top_k = 2 if two are tied. top_p = 0.01 keeps the
likeliest token alone as long as it has 0.01, which in a flat row of 200 tokens nobody has.
"""

import torch

from llm_gen import filter_logits
from solutions.vocabulary import Choice

SETTINGS = {
    "a": {"top_k": 1},
    "b": {"top_k": 1, "temperature": 5.0},
    "c": {"temperature": 0.01},
    "d": {"top_k": 2, "temperature": 0.01},
    "e": {"top_k": 200},
    "f": {"top_p": 0.01},
}
FLAT = torch.zeros(200)
ONE_BEST = FLAT.index_fill(0, torch.tensor([7]), 9.0)
TIED = FLAT.index_fill(0, torch.tensor([3, 9]), 9.0)


def which_is_greedy() -> list[str]:
    return [letter for letter in SETTINGS if all(only_the_first_maximum(letter, row) for row in (ONE_BEST, TIED, FLAT))]


def only_the_first_maximum(letter: str, row: torch.Tensor) -> bool:
    drawn = filter_logits(row[None], **SETTINGS[letter]).softmax(dim=-1)[0].nonzero()[:, 0].tolist()
    return drawn == [int(row.argmax())]


check_letters = Choice(which_is_greedy)


def wrong_cold() -> list[str]:
    """A small temperature is greedy only without ties: two equal logits stay equal and share the mass."""
    return ["a", "b", "c"]


def wrong_cold_pair() -> list[str]:
    """With two tied maxima top_k = 2 keeps both, and the temperature cannot choose between equals."""
    return ["a", "b", "d"]


def wrong_hot() -> list[str]:
    """The temperature does not matter once a single token stays: it has probability 1 at 5 as well."""
    return ["a"]


def wrong_small_p() -> list[str]:
    """top_p = 0.01 keeps more than one token where nobody has 0.01: 200 equal logits have 0.005 each."""
    return ["a", "b", "f"]


def wrong_off() -> list[str]:
    """A top_k of the whole vocabulary drops nothing: it is the filter switched off."""
    return ["e"]


def wrong_all_small() -> list[str]:
    """Ties and flat rows are logits too: only a filter that leaves one token whatever comes is greedy."""
    return ["a", "b", "c", "d", "f"]


def wrong_only_hot() -> list[str]:
    """If top_k = 1 is greedy at temperature 5, it is so at temperature 1."""
    return ["b"]


def right_by_hand() -> list[str]:
    return ["a", "b"]
