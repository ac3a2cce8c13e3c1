"""log P(text) is the sum of its tokens' log-probs, and its gradient is weighted by how much better the text was.

The sum, not the mean over tokens: a text's probability is a product over all of them. The mean reward is a baseline:
it changes no expected gradient (the gradient of a sum of probabilities is 0) and takes much of the noise away.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from solutions.vocabulary import Check, Ids, Reals, fails


def reinforce_loss(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """The loss, a scalar: log_probs (B, T), mask (B, T) of 0 and 1, rewards (B,)."""
    of_text = (log_probs * mask).sum(dim=1)
    advantages = rewards - rewards.mean()
    return -(advantages * of_text).mean()


def with_gradient(answer: Callable, log_probs: Tensor, mask: Tensor, rewards: Tensor) -> dict:
    """The loss and its gradient with respect to log_probs; zeros where none reaches them. -0 is shown as 0."""
    with torch.enable_grad():
        log_probs.requires_grad_()
        loss = answer(log_probs, mask, rewards)
        reaches = isinstance(loss, Tensor) and loss.requires_grad
        gradient = torch.autograd.grad(loss, log_probs)[0] + 0.0 if reaches else torch.zeros_like(log_probs)
    return {"loss": loss.detach() if reaches else loss, "gradient": gradient}


check_loss = Check(
    reinforce_loss,
    call=with_gradient,
    used_with="log_probs that need a gradient; then the loss is compared, and its gradient for each entry of log_probs",
    log_probs=Reals("B", "T"),
    mask=Ids("B", "T", below=2),
    rewards=Reals("B"),
    examples=[
        (torch.tensor([[-1.0, -2.0], [-3.0, -0.5]]), torch.tensor([[1, 1], [1, 0]]), torch.tensor([1.0, 0.0])),
        (torch.tensor([[-1.0], [-2.0]]), torch.tensor([[1], [1]]), torch.tensor([2.0, 0.0])),
        (torch.tensor([[-1.0, -20.0], [-1.0, -3.0]]), torch.tensor([[1, 1], [1, 1]]), torch.tensor([100.0, 0.0])),
    ],
)
not_checked = "speed"


def advantage(rewards: Tensor) -> Tensor:
    return rewards - rewards.mean()


def of_texts(log_probs: Tensor, mask: Tensor) -> Tensor:
    return (log_probs * mask).sum(dim=1)


def wrong_sign(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """forgets the minus: a step down this loss makes bad texts likelier"""
    return -reinforce_loss(log_probs, mask, rewards)


def wrong_no_baseline(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """weights with the reward itself, without taking the mean reward away"""
    return -(rewards * of_texts(log_probs, mask)).mean()


def wrong_no_mask(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """lets prompt and padding count as if the model had chosen them"""
    return reinforce_loss(log_probs, torch.ones_like(mask), rewards)


def wrong_mean_of_columns(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """takes the mean over the columns instead of the sum, so that the loss shrinks with the padding"""
    return -(advantage(rewards) * (log_probs * mask).mean(dim=1)).mean()


def wrong_mean_of_tokens(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """takes the mean over a text's tokens instead of their sum, so that a token of a long text counts for less"""
    of_text = of_texts(log_probs, mask) / mask.sum(dim=1).clamp(min=1)
    return -(advantage(rewards) * of_text).mean()


def wrong_sum_of_texts(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """adds up over the texts instead of taking their mean, so that the step grows with the batch"""
    return -(advantage(rewards) * of_texts(log_probs, mask)).sum()


def wrong_probabilities(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """multiplies with the probability of the text instead of its logarithm"""
    return -(advantage(rewards) * of_texts(log_probs, mask).exp()).mean()


def wrong_all_tokens(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """divides by the number of all tokens in the batch instead of the number of texts"""
    return -(advantage(rewards) * of_texts(log_probs, mask)).sum() / mask.sum().clamp(min=1)


def wrong_no_gradient(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """cuts the loss off from the log-probs (detach, item or no_grad), so that no gradient flows"""
    return reinforce_loss(log_probs, mask, rewards).detach()


def wrong_leave_one_out(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """compares each reward with the mean of the others, without its own"""
    others = (rewards.sum() - rewards) / max(len(rewards) - 1, 1)
    return -((rewards - others) * of_texts(log_probs, mask)).mean()


def wrong_normalised(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """divides the advantages by the standard deviation of the rewards, which is another method"""
    scale = rewards.std(correction=0) + 1e-6
    return -(advantage(rewards) / scale * of_texts(log_probs, mask)).mean()


@fails("shape")
def wrong_each_text(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """gives one loss a text instead of their mean"""
    return -advantage(rewards) * of_texts(log_probs, mask)


def right_loop(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    total = log_probs.new_zeros(())
    for row, own, reward in zip(log_probs, mask, rewards):
        total = total + (reward - rewards.mean()) * row[own.bool()].sum()
    return -total / len(rewards)


def right_one_sum(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    weights = (rewards.mean() - rewards)[:, None] * mask
    return (weights * log_probs).sum() / len(rewards)
