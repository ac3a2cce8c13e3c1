"""The law of whole texts under speculative sampling, by enumeration of every run, beside the target's own."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from every_run import law
from torch import Tensor

from llm_gen import filter_logits
from llm_gen.beyond import speculative_generate

ENUMERATED = "every run that the dice allow"


@dataclass(frozen=True)
class Parity:
    """One line of the table. same and compared: kept sets or texts; difference: the largest found."""

    method: str
    beside: str
    same: int
    compared: int
    difference: float


def largest(one: Tensor, other: Tensor) -> float:
    """The largest difference of two entries."""
    return float((one.double() - other.double()).abs().max())


class Markov:
    """A model of a few tokens whose next token depends on the last one only."""

    max_seq_len = 50

    def __init__(self, vocab_size: int, seed: int) -> None:
        self.vocab_size = vocab_size
        self.table = torch.randn(vocab_size, vocab_size, generator=torch.Generator().manual_seed(seed)).double() * 1.5

    def make_cache(self, batch_size: int) -> None:
        return None

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        return self.table[ids]


RUNS = [  # settings, guesses, whether a function guesses instead of a model
    ({}, 1, False),
    ({}, 2, False),
    ({"temperature": 0.6}, 2, False),
    ({"top_k": 2}, 2, False),
    ({"top_p": 0.8}, 2, False),
    ({"top_p": 0.8}, 2, True),
]


def enumeration(settings: dict, guesses: int, lookup: bool, new_tokens: int = 3) -> Parity:
    """The law of whole texts under speculative sampling, every run of it, beside the target's own law."""
    target, x = Markov(3, seed=1), torch.tensor([[0]])
    draft = (lambda text: [1, 2]) if lookup else Markov(3, seed=2)

    def write() -> tuple[int, ...]:
        found = speculative_generate(target, draft, x, new_tokens, True, guesses=guesses, **settings)
        return tuple(found.sequences[0, 1:].tolist())

    ours, own = law(write), own_law(target, new_tokens, settings)
    worst = max(abs(ours.get(text, 0.0) - own.get(text, 0.0)) for text in {*ours, *own})
    named = ", ".join(f"{name}={value}" for name, value in settings.items()) or "plain"
    who = "a function" if lookup else "a model"
    name = f"speculative_generate, {named}, {guesses} guessed by {who}"
    return Parity(name, ENUMERATED, len({*ours} & {*own}), len({*ours, *own}), worst)


def own_law(target: Markov, new_tokens: int, settings: dict) -> dict[tuple[int, ...], float]:
    """The probability of each text, token after token, from the filtered distributions of the target."""
    probs = filter_logits(target.table, **settings).softmax(dim=-1).tolist()
    texts = {(): 1.0}
    for _ in range(new_tokens):
        texts = {
            (*text, token): chance * share
            for text, chance in texts.items()
            for token, share in enumerate(probs[text[-1] if text else 0])
            if share > 0
        }
    return texts
