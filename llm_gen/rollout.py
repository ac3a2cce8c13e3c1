"""Rollouts: text with the log-probability of each of its tokens, by the same arithmetic in generation and training.

So the importance ratio of a policy with itself is 1 (PPO, arXiv:1707.06347). Letters: B batch, P prompt length,
G steps generated, T = P + G, V vocabulary. Everything is aligned to targets: entry t of (B, T - 1) speaks of the
token at column t + 1, which the logits at column t predict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn

from llm_gen.attention import check_generation_mask
from llm_gen.checks import check_flag, check_ids, check_integer, check_logits, check_token_id, check_token_ids
from llm_gen.generation import generate_steps
from llm_gen.sampling import apply_filters, check_settings, validate_sampling_args
from llm_gen.steps import GREEDY

GPT2_END_OF_TEXT = 50256


@dataclass(frozen=True, eq=False)
class RolloutBatch:
    """What was sampled and how likely it was.

    sequences: (B, T) int64. response_mask: (B, T) bool, True on generated tokens up to and with the stop token.
    log_probs: (B, T - 1) float32, under the distribution drawn from; full_log_probs: under the whole softmax at
    that temperature; both 0 outside the response. prompt_len: P.
    """

    sequences: Tensor
    response_mask: Tensor
    log_probs: Tensor
    full_log_probs: Tensor
    prompt_len: int


def generate_with_logprobs(
    model: Any,
    prompt_ids: Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop_tokens: int | Sequence[int] | None = (GPT2_END_OF_TEXT,),
    pad_id: int = GPT2_END_OF_TEXT,
    attention_mask: Tensor | None = None,
    use_cache: bool = True,
    generator: Generator | Sequence[Generator] | None = None,
) -> RolloutBatch:
    """Sample after prompt_ids (B, P) and record both log-probs of each token; dropout is off meanwhile.

    Greedy is (temperature, top_k, top_p) = (1.0, 1, None), and draws no random number. At most `context - P` tokens
    are made, so that one pass can score them. The default ids are GPT-2's end of text: a model with a smaller
    vocabulary needs its own. Raises like `generate`, and ValueError where the context leaves no room for a new token.
    """
    prompt_ids = check_ids("prompt_ids", prompt_ids, model.vocab_size)
    batch, width = prompt_ids.shape
    room = model.max_seq_len - width
    if room < 1 or batch < 1:
        raise ValueError(
            f"prompt_ids must have at least one row and fewer columns than the context of {model.max_seq_len}, "
            f"got shape {(batch, width)}"
        )
    budget = min(check_integer("max_new_tokens", max_new_tokens, minimum=0), room)
    stops, pad = _own_ids(model, stop_tokens, pad_id)
    sequences, active = [prompt_ids], [torch.zeros_like(prompt_ids, dtype=torch.bool)]
    drawn = [torch.zeros_like(prompt_ids[:, 1:], dtype=torch.float32)]
    full = list(drawn)
    draws = (temperature, top_k, top_p) != GREEDY
    with evaluation_mode(model):
        for step in generate_steps(
            model, prompt_ids, budget, draws, temperature, top_k, top_p, use_cache, attention_mask, stops, pad,
            generator=generator,
        ):  # fmt: skip
            sequences.append(step.tokens)
            active.append(step.active[:, None])
            drawn.append(step.log_probs[:, None])
            full.append(step.full_log_probs[:, None])
    return RolloutBatch(*(torch.cat(parts, dim=1) for parts in (sequences, active, drawn, full)), prompt_len=width)


def compute_logprobs(
    model: Any,
    sequences: Tensor,
    response_mask: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    attention_mask: Tensor | None = None,
    requires_grad: bool = True,
) -> tuple[Tensor, Tensor]:
    """Log-probs of the response under the model as it is now: (log_probs, mask), each (B, T - 1), float32 and bool.

    sequences: (B, T), response_mask: (B, T) as in RolloutBatch. The settings are those that the tokens were drawn
    with; without top_k and top_p the numbers are those of `full_log_probs`. A token that the filters drop has
    -inf, entries outside the mask are 0. attention_mask: (B, T), or the prompt's own (B, P). Where T is beyond the
    context each target sees its own window, as it did when it was drawn. Dropout is off. Gradients flow to the
    weights unless requires_grad is False. Raises TypeError or ValueError for arguments that do not fit.
    """
    sequences = check_ids("sequences", sequences, model.vocab_size)
    mask = _check_response_mask(response_mask, sequences)[:, 1:]
    validate_sampling_args(True, temperature, top_k, top_p)
    settings = check_settings(temperature, top_k, top_p)
    attention_mask = _whole_mask(attention_mask, sequences, mask)
    grad = check_flag("requires_grad", requires_grad) and torch.is_grad_enabled()
    with evaluation_mode(model), torch.set_grad_enabled(grad):
        log_probs = torch.zeros_like(mask, dtype=torch.float32)
        for first, logits in _target_logits(model, sequences, attention_mask, mask):
            part = mask[:, first : first + logits.shape[1]]
            targets = sequences[:, first + 1 : first + 1 + logits.shape[1]][part]
            rows = apply_filters(check_logits(logits[part]), *settings).log_softmax(dim=-1)
            row, column = part.nonzero(as_tuple=True)
            log_probs = log_probs.index_put((row, column + first), rows.gather(-1, targets[:, None])[:, 0].float())
    return log_probs, mask


def batched_generate(
    model: Any,
    prompts: Sequence[Sequence[int] | Tensor],
    max_new_tokens: int,
    *,
    greedy: bool = False,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop_tokens: int | Sequence[int] | None = (GPT2_END_OF_TEXT,),
    pad_id: int = GPT2_END_OF_TEXT,
    use_cache: bool = True,
    generator: Generator | Sequence[Generator] | None = None,
) -> list[list[int]]:
    """The new tokens of each of several prompts of any lengths, up to and with the first stop token.

    Each prompt gets what it would get alone (with sampling: given one generator a prompt); the longest one sets how
    much room the context leaves. Raises like `generate_with_logprobs`.
    """
    if check_flag("greedy", greedy):
        temperature, top_k, top_p = GREEDY
    if not hasattr(prompts, "__len__") or isinstance(prompts, str):
        raise TypeError(f"prompts must be a list of prompts, got {prompts!r}")
    if len(prompts) == 0:
        return []
    ids, attention_mask = _pad_left(model, prompts)
    batch = generate_with_logprobs(
        model, ids, max_new_tokens, temperature=temperature, top_k=top_k, top_p=top_p, stop_tokens=stop_tokens,
        pad_id=pad_id, attention_mask=attention_mask, use_cache=use_cache, generator=generator,
    )  # fmt: skip
    return [row[kept].tolist() for row, kept in zip(batch.sequences, batch.response_mask)]


@contextmanager
def evaluation_mode(model: Any) -> Iterator[None]:
    """Dropout off inside; afterwards each submodule is in the mode it was in, whatever happened."""
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    modes = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        yield
    finally:
        for module, mode in zip(modules, modes):
            module.training = mode


def _own_ids(model: Any, stop_tokens: int | Sequence[int] | None, pad_id: int) -> tuple[list[int], int | None]:
    """The stop ids and the pad id, checked; pad is None where no row can end early and it was left at its default."""
    try:
        stops = check_token_ids("stop_tokens", stop_tokens, model.vocab_size)
        if not stops and pad_id == GPT2_END_OF_TEXT:
            return stops, None
        return stops, check_token_id("pad_id", pad_id, model.vocab_size)
    except ValueError as error:
        raise ValueError(
            f"{error}; the defaults are GPT-2's, so give this model its own stop_tokens and pad_id"
        ) from None


def _check_response_mask(response_mask: Tensor, sequences: Tensor) -> Tensor:
    if not isinstance(response_mask, Tensor):
        raise TypeError(f"response_mask must be a tensor, got {type(response_mask).__name__}")
    if response_mask.shape != sequences.shape:
        raise ValueError(
            f"response_mask must have the shape {tuple(sequences.shape)} of the sequences, "
            f"got {tuple(response_mask.shape)}"
        )
    if not ((response_mask == 0) | (response_mask == 1)).all():
        other = response_mask[(response_mask != 0) & (response_mask != 1)][0].item()
        raise ValueError(f"response_mask must hold 0 and 1 only, got {other}")
    return response_mask.bool()


def _whole_mask(attention_mask: Tensor | None, sequences: Tensor, targets: Tensor) -> Tensor | None:
    """An attention mask over the sequences (B, T); the prompt's own mask is continued with ones."""
    if attention_mask is None:
        return None
    if isinstance(attention_mask, Tensor) and attention_mask.shape != sequences.shape and targets.any():
        # Not every token of the response need be asked for, so the prompt may end before the first that is.
        first = int(targets.any(dim=0).nonzero()[0]) + 1
        prompt_len = min(first, attention_mask.shape[1]) if attention_mask.ndim == 2 else first
        check_generation_mask(attention_mask, sequences[:, :prompt_len])
        ones = torch.ones_like(sequences[:, prompt_len:], dtype=attention_mask.dtype)
        attention_mask = torch.cat([attention_mask, ones], dim=1)
    check_generation_mask(attention_mask, sequences)
    return attention_mask


