"""The loop: predict, choose, append. `generate` gives the text, `generate_steps` shows each step of it.

It asks of a model only: `model(ids, attention_mask=None, cache=None)` -> logits (B, T, V), `max_seq_len`, `vocab_size`
and `make_cache(batch_size)` (None if it keeps none). A `next_logits` method, where there is one, saves the logits
of all but the last position. Letters: B batch, P prompt length, V vocabulary.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor, nn

from llm_gen.attention import check_generation_mask
from llm_gen.cache import cache_start_pos
from llm_gen.checks import check_flag, check_ids, check_integer, check_logits, check_token_id, check_token_ids
from llm_gen.model import DecoderLM
from llm_gen.sampling import (
    apply_filters,
    check_generator,
    check_settings,
    draw,
    greedy_token,
    scale_by_temperature,
    to_float32,
    validate_sampling_args,
)

GREEDY = (1.0, 1, None)  # temperature, top_k, top_p: the distribution that greedy decoding draws from


@dataclass(frozen=True)
class Settings:
    """How a token is chosen, and when a row ends; checked numbers only."""

    do_sample: bool
    temperature: float
    top_k: int | None
    top_p: float | None
    eos: tuple[int, ...]
    pad: int | None
    generator: Generator | Sequence[Generator] | None = field(repr=False)

    @property
    def filters(self) -> tuple[float, int | None, float | None]:
        return (self.temperature, self.top_k, self.top_p) if self.do_sample else GREEDY


@dataclass(frozen=True)
class Step:
    """One step of the loop. Distributions are computed when they are asked for, in float32.

    tokens: (B, 1), what was appended; active: (B,), rows that were still writing, so that their token is text and
    not pad; finished: (B,), rows that have ended, this step included. logits: (B, V) as the model gave them.
    tokens_fed: columns read in this step, a row. cache_length: columns in the cache afterwards, 0 without one.
    """

    tokens: Tensor
    active: Tensor
    finished: Tensor
    logits: Tensor
    tokens_fed: int
    cache_length: int
    settings: Settings = field(repr=False)

    @cached_property
    def model_probs(self) -> Tensor:
        """The model's own distribution, before temperature and filters, (B, V)."""
        return to_float32(self.logits).softmax(dim=-1)

    @cached_property
    def probs(self) -> Tensor:
        """The distribution that the tokens were drawn from, (B, V); greedy: a one-hot."""
        return to_float32(apply_filters(self.logits, *self.settings.filters)).softmax(dim=-1)

    @cached_property
    def log_probs(self) -> Tensor:
        """Log-probability of each token under `probs`, (B,); 0 where a row was padded."""
        return self._of_tokens(apply_filters(self.logits, *self.settings.filters))

    @cached_property
    def full_log_probs(self) -> Tensor:
        """Log-probability of each token under the whole softmax at the temperature, (B,); 0 where padded."""
        return self._of_tokens(scale_by_temperature(self.logits, self.settings.filters[0]))

    def _of_tokens(self, logits: Tensor) -> Tensor:
        log_probs = to_float32(logits).log_softmax(dim=-1).gather(-1, self.tokens)[:, 0]
        return log_probs.masked_fill(~self.active, 0.0)


def generate(
    model: Any,
    x: Tensor,
    max_new_tokens: int,
    do_sample: bool,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    use_cache: bool = True,
    attention_mask: Tensor | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    *,
    generator: Generator | Sequence[Generator] | None = None,
) -> Tensor:
    """The prompt x (B, P) and up to `max_new_tokens` new tokens after it: int64 (B, P + n).

    do_sample: False takes the likeliest token (ties: lower id) and ignores temperature, top_k and top_p; True
    draws, see `sample_next_token`. use_cache=False is the slow twin: the same tokens, everything recomputed.
    attention_mask: (B, P), 0 for padding (left only), 1 for text; each row then gives what it gives alone.
    eos_token_id: id or ids that finish a row; the id stays in the text, then comes `pad_token_id` (default: the
    first eos), and n is the step at which the last row ended. Past `model.max_seq_len` each step
    sees the last `max_seq_len` columns, at positions from 0.

    Gradients are off; the model's mode stays, with one UserWarning for dropout in train mode. x and the mask are not
    written to. Raises TypeError or ValueError, before the model runs, naming argument, rule and value.
    """
    steps = generate_steps(
        model, x, max_new_tokens, do_sample, temperature, top_k, top_p, use_cache, attention_mask,
        eos_token_id, pad_token_id, generator=generator,
    )  # fmt: skip
    if len(x) == 0:
        return x.new_zeros((0, x.shape[1] + int(max_new_tokens)), dtype=torch.long)
    return torch.cat([x.long(), *(step.tokens for step in steps)], dim=1)


