"""How beams grow into a tree: the numbers behind `beam_tree`, without any drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from llm_gen.beyond import BeamStep, beam_steps
from llm_gen.generation import generate

MOST_NODES = 9  # in a column of the picture
Text = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """A continuation. text: the new tokens up to it; share: its last token's probability; total: the log of the text's.

    parent: the place of the node in the column before that it grew from. fate: "kept", "finished" or "dropped".
    """

    text: Text
    share: float
    total: float
    parent: int
    fate: str
    greedy: bool


@dataclass(frozen=True)
class Tree:
    """A search. columns: the nodes of each step; finished: after each step the finished texts as (score, text)."""

    columns: tuple[tuple[Node, ...], ...]
    finished: tuple[tuple[tuple[float, Text], ...], ...]
    greedy: Text

    def best_open(self, step: int) -> Node | None:
        """The likeliest text that still grows after a step, counted from 1."""
        kept = [node for node in self.columns[step - 1] if node.fate == "kept"] if step else []
        return max(kept, key=lambda node: node.total, default=None)


def grow_tree(model: Any, prompt: Text, steps: int, width: int, penalty: float, eos: int | None) -> Tree:
    """Beam search with `width` beams for at most `steps` tokens, every step of it; early stopping off."""
    x = torch.tensor([prompt])
    greedy = tuple(generate(model, x, steps, False, eos_token_id=eos)[0, len(prompt) :].tolist())
    search = beam_steps(model, x, steps, width, length_penalty=penalty, early_stopping="never", eos_token_id=eos)
    columns: list[tuple[Node, ...]] = []
    finished, before = [], {(): (0, 0.0)}
    for step in search:
        ended = tuple((score, tuple(ids[len(prompt) :].tolist())) for score, ids in step.finished[0])
        texts, totals = step.texts[0, :, len(prompt) :].tolist(), step.totals[0].tolist()
        now = {tuple(text): (beam, totals[beam]) for beam, text in enumerate(texts) if totals[beam] > -math.inf}
        growing = now if len(columns) + 1 < steps else {}  # after the last step nothing grows
        fates = dict.fromkeys(growing, "kept") | {text: "finished" for _score, text in ended}
        places = {node.text: place for place, node in enumerate(columns[-1])} if columns else {(): 0}
        nodes = [
            Node(new, share, total, places[new[:-1]], fates.get(new, "dropped"), new == greedy[: len(new)])
            for new, share, total in _continuations(step, before)
        ]
        columns.append(_those_to_show(nodes))
        finished.append(ended)
        before = now
    return Tree(tuple(columns), tuple(finished), greedy)


def _continuations(step: BeamStep, before: dict[Text, tuple[int, float]]) -> Iterator[tuple[Text, float, float]]:
    """The likeliest continuations of each open text, with the share of the token and the total of the text.

    before: the open texts, each with its beam and its total.
    """
    for text, (beam, total) in before.items():
        best = step.log_probs[0, beam].sort(descending=True, stable=True)
        for log_prob, token in zip(best.values[:MOST_NODES].tolist(), best.indices.tolist()):
            if total + log_prob > -math.inf:
                yield (*text, token), math.exp(log_prob), total + log_prob


def _those_to_show(nodes: list[Node]) -> tuple[Node, ...]:
    """The most telling nodes, at most MOST_NODES: what stays, greedy's way, then the best of what goes."""
    ranked = sorted(nodes, key=lambda node: (node.fate == "dropped", not node.greedy, -node.total))
    return tuple(sorted(ranked[:MOST_NODES], key=lambda node: (node.parent, -node.share)))
