"""Top-p 0.7 keeps roof and hill, 0.8 in all, and divides by it: filtered = full - log 0.8 for every token.

So the ratio full / filtered of a word is the kept mass itself, whichever word it is, and that of three words is its
third power, 0.512. Whoever takes one log-prob for the other in training is off by that factor, and the factor
shrinks with the length of the text.
"""

import math

import torch

from llm_gen import filter_logits
from solutions.vocabulary import Numbers

PROBS = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
DRAWN = [0, 1, 0]
Table = dict[str, float | list[float]]


def kept_mass() -> dict[str, float | list[float]]:
    return table(filter_logits(PROBS.log()[None], top_p=0.7).softmax(dim=-1)[0])


def table(drawn_from: torch.Tensor, words: int = 3) -> Table:
    filtered, full = drawn_from[DRAWN].log(), PROBS[DRAWN].log()
    mass = (full - filtered)[0].exp().item()
    return {
        "filtered": filtered.tolist(),
        "full": full.tolist(),
        "kept mass": mass,
        "ratio of three words": mass**words,
    }


check_table = Numbers(kept_mass, tolerance=0.002)


def wrong_not_renormalised() -> Table:
    """does not divide by the kept mass, so that both log-probs are the same"""
    return table(PROBS) | {"kept mass": 0.8}


def wrong_swapped() -> Table:
    """takes the filtered for the full log-probs, and the full for the filtered"""
    right = kept_mass()
    return right | {"filtered": right["full"], "full": right["filtered"]}


def wrong_probabilities() -> Table:
    """gives probabilities where log-probs are asked for"""
    right = kept_mass()
    return right | {name: [math.exp(entry) for entry in right[name]] for name in ("filtered", "full")}


def wrong_bits() -> Table:
    """takes the logarithm to the base 2"""
    right = kept_mass()
    return right | {name: [entry / math.log(2) for entry in right[name]] for name in ("filtered", "full")}


def wrong_one_word() -> Table:
    """gives the ratio of one word for that of three"""
    return kept_mass() | {"ratio of three words": 0.8}


def wrong_upside_down() -> Table:
    """gives filtered / full, which is above 1"""
    return kept_mass() | {"ratio of three words": 0.8**-3}


def wrong_adds() -> Table:
    """multiplies the kept mass by three instead of taking its third power"""
    return kept_mass() | {"ratio of three words": 2.4}


def wrong_threshold() -> Table:
    """takes the threshold 0.7 for the kept mass, but the crossing word carries it to 0.8"""
    filtered = [math.log(PROBS[i].item() / 0.7) for i in DRAWN]
    return kept_mass() | {"filtered": filtered, "kept mass": 0.7, "ratio of three words": 0.7**3}


def right_by_hand() -> Table:
    return {
        "filtered": [-0.470, -0.981, -0.470],
        "full": [-0.693, -1.204, -0.693],
        "kept mass": 0.8,
        "ratio of three words": 0.512,
    }
