"""Warpers: cuts that come after temperature, top-k and top-p, and look at the shape of what is left.

Each takes ids (B, S) and logits (B, V) and gives logits with dropped tokens at -inf. Masses and entropies are those of
the softmax of the logits given, in float64. The likeliest token always stays. Ranks: ties go to the lower id;
thresholds: a token exactly on the threshold stays. Both sides are compared in float32, which forgets the digits that
rounding has spoiled.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from llm_gen.checks import check_real
from llm_gen.sampling import greedy_token
from llm_gen.scaling import FLOAT32


def min_p(ids: Tensor, logits: Tensor, share: float) -> Tensor:
    """Tokens with at least `share` in (0, 1] of the likeliest token's probability (arXiv:2407.01082)."""
    threshold = math.log(_check_share("share", share, top=True))
    wide = logits.double()
    return _cut(logits, _reaches(wide - wide.amax(dim=-1, keepdim=True), threshold))


def typical(ids: Tensor, logits: Tensor, mass: float) -> Tensor:
    """The fewest tokens, nearest to the entropy in surprise, that hold `mass` in (0, 1) (arXiv:2202.00666).

    Equally near ones: the lower id first. The likeliest token may be far from the entropy, and is then dropped as
    the paper says.
    """
    mass = _check_share("mass", mass)
    log_probs = logits.double().log_softmax(dim=-1)
    distance = (-log_probs - _entropy(log_probs)).abs()
    order = distance.sort(dim=-1, stable=True).indices
    probs = log_probs.exp().gather(-1, order)
    # The first has no mass before it and must stay even where float32 would round `mass` to 0.
    keep = ~_reaches(probs.cumsum(dim=-1) - probs, max(mass, FLOAT32.tiny))
    return logits.masked_fill(~torch.zeros_like(keep).scatter(-1, order, keep), -torch.inf)


def epsilon_cut(ids: Tensor, logits: Tensor, epsilon: float) -> Tensor:
    """Tokens of probability at least `epsilon` in (0, 1) (arXiv:2210.15191)."""
    epsilon = _check_share("epsilon", epsilon)
    return _cut(logits, _reaches(logits.double().softmax(dim=-1), epsilon))


def eta_cut(ids: Tensor, logits: Tensor, epsilon: float) -> Tensor:
    """As `epsilon_cut`, at min(epsilon, sqrt(epsilon) * exp(-entropy)): lower where the model is unsure
    (arXiv:2210.15191)."""
    epsilon = _check_share("epsilon", epsilon)
    log_probs = logits.double().log_softmax(dim=-1)
    eta = (math.sqrt(epsilon) * (-_entropy(log_probs)).exp()).clamp(max=epsilon)
    return _cut(logits, _reaches(log_probs.exp(), eta))


def top_n_sigma(ids: Tensor, logits: Tensor, n: float) -> Tensor:
    """Logits within `n` > 0 standard deviations of the largest one; the same at any temperature (arXiv:2411.07641).

    The deviation is that of the finite logits, with the sum divided by their number.
    """
    n = check_real("n", n)
    if n <= 0:
        raise ValueError(f"n must be > 0, got {n:g}")
    wide, finite = logits.double(), logits.isfinite()
    count = finite.sum(dim=-1, keepdim=True)
    mean = wide.masked_fill(~finite, 0).sum(dim=-1, keepdim=True) / count
    variance = (wide - mean).masked_fill(~finite, 0).square().sum(dim=-1, keepdim=True) / count
    return _cut(logits, _reaches(wide, wide.amax(dim=-1, keepdim=True) - n * variance.sqrt()))


class Mirostat:
    """Mirostat 2: cuts off surprises above mu, and moves mu so that the mean surprise nears `target`
    (arXiv:2007.14966).

    target: bits a token, > 0. rate: how fast mu follows, > 0. It remembers mu, (B, 1), and learns what was drawn from
    the next step's text; a text that does not go on from the last one begins anew. Surprise is that of the whole
    softmax.
    """

    def __init__(self, target: float = 3.0, rate: float = 0.1) -> None:
        self.target, self.rate = check_real("target", target), check_real("rate", rate)
        if self.target <= 0 or self.rate <= 0:
            raise ValueError(f"target and rate must be > 0, got {target!r} and {rate!r}")
        self.mu: Tensor | None = None
        self.surprises: Tensor | None = None
        self.text: Tensor | None = None

    def __call__(self, ids: Tensor, logits: Tensor) -> Tensor:
        if self.text is None or not torch.equal(ids[:, :-1], self.text):
            self.mu = logits.new_full((len(logits), 1), 2 * self.target, dtype=torch.float64)
        else:
            drawn = self.surprises.gather(-1, ids[:, -1:])
            self.mu = self.mu - self.rate * (drawn - self.target)
        self.text = ids
        self.surprises = -logits.double().log_softmax(dim=-1) / math.log(2)
        return _cut(logits, self.surprises <= self.mu)


def _cut(logits: Tensor, keep: Tensor) -> Tensor:
    """Drop what is not kept, but never the likeliest token."""
    return logits.masked_fill(~keep.scatter(-1, greedy_token(logits), True), -torch.inf)


def _reaches(values: Tensor, threshold: float | Tensor) -> Tensor:
    """values >= threshold, both in float32."""
    return values.float() >= torch.as_tensor(threshold, device=values.device).float()


def _entropy(log_probs: Tensor) -> Tensor:
    """Entropy in nats, (B, 1); dropped tokens count nothing."""
    return torch.special.entr(log_probs.exp()).sum(dim=-1, keepdim=True)


def _check_share(name: str, value: float, top: bool = False) -> float:
    value = check_real(name, value)
    if not (0 < value < 1 or (top and value == 1)):
        raise ValueError(f"{name} must lie in (0, 1{']' if top else ')'}, got {value!r}")
    return value
