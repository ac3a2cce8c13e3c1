"""Heated first, the mass is spread and 0.7 takes three tokens; cut first, two tokens have 0.8 and share it anew.

Both programs are right by their own definition. So settings can only be carried over together with the order.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Numbers

LOGITS = torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64).log()
Table = dict[str, list[float]]


def other_program() -> Table:
    return {
        "temperature first": shares(filter_logits(LOGITS, temperature=2, top_p=0.7)),
        "top-p first": shares(filter_logits(LOGITS, top_p=0.7) / 2),
    }


def shares(logits: Tensor) -> list[float]:
    return logits.softmax(dim=-1)[0].tolist()


check_table = Numbers(other_program, tolerance=0.005)
variants = (
    ("0.5, 0.3, 0.15, 0.05", "0.379, 0.294, 0.208, 0.120"),
    ("0.55, 0.25, 0.15, 0.05", "0.400, 0.270, 0.209, 0.121"),
    ("0.6, 0.2, 0.15, 0.05", "0.423, 0.244, 0.211, 0.122"),
)


def wrong_no_difference() -> Table:
    """gives the same distribution for both orders"""
    return dict.fromkeys(other_program(), other_program()["temperature first"])


def wrong_swapped() -> Table:
    """mixes up the two programs"""
    return dict(zip(other_program(), reversed(other_program().values())))


def wrong_not_renormalised() -> Table:
    """does not renormalise what is left of the heated distribution"""
    heated, left = shares(LOGITS / 2), other_program()["temperature first"]
    return other_program() | {"temperature first": [p * (q > 0) for p, q in zip(heated, left)]}


def wrong_squares() -> Table:
    """squares the probabilities: that is temperature 0.5"""
    return {
        "temperature first": shares(filter_logits(LOGITS, temperature=0.5, top_p=0.7)),
        "top-p first": shares(filter_logits(LOGITS, top_p=0.7) * 2),
    }


def wrong_drops_crossing() -> Table:
    """drops the token that crosses top_p"""
    return {
        "temperature first": shares(filter_logits(LOGITS, temperature=2, top_k=2)),
        "top-p first": shares(filter_logits(LOGITS, top_k=1)),
    }


def wrong_no_cut() -> Table:
    """forgets top-p in the first program"""
    return other_program() | {"temperature first": shares(filter_logits(LOGITS, temperature=2))}


def wrong_no_temperature() -> Table:
    """forgets the temperature in the second program"""
    return other_program() | {"top-p first": shares(filter_logits(LOGITS, top_p=0.7))}


def wrong_dropped_come_back() -> Table:
    """lets dropped tokens come back with the heat, but 0 to any power is 0"""
    return other_program() | {"top-p first": shares(LOGITS / 2)}


def right_by_hand() -> Table:
    root = [0.5**0.5, 0.3**0.5, 0.15**0.5, 0.05**0.5]
    three, two = sum(root[:3]), sum(root[:2])
    return {
        "temperature first": [root[0] / three, root[1] / three, root[2] / three, 0],
        "top-p first": [root[0] / two, root[1] / two, 0, 0],
    }
