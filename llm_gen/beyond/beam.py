"""Beam search: the best of several texts that grow side by side.

Letters: B prompts, W beams a prompt, R results a prompt, P prompt length, S text so far, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from llm_gen.attention import check_generation_mask
from llm_gen.checks import check_ids, check_integer, check_real, check_token_id, check_token_ids
from llm_gen.generation import next_generation_input, predictor
from llm_gen.steps import Processor, Settings


@dataclass(frozen=True)
class BeamResult:
    """sequences: (B, R, P + n) int64, best first, pad after a finished text; scores: (B, R) float64.

    A score is the sum of the new tokens' log-probs, the eos included, over their number to the length_penalty.
    """

    sequences: Tensor
    scores: Tensor


@torch.no_grad()
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
    x = check_ids("x", x, model.vocab_size)
    padding = None if attention_mask is None else check_generation_mask(attention_mask, x)
    mask = None if padding is None else attention_mask.bool()
    eos = tuple(check_token_ids("eos_token_id", eos_token_id, model.vocab_size))
    pad = eos[0] if eos else 0
    if pad_token_id is not None:
        pad = check_token_id("pad_token_id", pad_token_id, model.vocab_size)
    plan = _Plan(width, results, groups, diversity, length_penalty, early_stopping, eos, max_new_tokens)
    plan.check(model.vocab_size)
    settings = Settings(False, 1.0, None, None, eos, pad, processors=tuple(processors))
    rows = [_Row(plan) for _ in range(len(x))]
    cache = model.make_cache(len(x)) if use_cache and plan.budget and len(x) else None
    predict, prompt_len = predictor(model), x.shape[1]
    for written in range(plan.budget if rows else 0):
        ids, cache = next_generation_input(x, cache, use_cache, model.max_seq_len)
        logits = predict(ids, None if mask is None else mask[:, -model.max_seq_len :], cache)
        if written == 0:
            spread = torch.arange(len(x), device=x.device).repeat_interleave(width)
            x, logits, mask = x[spread], logits[spread], None if mask is None else mask[spread]
            if cache is not None:
                cache.select(spread)
        text = x if mask is None else x.masked_fill(~mask, -1)
        log_probs = settings.process(text, logits, written).double().log_softmax(dim=-1)
        x, parents = _grow(rows, x, log_probs, written + 1)
        if cache is not None:
            cache.select(parents)
        mask = None if mask is None else torch.cat([mask[parents], torch.ones_like(mask[:, :1])], dim=1)
        if all(row.done for row in rows):
            break
    return _collect(rows, x, prompt_len, plan, pad)


@dataclass(frozen=True)
class _Plan:
    """The checked numbers of one search."""

    width: int
    results: int
    groups: int
    diversity: float
    length_penalty: float
    early_stopping: bool | str
    eos: tuple[int, ...]
    budget: int

    def check(self, vocab_size: int) -> None:
        check_integer("max_new_tokens", self.budget, minimum=0)
        width = check_integer("width", self.width, minimum=1)
        groups = check_integer("groups", self.groups, minimum=1)
        check_real("length_penalty", self.length_penalty)
        if check_real("diversity", self.diversity) < 0:
            raise ValueError(f"diversity must be >= 0, got {self.diversity!r}")
        if not isinstance(self.early_stopping, bool) and self.early_stopping != "never":
            raise ValueError(f"early_stopping must be True, False or 'never', got {self.early_stopping!r}")
        if width % groups:
            raise ValueError(f"width must be a multiple of groups, got {width} and {groups}")
        if check_integer("results", self.results, minimum=1) > width:
            raise ValueError(f"results must be <= width {width}, got {self.results}")
        if width // groups > vocab_size - len(set(self.eos)):
            raise ValueError(f"width must leave each beam a token of its own among {vocab_size}, got {width}")

    def score(self, total: float, length: int) -> float:
        return total / length**self.length_penalty


@dataclass
class _Row:
    """The beams of one prompt: open ones as a total each, finished ones as (score, text)."""

    plan: _Plan
    totals: Tensor = field(init=False)
    finished: list[list[tuple[float, Tensor]]] = field(init=False)
    closed: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        # At first all beams of a group hold the same text, so only one of them may be continued.
        size = self.plan.width // self.plan.groups
        one = torch.full((size,), -torch.inf, dtype=torch.float64)
        one[0] = 0.0
        self.totals = one.repeat(self.plan.groups)
        self.finished = [[] for _ in range(self.plan.groups)]
        self.closed = [False] * self.plan.groups

    @property
    def done(self) -> bool:
        return all(self.closed)

    def extend(self, texts: Tensor, log_probs: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """One step: texts (W, S), log_probs (W, V) -> the parents and the tokens of the new beams, (W,) each."""
        size = self.plan.width // self.plan.groups
        taken = torch.zeros(log_probs.shape[1], dtype=torch.float64)
        chosen = []
        for group in range(self.plan.groups):
            part = slice(group * size, (group + 1) * size)
            candidates = self.totals[part, None] + log_probs[part].cpu() - self.plan.diversity * taken
            totals, parents, tokens = self._extend_group(group, texts[part], candidates, length)
            self.totals[part] = totals
            taken.index_add_(0, tokens, torch.ones(size, dtype=torch.float64))
            chosen.append((parents + group * size, tokens))
        return torch.cat([parents for parents, _ in chosen]), torch.cat([tokens for _, tokens in chosen])

    def _extend_group(
        self, group: int, texts: Tensor, candidates: Tensor, length: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The best open continuations of a group; those that end are put among the finished, if they rank high."""
        size, vocab = candidates.shape
        count = min(size * vocab, size * max(2, 1 + len(self.plan.eos)))
        totals, places = candidates.flatten().sort(descending=True, stable=True)
        totals, parents, tokens = totals[:count], places[:count] // vocab, places[:count] % vocab
        ends = torch.isin(tokens, torch.tensor(self.plan.eos, dtype=torch.long))
        over = ends | (length == self.plan.budget)
        if not self.closed[group]:
            for rank in over[:size].nonzero()[:, 0].tolist():
                text = torch.cat([texts[parents[rank]], tokens[rank : rank + 1].to(texts.device)])
                self._finish(group, self.plan.score(totals[rank].item(), length), text)
        is_open = (~ends).nonzero()[:size, 0]
        self._close(group, totals[is_open[0]].item(), length)
        return totals[is_open], parents[is_open], tokens[is_open]

    def _finish(self, group: int, score: float, text: Tensor) -> None:
        size, ranked = self.plan.width // self.plan.groups, self.finished[group]
        if score > -torch.inf:
            ranked.append((score, text))
        ranked.sort(key=lambda pair: -pair[0])
        del ranked[size:]

    def _close(self, group: int, best_open: float, length: int) -> None:
        """Stop a group whose finished texts can no longer be beaten, as `early_stopping` says."""
        size = self.plan.width // self.plan.groups
        if len(self.finished[group]) < size:
            return
        if self.plan.early_stopping is True:
            self.closed[group] = True
            return
        longest = self.plan.early_stopping == "never" and self.plan.length_penalty > 0
        hope = self.plan.score(best_open, self.plan.budget if longest else length)
        self.closed[group] |= hope <= self.finished[group][-1][0]

    def best(self) -> list[tuple[float, Tensor]]:
        return sorted((pair for group in self.finished for pair in group), key=lambda pair: -pair[0])


