"""Top-k first leaves 0.3 and 0.4, renormalised 0.43 and 0.57, and 0.57 reaches 0.5 alone: one token.

Top-p first needs both 0.4 and 0.3 to reach 0.5, and top-k = 2 has nothing more to drop: two tokens. So the
order counts.
"""

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Prediction

LOGITS = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log()


def predict_kept_set() -> dict[str, set[int]]:
    k_then_p = filter_logits(filter_logits(LOGITS, top_k=2), top_p=0.5)
    p_then_k = filter_logits(filter_logits(LOGITS, top_p=0.5), top_k=2)
    return {"top-k, then top-p": kept(k_then_p), "top-p, then top-k": kept(p_then_k)}


def kept(logits: Tensor) -> set[int]:
    return set(logits[0].isfinite().nonzero()[:, 0].tolist())


check_sets = Prediction(predict_kept_set)
variants = (
    ("(0.1, 0.2, 0.3, 0.4)", "[[0.1, 0.2, 0.3, 0.4]]", "{0}", "{3, 4}", "{4}", "{2, 3}", "{3}"),
    ("(0.4, 0.1, 0.2, 0.3)", "[[0.4, 0.1, 0.2, 0.3]]", "{1}", "{1, 4}", "{1}", "{0, 3}", "{0}"),
)


def wrong_no_difference() -> dict[str, set[int]]:
    """forgets to renormalise between the filters, so that the order makes no difference"""
    return {"top-k, then top-p": {2, 3}, "top-p, then top-k": {2, 3}}


def wrong_drops_crossing() -> dict[str, set[int]]:
    """drops the token that crosses top_p"""
    return {"top-k, then top-p": {3}, "top-p, then top-k": {3}}


def wrong_other_way() -> dict[str, set[int]]:
    """mixes up the two orders"""
    return {"top-k, then top-p": {2, 3}, "top-p, then top-k": {3}}


def wrong_counts_from_one() -> dict[str, set[int]]:
    """counts the ids from 1"""
    return {"top-k, then top-p": {4}, "top-p, then top-k": {3, 4}}


def wrong_keeps_the_tail() -> dict[str, set[int]]:
    """keeps the unlikeliest tokens"""
    return {"top-k, then top-p": {0}, "top-p, then top-k": {0, 1}}


def wrong_first_ids() -> dict[str, set[int]]:
    """takes the tokens in the order of their ids instead of their probabilities"""
    return {"top-k, then top-p": {0, 1}, "top-p, then top-k": {0, 1, 2}}


def right_by_hand() -> dict[str, set[int]]:
    return {"top-k, then top-p": {3}, "top-p, then top-k": {2, 3}}
