"""The loop: predict, choose, append. `generate` gives the text, `generate_steps` shows each step of it.

It asks of a model only: `model(ids, attention_mask=None, cache=None)` -> logits (B, T, V), `max_seq_len`, `vocab_size`
and `make_cache(batch_size)` (None if it keeps none). Letters: B batch, P prompt length, S text so far, V vocabulary.
"""

from __future__ import annotations

import inspect
import math
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from llm_gen.attention import Attention, check_generation_mask
from llm_gen.cache import cache_start_pos
from llm_gen.checks import check_end_and_pad, check_flag, check_ids, check_integer, check_logits, check_real
from llm_gen.decode import Decoder
from llm_gen.model import DecoderLM
from llm_gen.sampling import check_generator, check_settings, validate_sampling_args
from llm_gen.steps import Processor, Settings, Step


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
    processors: Sequence[Processor] = (),
    warpers: Sequence[Processor] = (),
    min_new_tokens: int = 0,
    max_time: float | None = None,
) -> Tensor:
    """The prompt x (B, P) and up to `max_new_tokens` new tokens after it: int64 (B, P + n).

    do_sample: False takes the likeliest token (ties: lower id) and ignores temperature, top_k and top_p; True
    draws, see `sample_next_token`. use_cache=False is the slow twin: the same tokens, everything recomputed (in half
    precision rounding may break a near tie otherwise).
    attention_mask: (B, P), 0 for padding (left only), 1 for text; each row then gives what it gives alone.
    eos_token_id: id or ids that finish a row; the id stays in the text, then comes `pad_token_id` (default: the
    first eos), and n is the step at which the last row ended. Past `model.max_seq_len` each step
    sees the last `max_seq_len` columns, at positions from 0.

    processors: functions (ids (B, S), logits (B, V)) -> logits (B, V), applied in order before the temperature, to
    greedy decoding too; ids is the text so far, with -1 for padding. warpers: the same, after top-p, for sampling only.
    What they make of a row that has ended does not matter.
    min_new_tokens: no eos before. max_time: seconds; the step in which they run out is the last.

    Gradients are off; the model's mode stays, with one UserWarning for dropout in train mode. x and the mask are not
    written to. Raises TypeError or ValueError, before the model runs, naming argument, rule and value.
    """
    steps = generate_steps(
        model, x, max_new_tokens, do_sample, temperature, top_k, top_p, use_cache, attention_mask,
        eos_token_id, pad_token_id, generator=generator, processors=processors, warpers=warpers,
        min_new_tokens=min_new_tokens, max_time=max_time,
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
    processors: Sequence[Processor] = (),
    warpers: Sequence[Processor] = (),
    min_new_tokens: int = 0,
    max_time: float | None = None,
) -> Iterator[Step]:
    """One `Step` for each token that `generate` would append, as it comes; the arguments are checked at once.

    Only the current step's logits (B, V) are held. Stopping early leaves nothing behind. No rows, no steps. The model
    must not change between two steps.
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
    eos, pad = check_end_and_pad(eos_token_id, pad_token_id, model.vocab_size)
    use_cache = check_flag("use_cache", use_cache)
    min_new_tokens = check_integer("min_new_tokens", min_new_tokens, minimum=0)
    seconds = math.inf if max_time is None else check_real("max_time", max_time)
    if seconds < 0:
        raise ValueError(f"max_time must be >= 0 seconds, got {max_time!r}")
    processors, warpers = check_functions("processors", processors), check_functions("warpers", warpers)
    warn_of_dropout(model)
    settings = Settings(
        do_sample, temperature, top_k, top_p, eos, pad, generator, processors, warpers, min_new_tokens, seconds
    )
    return _steps(model, x, attention_mask, max_new_tokens, use_cache, settings)


@torch.no_grad()
def _steps(
    model: Any, x: Tensor, mask: Tensor | None, budget: int, use_cache: bool, settings: Settings
) -> Iterator[Step]:
    if not len(x):
        return
    cache = model.make_cache(len(x)) if use_cache and budget else None
    finished = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    predict, deadline = Predictor(model), time.monotonic() + settings.max_time
    for written in range(budget):
        ids, cache = next_generation_input(x, cache, use_cache, model.max_seq_len)
        active = ~finished
        logits = predict(ids, None if mask is None else mask[:, -model.max_seq_len :], cache, active)
        text = x if mask is None else x.masked_fill(~mask, -1)
        processed = settings.process(text, logits, written, active)
        filtered = settings.filter(text, processed, active)
        tokens = settings.choose(filtered, processed, active)
        finished = finished | settings.ends(tokens) if settings.eos else finished
        x = torch.cat([x, tokens], dim=1)
        # The caller may write into the step, so what goes on from here is not part of it.
        read = ids.shape[1], cache_start_pos(cache)
        yield Step(tokens, active, finished.clone(), logits, processed, filtered, *read, settings)
        if (settings.eos and finished.all()) or time.monotonic() >= deadline:
            return
        mask = None if mask is None else torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)


def next_generation_input(x: Tensor, cache: Any, use_cache: bool, max_seq_len: int) -> tuple[Tensor, Any]:
    """What the next step feeds, and the cache it goes with: x (B, S) is the whole text so far.

    With a cache only the columns that it has not read. Past `max_seq_len` the last `max_seq_len` columns and no
    cache: every position has shifted, and deeper layers have seen the token that fell out.
    """
    if not isinstance(x, Tensor) or x.ndim != 2:
        raise TypeError(f"x must be a tensor of token ids (B, S), got {x!r}")
    if x.shape[1] > check_integer("max_seq_len", max_seq_len, minimum=1):
        return x[:, -max_seq_len:], None
    if not check_flag("use_cache", use_cache) or cache is None:
        return x, None
    start = cache_start_pos(cache)
    if start >= x.shape[1]:
        raise ValueError(f"x must hold a column that the cache has not read, got {x.shape[1]} and {start} read")
    return x[:, start:], cache


class Predictor:
    """(ids, mask, cache, active rows) -> checked logits (B, V) after the last of the ids.

    A forward that takes `last_only` is spared the logits of the other positions. New tokens of a cached text go
    through a `Decoder` if that does just what calling the model would: hooks and an overridden forward count.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.decoder = model, None
        is_spared = isinstance(model, nn.Module) and "last_only" in inspect.signature(model.forward).parameters
        self.options = {"last_only": True} if is_spared else {}

    def __call__(self, ids: Tensor, mask: Tensor | None, cache: Any, active: Tensor | None = None) -> Tensor:
        decoder = self._short_way(cache)
        if decoder is not None and ids.shape[1] == 1:
            return check_logits(decoder(ids, cache), active)
        logits = self.model(ids, attention_mask=mask, cache=cache, **self.options)[:, -1]
        if logits.shape[-1] != self.model.vocab_size:
            raise ValueError(f"model must give logits for its {self.model.vocab_size} tokens, got {logits.shape[-1]}")
        # A view of more positions would keep their logits alive for as long as the step is.
        return check_logits(logits if self.options else logits.clone(), active)

    def after_each(self, ids: Tensor, cache: Any) -> Tensor:
        """Logits (1, T, V) after each of the ids (1, T), which go on in a text without padding; not checked."""
        decoder, count = self._short_way(cache), ids.shape[1]
        if decoder is not None and cache.length + count <= cache.slots:
            return decoder(ids, cache)[:, None] if count == 1 else decoder.read(ids, cache)
        return self.model(ids, attention_mask=None, cache=cache)

    def _short_way(self, cache: Any) -> Decoder | None:
        """The decoder of a text that has been read, if the model can have one."""
        if cache_start_pos(cache) > 0:
            return self.decoder
        # A text begins, and the model may have got hooks since the last one.
        fits = cache is not None and Decoder.fits(self.model)
        self.decoder = getattr(self.model, "make_decoder", Decoder)(self.model) if fits else None
        return None


def check_functions(name: str, functions: Sequence[Any]) -> tuple[Any, ...]:
    """The functions as a tuple; TypeError for anything but a list of functions."""
    if not isinstance(functions, Sequence) or not all(callable(function) for function in functions):
        raise TypeError(f"{name} must be a list of functions, got {functions!r}")
    return tuple(functions)


def warn_of_dropout(model: Any) -> None:
    """One UserWarning for a model with a part in train mode that has dropout, at the line that called the package."""
    parts = model.modules() if isinstance(model, nn.Module) else ()
    if any(part.training and _dropout_of(part) > 0 for part in parts):
        frame, level = sys._getframe(1), 2
        while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in {"llm_gen", "torch"}:
            frame, level = frame.f_back, level + 1
        text = "the model is in train mode, so dropout makes its text random; call model.eval()"
        warnings.warn(text, stacklevel=level)


def _dropout_of(part: nn.Module) -> float:
    return part.p if isinstance(part, nn.Dropout) else part.dropout if isinstance(part, Attention) else 0.0


# Every family has `generate` as a method; it is attached from here because imports point one way.
DecoderLM.generate = generate