def _target_logits(
    model: Any, sequences: Tensor, attention_mask: Tensor | None, mask: Tensor
) -> Iterator[tuple[int, Tensor]]:
    """Pairs (first, logits (B, n, V)): the logits for n targets from entry `first` on, where any of them is masked in.

    One pass covers the targets whose window starts at column 0; each later one needs a pass of its own.
    """
    context, last = model.max_seq_len, sequences.shape[1] - 1
    for start in range(max(1, last - context + 1)):
        end = min(start + context, last)
        first = 0 if start == 0 else end - 1
        if mask[:, first:end].any():
            seen = None if attention_mask is None else _never_empty(attention_mask[:, start:end].bool())
            yield first, model(sequences[:, start:end], attention_mask=seen, cache=None)[:, first - start :]


def _never_empty(mask: Tensor) -> Tensor:
    """A mask (B, T) whose rows all have a column: in a window of padding alone no target is asked for."""
    return torch.cat([mask[:, :-1], mask[:, -1:] | ~mask.any(dim=1, keepdim=True)], dim=1)


def _pad_left(model: Any, prompts: Sequence[Sequence[int] | Tensor]) -> tuple[Tensor, Tensor]:
    """Prompts of any lengths as ids (B, P) and mask (B, P); what fills the padding is never looked at."""
    rows = [_prompt(f"prompts[{index}]", prompt, model.vocab_size) for index, prompt in enumerate(prompts)]
    width = max(len(row) for row in rows)
    ids = torch.stack([torch.cat([row.new_zeros(width - len(row)), row]) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return ids, (torch.arange(width) >= width - lengths[:, None]).long()


def _prompt(name: str, prompt: Sequence[int] | Tensor, vocab_size: int) -> Tensor:
    """One prompt, a list of ids or a tensor (P,) or (1, P), as int64 (P,)."""
    if not isinstance(prompt, Tensor):
        if not hasattr(prompt, "__len__") or isinstance(prompt, str):
            raise TypeError(f"{name} must be a list of token ids, got {prompt!r}")
        prompt = torch.as_tensor(prompt, dtype=None if len(prompt) else torch.long)
    if prompt.ndim != 1 and prompt.shape[:-1] != (1,):
        raise ValueError(f"{name} must hold one prompt, got shape {tuple(prompt.shape)}")
    return check_ids(name, prompt.reshape(1, -1), vocab_size)[0]
