"""Best of n: several texts are drawn side by side, and the model's own opinion ranks them.

Letters: B prompts, n texts a prompt, P prompt length, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from llm_gen.attention import check_generation_mask
from llm_gen.cache import cache_start_pos
from llm_gen.checks import check_ids, check_integer
from llm_gen.generation import Predictor, generate_steps, warn_of_dropout
from llm_gen.steps import Processor


@dataclass(frozen=True, eq=False)
class BestOf:
    """sequences: (B, n, P + m) int64, best first, pad after a finished text; scores: (B, n) float64.

    A score is the mean log-prob of the new tokens, the eos included, under the model itself: before processors,
    temperature and filters.
    """

    sequences: Tensor
    scores: Tensor


@torch.no_grad()
def best_of(
    model: Any,
    x: Tensor,
    max_new_tokens: int,
    n: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    attention_mask: Tensor | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    use_cache: bool = True,
    generator: Generator | Sequence[Generator] | None = None,
    processors: Sequence[Processor] = (),
    warpers: Sequence[Processor] = (),
) -> BestOf:
    """`n` >= 1 texts drawn after each prompt x (B, P), ranked by mean log-prob; equal ones in the order of drawing.

    Each prompt is read once; its cache is copied, not computed again. The mean does not favour short texts, as the sum
    would. generator: one, or a list of B * n, those of the first prompt first. Other arguments and errors: `generate`.
    """
    x, n = check_ids("x", x, model.vocab_size), check_integer("n", n, minimum=1)
    if attention_mask is not None:
        check_generation_mask(attention_mask, x)
        attention_mask = attention_mask.repeat_interleave(n, dim=0)
    texts = x.repeat_interleave(n, dim=0)
    steps = generate_steps(
        _ReadOnce(model, n), texts, max_new_tokens, True, temperature, top_k, top_p, use_cache, attention_mask,
        eos_token_id, pad_token_id, generator=generator, processors=processors, warpers=warpers,
    )  # fmt: skip
    warn_of_dropout(model)  # which the steps cannot see behind the wrapper
    totals = torch.zeros(len(texts), dtype=torch.float64, device=x.device)
    counts = torch.zeros_like(totals)
    for step in steps:
        own = step.logits.double().log_softmax(dim=-1).gather(-1, step.tokens)[:, 0]
        totals, counts = totals + torch.where(step.active, own, 0.0), counts + step.active
        texts = torch.cat([texts, step.tokens], dim=1)
    if not len(x):
        texts = texts.new_zeros((0, x.shape[1] + int(max_new_tokens)))
    scores, order = (totals / counts.clamp(min=1)).view(len(x), n).sort(dim=-1, descending=True, stable=True)
    texts = texts.view(len(x), n, texts.shape[1])
    return BestOf(texts.gather(1, order[:, :, None].expand_as(texts)), scores)


class _ReadOnce:
    """The model, for rows in runs of n equal prompts: the first pass reads one of each run and copies its cache."""

    def __init__(self, model: Any, n: int) -> None:
        self.model, self.n, self.predict = model, n, Predictor(model)
        self.vocab_size, self.max_seq_len = model.vocab_size, model.max_seq_len

    def make_cache(self, batch_size: int) -> Any:
        return self.model.make_cache(batch_size // self.n)

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: Any = None) -> Tensor:
        if cache is None or cache_start_pos(cache):
            return self.predict(ids, attention_mask, cache)[:, None]
        mask = None if attention_mask is None else attention_mask[:: self.n]
        logits = self.predict(ids[:: self.n], mask, cache)
        rows = torch.arange(len(ids), device=ids.device) // self.n
        cache.select(rows)
        return logits[rows, None]