def _grow(rows: Sequence[_Row], x: Tensor, log_probs: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """The beams' texts one token longer, (B * W, S + 1), and the row of x that each grew from, (B * W,)."""
    width = len(x) // len(rows)
    chosen = [
        row.extend(x[start : start + width], log_probs[start : start + width], length)
        for row, start in zip(rows, range(0, len(x), width))
    ]
    parents = torch.cat([parents + index * width for index, (parents, _) in enumerate(chosen)]).to(x.device)
    tokens = torch.cat([tokens for _, tokens in chosen]).to(x.device)
    return torch.cat([x[parents], tokens[:, None]], dim=1), parents


def _collect(rows: Sequence[_Row], x: Tensor, prompt_len: int, plan: _Plan, pad: int) -> BeamResult:
    """The best finished texts of every row as one padded batch."""
    if plan.budget == 0 or not rows:
        sequences = x[:, None].expand(-1, plan.results, -1).clone()
        return BeamResult(sequences, torch.zeros(len(x), plan.results, dtype=torch.float64))
    best = [row.best()[: plan.results] for row in rows]
    longest = max(len(text) for ranked in best for _, text in ranked)
    sequences = x.new_full((len(rows), plan.results, longest), pad)
    scores = torch.full((len(rows), plan.results), -torch.inf, dtype=torch.float64)
    for row, ranked in enumerate(best):
        for place, (score, text) in enumerate(ranked):
            sequences[row, place, : len(text)] = text
            scores[row, place] = score
    return BeamResult(sequences, scores)
