"""Contrastive search: a likely token, but one unlike what stands there already (arXiv:2202.06417).

Letters: B prompts, K candidates a prompt, P prompt length, S text so far, D width of the states, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from llm_gen.attention import check_generation_mask
from llm_gen.checks import check_end_and_pad, check_flag, check_ids, check_integer, check_logits, check_real
from llm_gen.generation import check_functions, next_generation_input, warn_of_dropout
from llm_gen.steps import Processor, Settings


@torch.no_grad()
def contrastive_search(
    model: Any,
    x: Tensor,
    max_new_tokens: int,
    top_k: int = 4,
    alpha: float = 0.6,
    *,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    attention_mask: Tensor | None = None,
    use_cache: bool = True,
    processors: Sequence[Processor] = (),
) -> Tensor:
    """The prompt x (B, P) and up to `max_new_tokens` new tokens after it: int64 (B, P + n), as `generate` gives it.

    Of the `top_k` likeliest tokens v comes the one with the largest (1 - alpha) p(v) - alpha s(v): s is the largest
    cosine of the model's state at v with its states at the text before. alpha in [0, 1]; 0 is greedy, and so is
    top_k=1. Ties go to the likelier token, then to the lower id; a token of probability 0 never comes.

    model: a DecoderLM, or another with `hidden` and `logits`. The candidates of a step are read as one batch, and
    what is read of the chosen one serves the next step: nothing is read twice until the context is full. Past it
    each candidate is read with the `max_seq_len - 1` columns before it. Raises like `generate`.
    """
    x = check_ids("x", x, model.vocab_size)
    mask = torch.ones_like(x, dtype=torch.bool)
    if attention_mask is not None:
        check_generation_mask(attention_mask, x)
        mask = attention_mask.bool()
    settings = _settings(model, eos_token_id, pad_token_id, processors)
    budget, width, alpha = _numbers(model, max_new_tokens, top_k, alpha)
    reader = _Reader(model, width, check_flag("use_cache", use_cache))
    warn_of_dropout(model)
    if not len(x):
        return x.new_zeros((0, x.shape[1] + budget))
    finished = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    logits = reader.start(x, mask) if budget else None
    for written in range(budget):
        active, text = ~finished, x.masked_fill(~mask, -1)
        processed = settings.process(text, check_logits(logits, active), written, active)
        probs = processed.double().softmax(dim=-1)
        probs, tokens = (ranked[:, :width] for ranked in probs.sort(dim=-1, descending=True, stable=True))
        mask = F.pad(mask, (0, 1), value=True)
        scores = (1 - alpha) * probs - alpha * reader.likeness(x, tokens, mask)
        best = scores.masked_fill(probs == 0, -torch.inf).argmax(dim=-1, keepdim=True)
        logits = reader.keep(best[:, 0])
        token = tokens.gather(1, best).masked_fill(~active[:, None], settings.pad)
        x, finished = torch.cat([x, token], dim=1), finished | settings.ends(token)
        if finished.all():
            break
    return x.clone()


def _settings(model: Any, eos: Any, pad: int | None, processors: Sequence[Processor]) -> Settings:
    eos, pad = check_end_and_pad(eos, pad, model.vocab_size)
    return Settings(False, 1.0, None, None, eos, pad or 0, processors=check_functions("processors", processors))


def _numbers(model: Any, max_new_tokens: int, top_k: int, alpha: float) -> tuple[int, int, float]:
    if not (hasattr(model, "hidden") and hasattr(model, "logits")):
        raise TypeError(f"model must give its states, as DecoderLM.hidden does, got {type(model).__name__}")
    budget = check_integer("max_new_tokens", max_new_tokens, minimum=0)
    width = min(check_integer("top_k", top_k, minimum=1), model.vocab_size)
    if not 0 <= check_real("alpha", alpha) <= 1:
        raise ValueError(f"alpha must lie in [0, 1], got {alpha!r}")
    return budget, width, float(alpha)


class _Reader:
    """Reads every candidate once: K rows of the cache for each prompt, and the states of the text so far."""

    def __init__(self, model: Any, width: int, use_cache: bool) -> None:
        self.model, self.width, self.use_cache = model, width, use_cache
        self.cache: Any = None
        self.known: Tensor  # (B, S, D), of the columns in the cache
        self.new: Tensor  # (B, K, D), of the candidates

    def start(self, x: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, V) after the prompts."""
        self.cache = self.model.make_cache(len(x)) if self.use_cache else None
        self.known = self._hidden(x, mask)
        self._take(torch.arange(len(x), device=x.device))
        return self.model.logits(self.known[:, -1])

    def likeness(self, x: Tensor, tokens: Tensor, mask: Tensor) -> Tensor:
        """The largest cosine of each candidate's state with those before it: tokens (B, K) -> (B, K)."""
        texts = torch.cat([x.repeat_interleave(self.width, 0), tokens.reshape(-1, 1)], dim=1)
        hidden = self._hidden(texts, mask.repeat_interleave(self.width, 0)).unflatten(0, tokens.shape)
        self.new = hidden[:, :, -1]
        # Without a cache every candidate has read the text anew; the states of the text are the same for all.
        before = hidden[:, 0, :-1] if self.cache is None else self.known
        unit, others = F.normalize(self.new.double(), dim=-1), F.normalize(before.double(), dim=-1)
        seen = mask[:, :-1][:, mask.shape[1] - 1 - others.shape[1] :]
        # No cosine lies below -1, so that is what padding counts, and a text of no columns.
        cosines = (unit @ others.transpose(1, 2)).masked_fill(~seen[:, None], -1.0)
        return F.pad(cosines, (0, 1), value=-1.0).amax(dim=-1)

    def keep(self, best: Tensor) -> Tensor:
        """Go on with one candidate of each prompt, best (B,); logits (B, V) after it."""
        row = torch.arange(len(best), device=best.device)
        chosen = self.new[row, best]
        if self.cache is not None:
            self.known = torch.cat([self.known, chosen[:, None]], dim=1)
            self._take(row * self.width + best)
        return self.model.logits(chosen)

    def _hidden(self, texts: Tensor, mask: Tensor) -> Tensor:
        ids, self.cache = next_generation_input(texts, self.cache, self.use_cache, self.model.max_seq_len)
        return self.model.hidden(ids, mask[:, -self.model.max_seq_len :], self.cache)

    def _take(self, rows: Tensor) -> None:
        if self.cache is not None:
            self.cache.select(rows.repeat_interleave(self.width))
