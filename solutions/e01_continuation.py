"""The chain rule: log p(continuation | prompt) is the sum of log p(token | everything before it).

Row t scores token t + 1, so the rows start one earlier than the tokens. One pass over the finished text is
enough, since no row has seen what comes after it: that is teacher forcing. `log_softmax` and not
`log(softmax)`, which is -inf for unlikely tokens.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from solutions.vocabulary import Check, Ids, Logits, Whole


def continuation_log_prob(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """log p(ids[prompt_len:] | ids[:prompt_len]): logits (T, V), ids (T,), 1 <= prompt_len <= T."""
    log_probs = logits[prompt_len - 1 : -1].log_softmax(dim=-1)
    return float(log_probs.gather(-1, ids[prompt_len:, None]).sum())


check_sums = Check(
    continuation_log_prob,
    logits=Logits("T", "V", without=("-inf entries",)),
    ids=Ids("T", below="V"),
    prompt_len=Whole(1, 4),
    examples=[
        (torch.tensor([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]).log(), torch.tensor([0, 1, 2]), 1),
        (torch.tensor([[60.0, 0.0], [0.0, 60.0]]), torch.tensor([0, 1]), 1),
        (torch.tensor([[0.0, 200.0], [0.0, 0.0]]), torch.tensor([0, 0]), 1),
        (torch.tensor([[0.0, 1000.0], [0.0, 0.0]]), torch.tensor([0, 0]), 1),
        (torch.arange(24.0).reshape(12, 2) % 5, torch.arange(12) % 2, 6),
    ],
    valid=lambda logits, ids, prompt_len: prompt_len <= len(ids),
    tolerance=1e-4,
)
not_checked = "speed, batches"


def scored(logits: Tensor, ids: Tensor) -> Tensor:
    """Log-probability of each token but the first (T - 1,)."""
    return logits[:-1].log_softmax(dim=-1).gather(-1, ids[1:, None])[:, 0]


def wrong_no_shift(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """scores each token with the logits at its own position, which have seen it already"""
    log_probs = logits.log_softmax(dim=-1).gather(-1, ids[:, None])[:, 0]
    return float(log_probs[prompt_len:].sum())


def wrong_prompt_too(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """counts the tokens of the prompt as well"""
    return float(scored(logits, ids).sum())


def wrong_skips_the_first(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """leaves out the first token of the continuation, which the last token of the prompt predicts"""
    return float(scored(logits, ids)[prompt_len:].sum())


def wrong_probability(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """gives the probability instead of its logarithm"""
    return float(scored(logits, ids)[prompt_len - 1 :].sum().exp())


def wrong_mean(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """gives the mean of a token instead of the sum"""
    log_probs = scored(logits, ids)[prompt_len - 1 :]
    return float(log_probs.sum()) / max(len(log_probs), 1)


def wrong_logits(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """adds up logits, without the softmax"""
    return float(logits[:-1].gather(-1, ids[1:, None])[prompt_len - 1 :].sum())


def wrong_sign(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """gives the surprise, which is minus the log-probability"""
    return 0.0 - continuation_log_prob(logits, ids, prompt_len)


def wrong_bits(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """takes logarithms to base 2 instead of natural ones"""
    return continuation_log_prob(logits, ids, prompt_len) / float(torch.tensor(2.0).log())


def wrong_likeliest(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """scores the likeliest tokens instead of the tokens that stand there"""
    return float(logits[prompt_len - 1 : -1].log_softmax(dim=-1).amax(dim=-1).sum())


def wrong_log_of_softmax(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    """takes the logarithm of the softmax, which is -inf where the softmax has underflowed"""
    probs = logits[prompt_len - 1 : -1].softmax(dim=-1)
    return float(probs.gather(-1, ids[prompt_len:, None]).log().sum())


def right_loop(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    total = 0.0
    for t in range(prompt_len, len(ids)):
        before = logits[t - 1].double()
        total += float(before[ids[t]] - before.logsumexp(dim=-1))
    return total


def right_cross_entropy(logits: Tensor, ids: Tensor, prompt_len: int) -> float:
    return -float(cross_entropy(logits[prompt_len - 1 : -1], ids[prompt_len:], reduction="sum"))
