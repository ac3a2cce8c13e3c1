"""A text with the probability that a model gave each of its tokens: written greedily, or stored in the repo."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import torch

from llm_gen.beyond import Loop, Trace, find_loop, record_trace
from llm_gen.generation import generate_steps
from llm_gen.tokenizer import Tokenizer
from notebooks.panels.context import DATA, stored_labels, visible_prompt
from notebooks.panels.words import token_label

TEXTS_FILE = DATA / "scored_texts.json"


@dataclass(frozen=True, eq=False)
class ScoredText:
    """The tokens of a text after `prompt`, as ids and as `labels` to show, and the model's probability of each.

    Each probability is the model's own, before the token came. given: the text was not written by the model but
    given to it. ended: the last token is an eos. Raises ValueError unless the three lists are equally long.
    """

    name: str
    prompt: str
    ids: list[int]
    probs: list[float]
    labels: list[str]
    given: bool = False
    ended: bool = False

    def __post_init__(self) -> None:
        sizes = {len(self.ids), len(self.probs), len(self.labels)}
        if len(sizes) > 1:
            raise ValueError(f"ids, probs and labels must be equally long, got {sorted(sizes)}")

    @cached_property
    def loop(self) -> Loop | None:
        """The loop that the text ends in, if it goes round at least three times."""
        return find_loop(Trace(self.ids, self.probs, [], self.ended))

    @cached_property
    def rounds(self) -> list[tuple[int, int]]:
        """Where the phrase of the loop comes: (first token, token after the last) of each whole repetition."""
        if self.loop is None:
            return []
        starts = range(self.loop.start, self.loop.start + self.loop.period * len(self.loop.strengths), self.loop.period)
        return [(start, start + self.loop.period) for start in starts]

    def read(self, tokens: int) -> str:
        """The prompt and the first `tokens` of the text as one reads them, on one line."""
        return visible_prompt(self.prompt) + "".join(self.labels[:tokens]).replace("\u2423", " ")

    def in_loop(self, token: int) -> bool:
        """Whether the token at this place belongs to the loop, its unfinished last repetition included."""
        return self.loop is not None and self.loop.start <= token < len(self.ids) - self.ended

    def starts_loop(self, token: int) -> bool:
        """Whether the loop begins with the token at this place."""
        return self.loop is not None and token == self.loop.start

    @cached_property
    def phrase_probs(self) -> list[float]:
        """The probability of the whole phrase each time that it comes: the product over its tokens."""
        return [math.prod(self.probs[start:end]) for start, end in self.rounds]


def greedy_text(name: str, model: Any, tokenizer: Tokenizer, prompt: str, steps: int) -> ScoredText:
    """What the model writes greedily after a prompt: at most `steps` tokens, or up to its eos."""
    start = torch.tensor([tokenizer.encode(prompt)])
    trace = record_trace(generate_steps(model, start, steps, False, eos_token_id=tokenizer.eos_id))
    labels = [token_label(tokenizer, token) for token in trace.ids]
    return ScoredText(name, prompt, trace.ids, trace.probs, labels, ended=trace.ended)


@cache
def stored_texts() -> dict[str, ScoredText]:
    """The recorded texts of SmolLM2-135M by name: written greedily, then given. No download."""
    labels = stored_labels()
    stored = json.loads(TEXTS_FILE.read_text(encoding="utf-8"))
    return {
        name: ScoredText(name, labels=[labels[token] for token in fields["ids"]], **fields)
        for name, fields in stored.items()
    }
