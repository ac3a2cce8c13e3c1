"""Logits at t predict token t + 1, so the logits lose their last position and the ids their first.

The softmax is taken in float32 whatever the logits come in: in bfloat16 the log-probs stand on a grid so
coarse that the ratio of a policy with itself is no longer 1. `log_softmax` and not `log(softmax)`: the latter
is -inf for unlikely tokens.
"""

from types import SimpleNamespace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from llm_gen.rollout import compute_logprobs
from solutions.vocabulary import Check, Ids, Logits, fails


def token_log_probs(logits: Tensor, ids: Tensor) -> Tensor:
    """log p(ids[:, t + 1] | ids up to t): logits (B, T, V), ids (B, T) -> float32 (B, T - 1)."""
    log_probs = logits[:, :-1].float().log_softmax(dim=-1)
    return log_probs.gather(-1, ids[:, 1:, None]).squeeze(-1)


check_rows = Check(
    token_log_probs,
    logits=Logits("B", "T", "V", without=("-inf entries",)),
    ids=Ids("B", "T", below="V"),
    examples=[
        (torch.tensor([[[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]]).log(), torch.tensor([[0, 1, 2]])),
        (torch.tensor([[[60.0, 0.0], [0.0, 60.0]]]), torch.tensor([[0, 1]])),
        (torch.tensor([[[1.0, 2.0, 3.3], [0, 0, 0]]]).bfloat16(), torch.tensor([[0, 1]])),
        (torch.zeros(1, 2, 9), torch.tensor([[0, 0]])),
    ],
    tolerance=1e-4,
)
not_checked = "speed, masks"


def wrong_no_shift(logits: Tensor, ids: Tensor) -> Tensor:
    """scores each token with the logits at its own position, which have seen it already"""
    return logits.float().log_softmax(dim=-1).gather(-1, ids[..., None])[:, 1:, 0]


def wrong_shift_back(logits: Tensor, ids: Tensor) -> Tensor:
    """shifts the wrong way: logits from the second position on, ids without the last"""
    return logits[:, 1:].float().log_softmax(dim=-1).gather(-1, ids[:, :-1, None]).squeeze(-1)


@fails("shape")
def wrong_keeps_the_first(logits: Tensor, ids: Tensor) -> Tensor:
    """gives an entry for the first token too, which nothing predicts"""
    return logits.float().log_softmax(dim=-1).gather(-1, ids[..., None]).squeeze(-1)


def wrong_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """gives probabilities instead of their logarithms"""
    return token_log_probs(logits, ids).exp()


def wrong_log_of_softmax(logits: Tensor, ids: Tensor) -> Tensor:
    """takes the logarithm of the softmax, which is -inf where the softmax has underflowed"""
    probs = logits[:, :-1].float().softmax(dim=-1)
    return probs.gather(-1, ids[:, 1:, None]).squeeze(-1).log()


def wrong_logits(logits: Tensor, ids: Tensor) -> Tensor:
    """gives the logits, without the softmax"""
    return logits[:, :-1].float().gather(-1, ids[:, 1:, None]).squeeze(-1)


def wrong_over_time(logits: Tensor, ids: Tensor) -> Tensor:
    """takes the softmax over the positions instead of the vocabulary"""
    return logits[:, :-1].float().log_softmax(dim=1).gather(-1, ids[:, 1:, None]).squeeze(-1)


def wrong_sign(logits: Tensor, ids: Tensor) -> Tensor:
    """gives the loss, which is minus the log-probability"""
    return -token_log_probs(logits, ids)


def wrong_likeliest(logits: Tensor, ids: Tensor) -> Tensor:
    """gives the log-probability of the likeliest token instead of the token that came"""
    return logits[:, :-1].float().log_softmax(dim=-1).amax(dim=-1)


@fails("shape")
def wrong_sum(logits: Tensor, ids: Tensor) -> Tensor:
    """adds up the log-probabilities of a row"""
    return token_log_probs(logits, ids).sum(dim=-1)


@fails("dtype")
def wrong_double(logits: Tensor, ids: Tensor) -> Tensor:
    """keeps the dtype of the logits instead of float32"""
    log_probs = logits[:, :-1].log_softmax(dim=-1)
    return log_probs.gather(-1, ids[:, 1:, None]).squeeze(-1)


def right_cross_entropy(logits: Tensor, ids: Tensor) -> Tensor:
    return -cross_entropy(logits[:, :-1].float().transpose(1, 2), ids[:, 1:], reduction="none")


def right_logsumexp(logits: Tensor, ids: Tensor) -> Tensor:
    before = logits[:, :-1].float()
    shifted = before - before.amax(dim=-1, keepdim=True)
    batch, time = torch.arange(len(ids))[:, None], torch.arange(ids.shape[1] - 1)
    return shifted[batch, time, ids[:, 1:]] - shifted.exp().sum(dim=-1).log()


def right_library(logits: Tensor, ids: Tensor) -> Tensor:
    if ids.shape[1] == 1:
        return logits.new_zeros((len(ids), 0), dtype=torch.float32)
    model = Recorded(logits)
    everything = torch.ones_like(ids, dtype=torch.bool)
    return compute_logprobs(model, ids, everything, temperature=1.0, requires_grad=False)[0]


class Recorded(SimpleNamespace):
    """A model that gives the logits it was made with."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__(logits=logits, vocab_size=logits.shape[-1], max_seq_len=logits.shape[1])

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        return self.logits[:, : ids.shape[1]]

    def make_cache(self, batch_size: int) -> None:
        return None