def generate_steps(
    model: Any,
    x: Tensor,
    max_new_tokens: int,
    do_sample: bool,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    use_cache: bool = True,
    attention_mask: Tensor | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    *,
    generator: Generator | Sequence[Generator] | None = None,
) -> Iterator[Step]:
    """One `Step` for each token that `generate` would append, as it comes; the arguments are checked at once.

    Only the current step's logits (B, V) are held. Stopping early leaves nothing behind.
    """
    # The steps come later: the caller may write into x or the mask before then, or between two of them.
    x = check_ids("x", x, model.vocab_size).clone()
    max_new_tokens = check_integer("max_new_tokens", max_new_tokens, minimum=0)
    validate_sampling_args(do_sample, temperature, top_k, top_p)
    if do_sample:
        temperature, top_k, top_p = check_settings(temperature, top_k, top_p)
        check_generator(generator, x)
    if attention_mask is not None:
        check_generation_mask(attention_mask, x)
        attention_mask = attention_mask.bool().clone()
    eos = tuple(check_token_ids("eos_token_id", eos_token_id, model.vocab_size))
    pad = eos[0] if eos else None
    if pad_token_id is not None:
        pad = check_token_id("pad_token_id", pad_token_id, model.vocab_size)
    use_cache = check_flag("use_cache", use_cache)
    _warn_of_dropout(model)
    settings = Settings(bool(do_sample), temperature, top_k, top_p, eos, pad, generator)
    return _steps(model, x, attention_mask, max_new_tokens, use_cache, settings)


@torch.no_grad()
def _steps(
    model: Any, x: Tensor, mask: Tensor | None, budget: int, use_cache: bool, settings: Settings
) -> Iterator[Step]:
    cache = model.make_cache(len(x)) if use_cache and budget and len(x) else None
    finished = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for _ in range(budget):
        ids, cache = next_generation_input(x, cache, use_cache, model.max_seq_len)
        logits = _next_logits(model, ids, None if mask is None else mask[:, -model.max_seq_len :], cache)
        active = ~finished
        tokens = _choose(logits, active, settings)
        finished = finished | _ends(tokens, settings.eos)
        yield Step(tokens, active, finished, logits, ids.shape[1], cache_start_pos(cache), settings)
        if settings.eos and finished.all():
            return
        x = torch.cat([x, tokens], dim=1)
        mask = None if mask is None else torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)


def next_generation_input(x: Tensor, cache: Any, use_cache: bool, max_seq_len: int) -> tuple[Tensor, Any]:
    """What the next step feeds, and the cache it goes with: x (B, S) is the whole text so far.

    With a cache only the columns that it has not read. Past `max_seq_len` the last `max_seq_len` columns and no
    cache: every position has shifted, and deeper layers have seen the token that fell out.
    """
    if x.shape[1] > max_seq_len:
        return x[:, -max_seq_len:], None
    if not use_cache or cache is None:
        return x, None
    return x[:, cache_start_pos(cache) :], cache


def _next_logits(model: Any, ids: Tensor, mask: Tensor | None, cache: Any) -> Tensor:
    """Logits (B, V) after the last of the ids, checked."""
    if hasattr(model, "next_logits"):
        return check_logits(model.next_logits(ids, attention_mask=mask, cache=cache))
    # A view would keep the logits of every position alive for as long as the step is.
    return check_logits(model(ids, attention_mask=mask, cache=cache)[:, -1].clone())


def _choose(logits: Tensor, active: Tensor, settings: Settings) -> Tensor:
    """The next token of each active row and pad for the others, (B, 1)."""
    if settings.do_sample:
        tokens = draw(apply_filters(logits, *settings.filters), settings.generator)
    else:
        tokens = greedy_token(logits)
    return tokens if settings.pad is None else tokens.masked_fill(~active[:, None], settings.pad)


def _ends(tokens: Tensor, eos: tuple[int, ...]) -> Tensor:
    """Rows (B,) whose new token (B, 1) is one of the eos ids."""
    return (tokens == tokens.new_tensor(eos)).any(dim=1)


def _warn_of_dropout(model: Any) -> None:
    parts = model.modules() if isinstance(model, nn.Module) else ()
    if any(isinstance(part, nn.Dropout) and part.training and part.p > 0 for part in parts):
        warnings.warn("the model is in train mode, so dropout makes its text random; call model.eval()", stacklevel=3)


# Every family has `generate` as a method; it is attached from here because imports point one way.
DecoderLM.generate = generate
