"""A text written step by step, and what the model said at each step: the numbers behind `stepping`."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from llm_gen.tokenizer import Tokenizer
from notebooks.panels.context import Context
from notebooks.panels.reshaping import reshaped, tally
from notebooks.panels.words import token_label

Setting = dict[str, Any]
Reader = Callable[[tuple[int, ...]], Context]


@dataclass(frozen=True)
class Written:
    """One step: what the model said (`context`), and which of its tokens, by rank, was appended."""

    context: Context
    rank: int

    @property
    def token(self) -> int:
        return int(self.context.order[self.rank])

    @property
    def label(self) -> str:
        return self.context.label_at(self.rank)

    @property
    def share(self) -> float:
        """The model's own probability of the token, before the settings."""
        return float(self.context.own[self.rank])

    @property
    def surprise(self) -> float:
        """In bits: 1 for a coin toss."""
        return -math.log2(self.share)


def reader(model: Any, tokenizer: Tokenizer) -> Reader:
    """ids -> Context of what comes next. Each text is read once."""
    labels = [token_label(tokenizer, i) for i in range(model.vocab_size)]
    known: dict[tuple[int, ...], Context] = {}

    def read(ids: tuple[int, ...]) -> Context:
        if ids not in known:
            with torch.no_grad():
                logits = model(torch.tensor([ids]))[0, -1]
            known[ids] = Context("", tokenizer.decode(ids), logits, labels)
        return known[ids]

    return read


def write(
    read: Reader,
    prompt: tuple[int, ...],
    setting: Setting,
    seed: int,
    steps: int,
    end: int | None = None,
    taken: tuple[int, int] | None = None,
) -> list[Written]:
    """At most `steps` steps after a prompt; step n throws the n-th dart of the seed, whatever the setting.

    end: the token that ends the text. taken: (step, rank), a step counted from 1 at which that rank is appended.
    """
    dice, text = random.Random(seed), []
    for step in range(1, steps + 1):
        context = read((*prompt, *(written.token for written in text)))
        dart = torch.tensor([dice.random()], dtype=torch.float64)
        rank = tally(reshaped(context, **setting).sampled, dart).last
        text.append(Written(context, taken[1] - 1 if taken and taken[0] == step else rank))
        if text[-1].token == end:
            break
    return text


def parting(one: list[Written], other: list[Written]) -> int | None:
    """The first step, from 1, at which two texts differ; None if they do not."""
    same = [a.token == b.token for a, b in zip(one, other)]
    if all(same):
        return None if len(one) == len(other) else len(same) + 1
    return same.index(False) + 1
