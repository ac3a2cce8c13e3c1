"""The beams of one prompt: which continuations stay, which are finished, and when nothing better can come.

Letters: W beams, S text so far, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from llm_gen.checks import check_flag, check_integer, check_real

LARGEST_LOG = 700.0  # exp of it is just within float64


@dataclass(frozen=True)
class Plan:
    """The numbers of one search; `checked` gives them as plain ones."""

    width: int
    groups: int
    diversity: float
    length_penalty: float
    early_stopping: bool | str
    eos: tuple[int, ...]
    budget: int

    def checked(self, vocab_size: int) -> Plan:
        """The same plan in plain numbers. Raises TypeError or ValueError, naming argument, rule and value."""
        budget = check_integer("max_new_tokens", self.budget, minimum=0)
        width = check_integer("width", self.width, minimum=1)
        groups = check_integer("groups", self.groups, minimum=1)
        penalty, diversity = check_real("length_penalty", self.length_penalty), check_real("diversity", self.diversity)
        if diversity < 0:
            raise ValueError(f"diversity must be >= 0, got {diversity!r}")
        if abs(penalty) * math.log(max(budget, 1)) > LARGEST_LOG:
            raise ValueError(f"length_penalty must keep {budget} ** length_penalty a finite float > 0, got {penalty!r}")
        if width % groups:
            raise ValueError(f"width must be a multiple of groups, got {width} and {groups}")
        if width // groups > vocab_size - len(set(self.eos)):
            raise ValueError(f"width must leave each beam a token of its own among {vocab_size}, got {width}")
        return Plan(width, groups, diversity, penalty, _check_stopping(self.early_stopping), self.eos, budget)

    def score(self, total: float, length: int) -> float:
        return total / length**self.length_penalty


def _check_stopping(value: object) -> bool | str:
    if isinstance(value, str) and value == "never":
        return value
    try:
        return check_flag("early_stopping", value)
    except TypeError:
        raise ValueError(f"early_stopping must be True, False or 'never', got {value!r}") from None


@dataclass
class Beams:
    """The beams of one prompt: open ones as a total each, finished ones as (score, text)."""

    plan: Plan
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
            taken.index_add_(0, tokens, totals.isfinite().double())
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
        totals, parents, tokens = totals[is_open], parents[is_open], tokens[is_open]
        self._close(group, totals[0].item(), length)
        # A beam that cannot be holds the text of one that can: a processor must not meet a text it has forbidden.
        cannot, best = totals == -torch.inf, totals[0] > -torch.inf
        token = tokens[0] if best else self.plan.eos[0]
        return totals, torch.where(cannot, parents[0], parents), torch.where(cannot, token, tokens)

    def _finish(self, group: int, score: float, text: Tensor) -> None:
        size, ranked = self.plan.width // self.plan.groups, self.finished[group]
        if score > -torch.inf:
            ranked.append((score, text))
        ranked.sort(key=lambda pair: -pair[0])
        del ranked[size:]

    def _close(self, group: int, best_open: float, length: int) -> None:
        """Stop a group whose finished texts can no longer be beaten, as `early_stopping` says."""
        size = self.plan.width // self.plan.groups
        self.closed[group] |= best_open == -torch.inf
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
