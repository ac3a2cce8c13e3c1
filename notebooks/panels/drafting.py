"""Runs of speculative decoding with 1 to MOST guesses, and what they say: the numbers behind `speculation`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from llm_gen.beyond import SpeculativeResult, expected_tokens, speculative_generate

MOST = 8
SETTINGS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "tau=1.00": {"do_sample": True},
    "tau=1.00 p=0.90": {"do_sample": True, "top_p": 0.9},
}


@dataclass(frozen=True)
class Drafted:
    """The same text written with 1 to MOST guesses a round; runs[g - 1] is that with g."""

    runs: tuple[SpeculativeResult, ...]

    @property
    def rate(self) -> float:
        """The acceptance rate of all rounds of all runs."""
        rounds = tuple(each for run in self.runs for each in run.rounds)
        return SpeculativeResult(self.runs[0].sequences, rounds).acceptance_rate

    def measured(self, guesses: int) -> float:
        return self.runs[guesses - 1].tokens_per_pass

    def expected(self, guesses: int) -> float:
        return expected_tokens(self.rate, guesses)


def draft_all(
    model: Any, draft: Any, prompt: tuple[int, ...], setting: str, tokens: int, eos: int | None, seed: int = 0
) -> Drafted:
    """At most `tokens` new tokens after the prompt, once with each number of guesses, always from the same seed."""
    x = torch.tensor([prompt])
    runs = [
        speculative_generate(
            model, draft, x, tokens, guesses=guesses, eos_token_id=eos,
            generator=torch.Generator().manual_seed(seed), **SETTINGS[setting],
        )
        for guesses in range(1, MOST + 1)
    ]  # fmt: skip
    return Drafted(tuple(runs))


def speed_up(tokens_per_pass: float, guesses: int, cost: float) -> float:
    """How many times as fast as the target alone, if a pass of the draft costs `cost` passes of the target."""
    return tokens_per_pass / (1 + guesses * cost)
