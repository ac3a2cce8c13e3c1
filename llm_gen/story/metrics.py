"""Measures of a decoding setting: how good the stories are, how varied, how far the model is from the truth.

Everything about a distribution is exact, in nats and float64. What is estimated from samples carries a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from llm_gen.checks import check_integer
from llm_gen.model import DecoderLM
from llm_gen.sampling import filter_logits
from llm_gen.story.judge import judge
from llm_gen.story.truth import Truth


@dataclass(frozen=True)
class Estimate:
    """A mean over samples and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


def mean_of(values: Iterable[float]) -> Estimate:
    """Mean and its standard error of independent values; at least two of them."""
    sample = torch.tensor(list(values), dtype=torch.float64)
    if len(sample) < 2:
        raise ValueError(f"values must be at least 2, got {len(sample)}")
    return Estimate(sample.mean().item(), (sample.std() / math.sqrt(len(sample))).item())


def share_of(flags: Iterable[bool]) -> Estimate:
    """Share of true flags. The error is that of (k + 2) of (n + 4), so that 0 of n is not called certain
    (Agresti and Coull, 1998)."""
    flags = list(flags)
    if not flags:
        raise ValueError("flags must hold at least one, got none")
    count, middle = len(flags) + 4, (sum(flags) + 2) / (len(flags) + 4)
    return Estimate(sum(flags) / len(flags), math.sqrt(middle * (1 - middle) / count))


@dataclass(frozen=True)
class Quality:
    """Shares of texts that are rows of sentences of the language, and that are whole consistent stories."""

    grammatical: Estimate
    consistent: Estimate


def quality(texts: Sequence[str]) -> Quality:
    """What the judge says of texts, each meant to be a whole story."""
    verdicts = [judge(text) for text in texts]
    return Quality(share_of(v.grammatical for v in verdicts), share_of(v.consistent for v in verdicts))


def distinct_n(texts: Sequence[str], n: int = 2) -> float:
    """Different n-grams of words divided by all n-grams of the texts, in (0, 1] (arXiv:1510.03055); 0 if none is
    that long. It falls as texts are added: compare equal numbers of texts."""
    grams = [gram for text in texts for gram in word_grams(text, n)]
    return len(set(grams)) / len(grams) if grams else 0.0


def distinct_in_groups(texts: Sequence[str], size: int = 16, n: int = 2) -> Estimate:
    """Mean of `distinct_n` over groups of `size` >= 1 texts; what is left over does not count. Raises ValueError for
    fewer than two groups."""
    size = check_integer("size", size, minimum=1)
    if len(texts) < 2 * size:
        raise ValueError(f"texts must fill two groups of {size}, got {len(texts)}")
    starts = range(0, len(texts) - size + 1, size)
    return mean_of(distinct_n(texts[start : start + size], n) for start in starts)


def repeated_phrases(text: str, n: int = 4) -> float:
    """Share of the n-grams of words of one text that it had already, in [0, 1); a loop comes close to 1."""
    grams = word_grams(text, n)
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def word_grams(text: str, n: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def entropy(probs: Tensor) -> Tensor:
    """Entropy in nats of distributions (..., V) -> (...), float64."""
    return torch.special.entr(probs.double()).sum(-1)


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) in nats, (..., V) -> (...), float64: inf where p has mass that q has not. A softmax puts some
    mass on every token, so KL(model || truth) is inf until a filter cuts what the language has not."""
    p, q = p.double(), q.double()
    return torch.special.xlogy(p, p).sub(torch.special.xlogy(p, q)).sum(-1)


def nucleus_size(probs: Tensor, top_p: float) -> Tensor:
    """How many tokens top-p in (0, 1] keeps of (..., V) -> (...), by the rule of `filter_logits`; those of probability
    0 do not count."""
    kept = filter_logits(probs.log().reshape(-1, probs.shape[-1]), top_p=top_p) > -torch.inf
    return kept.sum(-1).view(probs.shape[:-1])


@dataclass(frozen=True, eq=False)
class Comparison:
    """Model beside truth at each of T positions of one story, each (T,) in float64 and nats.

    missed: KL(truth || model), what the model pays above the limit. outside: probability that the model gives to
    tokens no story has here. inside: KL(model || truth) of the model without that part.
    """

    model_entropy: Tensor
    true_entropy: Tensor
    missed: Tensor
    outside: Tensor
    inside: Tensor


def compare(model_probs: Tensor, true_probs: Tensor) -> Comparison:
    """Both (T, V)."""
    model_probs, true_probs = model_probs.double(), true_probs.double()
    possible = model_probs * (true_probs > 0)
    kept = possible.sum(-1, keepdim=True)
    return Comparison(
        entropy(model_probs),
        entropy(true_probs),
        kl_divergence(true_probs, model_probs),
        (model_probs - possible).sum(-1),
        kl_divergence(possible / kept, true_probs),
    )


@torch.no_grad()
def model_along(model: DecoderLM, ids: Sequence[int]) -> Tensor:
    """Row t is the model's P(token t | tokens before it) for t >= 1, float64 (T - 1, V)."""
    return model(torch.tensor([ids[:-1]]))[0].double().softmax(-1)


@dataclass(frozen=True)
class Limit:
    """Nats per token of the model and of the grammar on the same stories, and the mean of their difference per
    story. `above` is the relative excess."""

    model: float
    truth: float
    excess: Estimate

    @property
    def above(self) -> float:
        return self.model / self.truth - 1


def against_limit(model: DecoderLM, truth: Truth, texts: Sequence[str]) -> Limit:
    """Cross-entropy of the model on whole stories beside -log P of the grammar that wrote them; <bos> is given."""
    model_nats, true_nats, tokens = [], [], 0
    for text in texts:
        ids = [*truth.tokenizer.encode(text), truth.tokenizer.eos_id]
        chosen = model_along(model, ids).gather(1, torch.tensor(ids[1:])[:, None])
        model_nats.append(-chosen.log().sum().item())
        true_nats.append(-truth.log_prob(ids))
        tokens += len(ids) - 1
    excess = mean_of(m - t for m, t in zip(model_nats, true_nats, strict=True))
    return Limit(sum(model_nats) / tokens, sum(true_nats) / tokens, excess)
