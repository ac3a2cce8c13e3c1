"""Less likely means a smaller logit: a positive one is divided, a negative one multiplied (arXiv:1909.05858).

gather and scatter make "once" free: a token that stands in the text three times gets the same new logit three
times. The rule has an odd side: it depends on where the zero of the logits lies, although the softmax does
not.
"""

import torch
from torch import Tensor

from llm_gen.beyond.penalties import repetition_penalty
from solutions.vocabulary import Check, Ids, Logits, OneOf, fails


def penalise(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits (B, V) with the tokens of `ids` (B, T) made less likely, row by row; a new tensor. penalty >= 1."""
    seen = logits.gather(-1, ids)
    punished = torch.where(seen > 0, seen / penalty, seen * penalty)
    return logits.scatter(-1, ids, punished)


check_rows = Check(
    penalise,
    logits=Logits("B", "V"),
    ids=Ids("B", "T", below="V"),
    penalty=OneOf(2.0, 1.0, 1.5, 1.25, 4.0),
    examples=[
        (torch.tensor([[2.0, -2.0, 1.0]]), torch.tensor([[0, 1]]), 2.0),
        (torch.tensor([[4.0, 1.0], [4.0, 1.0]]), torch.tensor([[0, 0, 0], [1, 1, 1]]), 2.0),
        (torch.tensor([[2.0, -2.0, 1.0]]), torch.tensor([[1] + [0] * 80]), 2.0),
        (torch.tensor([[5.0, 0.0]]), torch.tensor([[0]]), 10.0),
        (torch.tensor([[2**-11, 0.0]]), torch.tensor([[0]]), 2.0),
    ],
)
equivalent = {
    "punished = torch.where(seen > 0, seen / penalty, seen * penalty) -> "
    "punished = torch.where(seen >= 0, seen / penalty, seen * penalty)": "0 stays 0 either way",
}
not_checked = "speed, half precision"


def wrong_divides_all(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """divides negative logits too, which makes those tokens likelier"""
    return logits.scatter(-1, ids, logits.gather(-1, ids) / penalty)


def wrong_subtracts(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """subtracts the penalty, as a presence penalty does"""
    return logits.scatter(-1, ids, logits.gather(-1, ids) - penalty)


def wrong_each_time(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """punishes a token again for each time that it stands in the text"""
    for column in ids.T:
        logits = penalise(logits, column[:, None], penalty)
    return logits


def wrong_every_token(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """punishes every token, also those that are not in the text"""
    return torch.where(logits > 0, logits / penalty, logits * penalty)


def wrong_all_rows(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """punishes in every row what stands in any row"""
    return penalise(logits, ids.reshape(1, -1).expand(len(logits), -1), penalty)


def wrong_last_token(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """punishes the newest token only"""
    return penalise(logits, ids[:, -1:], penalty)


def wrong_rewards(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """makes repeated tokens likelier: it multiplies where it should divide"""
    return penalise(logits, ids, 1 / penalty)


def wrong_probabilities(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """divides the probabilities instead of the logits"""
    log_probs = logits.log_softmax(dim=-1)
    factor = torch.full_like(logits, 0).scatter(-1, ids, torch.tensor(penalty, dtype=logits.dtype).log().item())
    return log_probs - factor


def wrong_forbids(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """forbids repeated tokens altogether"""
    return logits.scatter(-1, ids, -torch.inf)


@fails("changed input")
def wrong_in_place(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """writes to the caller's logits"""
    return logits.copy_(penalise(logits, ids, penalty))


def right_mask(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    seen = (ids[:, :, None] == torch.arange(logits.shape[-1])).any(dim=1)
    return torch.where(seen, torch.minimum(logits / penalty, logits * penalty), logits)


def right_loop(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    result = logits.clone()
    for row, tokens in zip(result, ids.tolist()):
        for token in set(tokens):
            row[token] = row[token] / penalty if row[token] > 0 else row[token] * penalty
    return result


def right_library(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    return repetition_penalty(ids, logits, penalty)
