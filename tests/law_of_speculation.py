"""The law of whole texts under speculative sampling, by enumeration of every run, beside the target's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from every_run import law
from stubs import fresh_tiny
from torch import Tensor

from llm_gen import DecoderLM, filter_logits
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


def pair(family: str) -> tuple[DecoderLM, ...]:
    """A target and a draft with random weights and a vocabulary of three."""
    return tuple(fresh_tiny(family, seed=seed, vocab_size=3).double() for seed in (0, 1))


PROMPT = [0, 1, 2, 0]  # as long as the window of the Mistral
GUESSERS = {  # who guesses -> the target and its draft
    "a Markov model": lambda: (Markov(3, seed=1), Markov(3, seed=2)),
    "a function": lambda: (Markov(3, seed=1), lambda text: [1, 2]),
    "a LLaMA, both with caches": lambda: pair("LLaMA"),
    "a windowed Mistral, both with caches": lambda: pair("Mistral"),
}
RUNS = [  # who guesses, how many, settings
    ("a Markov model", 1, {}),
    ("a Markov model", 2, {}),
    ("a Markov model", 2, {"temperature": 0.6}),
    ("a Markov model", 2, {"top_k": 2}),
    ("a Markov model", 2, {"top_p": 0.8}),
    ("a Markov model", 2, {"eos_token_id": 2}),
    ("a function", 2, {"top_p": 0.8}),
    ("a LLaMA, both with caches", 2, {"temperature": 2.0}),
    ("a windowed Mistral, both with caches", 2, {"temperature": 2.0}),
]


def enumeration(guesser: str, guesses: int, settings: dict, new_tokens: int = 3) -> Parity:
    """The law of whole texts under speculative sampling, every run of it, beside the target's own law."""
    (target, draft), x = GUESSERS[guesser](), torch.tensor([PROMPT])

    def write() -> tuple[int, ...]:
        found = speculative_generate(target, draft, x, new_tokens, True, guesses=guesses, **settings)
        return tuple(found.sequences[0, len(PROMPT) :].tolist())

    ours, own = law(write), own_law(target, new_tokens, **settings)
    worst = max(abs(ours.get(text, 0.0) - own.get(text, 0.0)) for text in {*ours, *own})
    named = "".join(f", {name}={value}" for name, value in settings.items())
    name = f"speculative_generate, {guesses} guessed by {guesser}{named}"
    return Parity(name, ENUMERATED, len({*ours} & {*own}), len({*ours, *own}), worst)


@torch.no_grad()
def own_law(
    target: Any, new_tokens: int, eos_token_id: int | None = None, **settings: float
) -> dict[tuple[int, ...], float]:
    """The probability of each text, token after token, from the filtered distributions of the target."""
    texts, ended = {(): 1.0}, {}
    for _ in range(new_tokens):
        grown = {}
        for text, chance in texts.items():
            probs = filter_logits(target(torch.tensor([[*PROMPT, *text]]))[:, -1], **settings).double().softmax(dim=-1)
            grown |= {(*text, token): chance * share for token, share in enumerate(probs[0].tolist()) if share > 0}
        ended |= {text: chance for text, chance in grown.items() if text[-1] == eos_token_id}
        texts = {text: chance for text, chance in grown.items() if text[-1] != eos_token_id}
    return {**texts, **ended}
