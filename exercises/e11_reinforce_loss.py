"""The loss of REINFORCE.

Each of B texts has the log-probs of its tokens, a mask with 1 where the model chose the token (0 for prompt and
padding), and a reward. A text's advantage is its reward minus the mean reward of the batch. Give the loss whose
gradient step raises the reward: minus the mean, over the texts, of advantage times the sum of the text's own
log-probs. It is a tensor with one number, and its gradient must reach `log_probs`. The three may have different dtypes.
"""

from torch import Tensor

objective = "Write the loss of REINFORCE"
difficulty = 3
minutes = 12
hints = (
    "One number a text first: the sum of its log-probs where the mask is 1. That is log P(text | prompt).",
    "The advantage says whether the text was better or worse than usual, so that bad texts are made less likely.",
    "Optimisers go downhill, so the loss carries a minus.",
)


def reinforce_loss(log_probs: Tensor, mask: Tensor, rewards: Tensor) -> Tensor:
    """The loss, a scalar: log_probs (B, T), mask (B, T) of 0 and 1, rewards (B,)."""
    raise NotImplementedError
