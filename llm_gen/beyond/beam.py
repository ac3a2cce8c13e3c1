"""Beam search: the best of several texts that grow side by side.

Letters: B prompts, W beams a prompt, R results a prompt, P prompt length, S text so far, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llm_gen.attention import check_generation_mask
from llm_gen.beyond.beams import Beams, Plan
from llm_gen.checks import check_end_and_pad, check_ids, check_integer, check_token_ids
from llm_gen.generation import Predictor, check_functions, next_generation_input, warn_of_dropout
from llm_gen.steps import Processor, Settings


@dataclass(frozen=True, eq=False)
class BeamResult:
    """sequences: (B, R, P + n) int64, best first, pad after a finished text; scores: (B, R) float64.

    A score is the sum of the new tokens' log-probs, the eos included, over their number to the length_penalty. Where
    fewer than R texts are possible the rest hold the prompt alone, at -inf.
    """

    sequences: Tensor
    scores: Tensor


@dataclass(frozen=True, eq=False)
class BeamStep:
    """One step of a search. log_probs: (B, W, V), what the model said after each beam of the step before.

    texts: (B, W, S + 1), the open beams now, the best of each group first; parents: (B, W), the beams that they grew
    from; totals: (B, W), their sums of log-probs, -inf for a beam that cannot be, whose text is another's. finished:
    for each prompt the best finished texts so far as (score, ids), best first.
    """

    log_probs: Tensor
    texts: Tensor
    parents: Tensor
    totals: Tensor
    finished: list[list[tuple[float, Tensor]]]


def beam_search(
    model: Any,
    x: Tensor,
    max_new_tokens: int,
    width: int,
    *,
    length_penalty: float = 1.0,
    early_stopping: bool | str = False,
    results: int = 1,
    groups: int = 1,
    diversity: float = 0.0,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    attention_mask: Tensor | None = None,
    use_cache: bool = True,
    processors: Sequence[Processor] = (),
) -> BeamResult:
    """The `results` best texts after each prompt x (B, P) that `width` beams find (arXiv:1211.3711).

    length_penalty: above 0 favours long texts, below 0 short ones. early_stopping: True ends when `width` texts are
    finished; False when the best open beam, at its present length, cannot beat the worst of them; "never" when it
    cannot at any length. groups: beams are split into so many groups, chosen one after another; a token loses
    `diversity` for each beam of an earlier group that takes it in the same step (arXiv:1610.02424). The cache is
    reordered, never recomputed, until the context is full. Ties go to the better beam, then to the lower id. Raises
    like `generate`, and ValueError for a width that the vocabulary does not allow.
    """
    steps = beam_steps(
        model, x, max_new_tokens, width, length_penalty=length_penalty, early_stopping=early_stopping, groups=groups,
        diversity=diversity, eos_token_id=eos_token_id, attention_mask=attention_mask, use_cache=use_cache,
        processors=processors,
    )  # fmt: skip
    if check_integer("results", results, minimum=1) > width:
        raise ValueError(f"results must be <= width {width}, got {results}")
    _, pad = check_end_and_pad(eos_token_id, pad_token_id, model.vocab_size)
    finished: list[list[tuple[float, Tensor]]] = [[(0.0, text)] * results for text in x.long()]
    for step in steps:
        finished = step.finished
    return _collect([ranked[:results] for ranked in finished], x, results, pad or 0, x.shape[1] + int(max_new_tokens))


def beam_steps(
    model: Any,
    x: Tensor,
    max_new_tokens: int,
    width: int,
    *,
    length_penalty: float = 1.0,
    early_stopping: bool | str = False,
    groups: int = 1,
    diversity: float = 0.0,
    eos_token_id: int | Sequence[int] | None = None,
    attention_mask: Tensor | None = None,
    use_cache: bool = True,
    processors: Sequence[Processor] = (),
) -> Iterator[BeamStep]:
    """The steps of `beam_search`, as they come; the arguments are checked at once."""
    x = check_ids("x", x, model.vocab_size).clone()
    if attention_mask is not None:
        check_generation_mask(attention_mask, x)
        attention_mask = attention_mask.bool().clone()
    eos = tuple(check_token_ids("eos_token_id", eos_token_id, model.vocab_size))
    plan = Plan(width, groups, diversity, length_penalty, early_stopping, eos, max_new_tokens).checked(model.vocab_size)
    settings = Settings(False, 1.0, None, None, eos, None, processors=check_functions("processors", processors))
    warn_of_dropout(model)
    return _steps(model, x, attention_mask, plan, use_cache, settings)


@torch.no_grad()
def _steps(
    model: Any, x: Tensor, mask: Tensor | None, plan: Plan, use_cache: bool, settings: Settings
) -> Iterator[BeamStep]:
    rows = [Beams(plan) for _ in range(len(x))]
    cache = model.make_cache(len(x)) if use_cache and plan.budget and rows else None
    predict, shape = Predictor(model), (len(x), plan.width)
    for written in range(plan.budget if rows else 0):
        ids, cache = next_generation_input(x, cache, use_cache, model.max_seq_len)
        logits = predict(ids, None if mask is None else mask[:, -model.max_seq_len :], cache)
        if written == 0:
            spread = torch.arange(len(x), device=x.device).repeat_interleave(plan.width)
            x, logits, mask = x[spread], logits[spread], None if mask is None else mask[spread]
            if cache is not None:
                cache.select(spread)
        text = x if mask is None else x.masked_fill(~mask, -1)
        log_probs = settings.process(text, logits, written).double().log_softmax(dim=-1).unflatten(0, shape)
        x, parents = _grow(rows, x.unflatten(0, shape), log_probs, written + 1)
        if cache is not None:
            cache.select(parents)
        mask = None if mask is None else torch.cat([mask[parents], torch.ones_like(mask[:, :1])], dim=1)
        totals = torch.stack([row.totals for row in rows])
        yield BeamStep(
            log_probs, x.unflatten(0, shape), parents.view(shape) % plan.width, totals, [row.best() for row in rows]
        )
        if all(row.done for row in rows):
            return


def _grow(rows: Sequence[Beams], x: Tensor, log_probs: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """The beams' texts one token longer, (B * W, S + 1), and the row of x (B, W, S) that each grew from, (B * W,)."""
    chosen = [row.extend(texts, said, length) for row, texts, said in zip(rows, x, log_probs)]
    parents = torch.cat([parents + index * x.shape[1] for index, (parents, _) in enumerate(chosen)]).to(x.device)
    tokens = torch.cat([tokens for _, tokens in chosen]).to(x.device)
    return torch.cat([x.flatten(0, 1)[parents], tokens[:, None]], dim=1), parents


def _collect(best: list[list[tuple[float, Tensor]]], x: Tensor, results: int, pad: int, no_rows: int) -> BeamResult:
    """The best finished texts of every prompt as one padded batch; `no_rows` wide if there is no prompt."""
    longest = max((len(text) for ranked in best for _, text in ranked), default=no_rows)
    sequences = x.new_full((len(best), results, longest), pad, dtype=torch.long)
    sequences[:, :, : x.shape[1]] = x[:, None]
    scores = torch.full((len(best), results), -torch.inf, dtype=torch.float64)
    for row, ranked in enumerate(best):
        for place, (score, text) in enumerate(ranked):
            sequences[row, place, : len(text)] = text
            scores[row, place] = score
    return BeamResult(sequences, scores)
