"""What one step of the loop is: the settings that choose a token, and the record of what was chosen.

The order is always: processors, temperature, top-k, top-p, warpers, draw. Letters: B batch, S text so far,
V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import torch
from torch import Generator, Tensor

from llm_gen.checks import check_logits
from llm_gen.sampling import apply_filters, draw, greedy_token
from llm_gen.scaling import scale_by_temperature, to_float32

Processor = Callable[[Tensor, Tensor], Tensor]
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
    generator: Generator | Sequence[Generator] | None = field(default=None, repr=False)
    processors: tuple[Processor, ...] = ()
    warpers: tuple[Processor, ...] = ()
    min_new_tokens: int = 0
    max_time: float = math.inf

    @property
    def temperature_used(self) -> float:
        return self.temperature if self.do_sample else GREEDY[0]

    def process(self, ids: Tensor, logits: Tensor, new_tokens: int, active: Tensor | None = None) -> Tensor:
        """The model's logits (B, V) after the processors, in their order; `new_tokens` are already written.

        active: (B,), rows that are still writing (default: all); what becomes of the others must not matter.
        """
        logits = _apply(self.processors, ids, logits, active)
        if new_tokens < self.min_new_tokens and self.eos:
            eos = torch.tensor(self.eos, device=logits.device)
            logits = check_logits(logits.index_fill(-1, eos, -torch.inf), active)
        return logits

    def filter(self, ids: Tensor, processed: Tensor, active: Tensor | None = None) -> Tensor | None:
        """Processed logits (B, V) after temperature, top-k, top-p and the warpers; None for greedy, which draws not."""
        if not self.do_sample:
            return None
        return _apply(self.warpers, ids, apply_filters(processed, self.temperature, self.top_k, self.top_p), active)

    def choose(self, filtered: Tensor | None, processed: Tensor, active: Tensor) -> Tensor:
        """The next token of each active row (B,) and pad for the others: (B, V) -> (B, 1)."""
        tokens = greedy_token(processed) if filtered is None else draw(filtered, self.generator)
        return tokens if self.pad is None else tokens.masked_fill(~active[:, None], self.pad)

    def ends(self, tokens: Tensor) -> Tensor:
        """Rows (B,) whose new token (B, 1) is one of the eos ids."""
        return (tokens == tokens.new_tensor(self.eos)).any(dim=1)


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the loop. Distributions are computed when they are asked for, in float32.

    tokens: (B, 1), what was appended; active: (B,), rows that were still writing, so that their token is text and
    not pad; finished: (B,), rows that have ended, this step included. logits: (B, V) as the model gave them;
    processed: after the processors; drawn_from: after the filters too, None for greedy. tokens_fed: columns read in
    this step, a row. cache_length: columns in the cache afterwards, 0 without one.
    """

    tokens: Tensor
    active: Tensor
    finished: Tensor
    logits: Tensor
    processed: Tensor
    drawn_from: Tensor | None
    tokens_fed: int
    cache_length: int
    settings: Settings = field(repr=False)

    @cached_property
    def model_probs(self) -> Tensor:
        """The model's own distribution, before processors, temperature and filters, (B, V)."""
        return to_float32(self.logits).softmax(dim=-1)

    @cached_property
    def filtered(self) -> Tensor:
        """The logits that the tokens were drawn from, dropped tokens -inf, (B, V); greedy: all but one."""
        return apply_filters(self.processed, *GREEDY) if self.drawn_from is None else self.drawn_from

    @cached_property
    def probs(self) -> Tensor:
        """The distribution that the tokens were drawn from, (B, V); greedy: a one-hot."""
        return to_float32(self.filtered).softmax(dim=-1)

    @cached_property
    def log_probs(self) -> Tensor:
        """Log-probability of each token under `probs`, (B,); 0 where a row was padded."""
        return self._of_tokens(self.filtered)

    @cached_property
    def full_log_probs(self) -> Tensor:
        """Log-probability of each token under the whole softmax at the temperature, (B,); 0 where padded."""
        return self._of_tokens(scale_by_temperature(self.processed, self.settings.temperature_used))

    def _of_tokens(self, logits: Tensor) -> Tensor:
        log_probs = to_float32(logits).log_softmax(dim=-1).gather(-1, self.tokens)[:, 0]
        return log_probs.masked_fill(~self.active, 0.0)


def function_name(function: Any) -> str:
    """What a processor is called in messages, arguments of functools.partial included."""
    if isinstance(function, partial):
        given = [*map(repr, function.args), *(f"{name}={value!r}" for name, value in function.keywords.items())]
        return f"{function_name(function.func)}({', '.join(given)})"
    return getattr(function, "__name__", type(function).__name__)


def _apply(processors: Sequence[Processor], ids: Tensor, logits: Tensor, active: Tensor | None) -> Tensor:
    """The logits after each processor, refused with its name unless they are usable and of the same shape."""
    for processor in processors:
        result = _call(processor, ids, logits)
        rule = f"{function_name(processor)} must return usable logits of shape {tuple(logits.shape)}"
        if not isinstance(result, Tensor) or result.shape != logits.shape:
            got = tuple(result.shape) if isinstance(result, Tensor) else repr(result)
            raise ValueError(f"{rule}, got {got}")
        try:
            logits = check_logits(result, active)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{rule}: {error}") from None
    return logits


def _call(processor: Processor, ids: Tensor, logits: Tensor) -> object:
    """What the processor gives; a number that it refuses is told with the processor's name."""
    try:
        # Copies: a processor that writes into its arguments must not reach the text or the record.
        return processor(ids.clone(), logits.clone())
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{function_name(processor)} fails: {error}") from error
