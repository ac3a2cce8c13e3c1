"""Tokens for each pass of the target in speculative decoding: python benchmarks/speculation.py

`tiny` is drafted for by `tiny-draft`, SmolLM2 by prompt lookup. "expected" is (1 - a^(g+1)) / (1 - a) for the measured
acceptance rate a: what independent guesses would give; prompt lookup often has nothing to guess, and stays below it.
"speed" is that of speculation over `generate`. The passes are what the method promises; the speed is the machine's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llm_gen import generate, load_model, load_tokenizer
from llm_gen.beyond import SpeculativeResult, expected_tokens, prompt_lookup, speculative_generate
from llm_gen.chat import find_template

STORIES = ("Once upon a time", "Long ago, in a small village", "One day")
RECIPE = (
    "Wash the potatoes and cut them into thin slices. Warm the oil in a wide pan, add the slices and a little salt, "
    "and turn them now and then until they are golden. Beat six eggs in a bowl, pour them over the potatoes, and let "
    "them set over a low flame."
)
COPYING = f"Repeat this text word for word:\n\n{RECIPE}"
TOPIC = "Tell me how a city begins and how it grows."
GREEDY, SAMPLING = {"do_sample": False}, {"do_sample": True, "temperature": 1.0, "top_p": 0.9}
HEAD = ("target", "draft", "settings", "guesses", "acceptance", "tokens/pass", "expected", "speed")


@dataclass(frozen=True)
class Pair:
    """A target and what drafts for it, on some prompts (1, P); eos ends a text."""

    target: str
    draft_name: str
    model: Any
    draft: Any
    prompts: list[Tensor]
    eos: list[int] | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens a run, at most")
    parser.add_argument("--seeds", type=int, default=3, help="sampled runs of each prompt")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only", choices=("tiny", "smollm2"), help="one of the two targets")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    if args.only != "smollm2":
        for guesses in (2, 4, 8):
            report(stories(), guesses, args)
    if args.only != "tiny":
        for name, question in (("copying", COPYING), ("free text", TOPIC)):
            report(lookup(name, question), 8, args)


def stories() -> Pair:
    tokenizer = load_tokenizer("tiny")
    prompts = [torch.tensor([tokenizer.encode(text)]) for text in STORIES]
    return Pair("tiny", "tiny-draft", load_model("tiny"), load_model("tiny-draft"), prompts)


def lookup(name: str, question: str) -> Pair:
    template = find_template(load_tokenizer("smollm2"))
    x = torch.tensor([template.begin(template.default_system) + template.ask(question)])
    return Pair("smollm2", f"prompt lookup, {name}", load_model("smollm2"), prompt_lookup, [x], template.end_ids)


def report(pair: Pair, guesses: int, args: argparse.Namespace) -> None:
    """Print a line for greedy decoding and one for sampling, each over all prompts and seeds."""
    for settings in (GREEDY, SAMPLING):
        rounds, fast, slow = [], 0.0, 0.0
        for x in pair.prompts:
            for seed in range(args.seeds if settings["do_sample"] else 1):
                found, seconds, plain_seconds = run(pair, x, guesses, seed, settings, args.tokens)
                rounds, fast, slow = [*rounds, *found.rounds], fast + seconds, slow + plain_seconds
        together = SpeculativeResult(pair.prompts[0], tuple(rounds))
        rate = together.acceptance_rate
        measured = f"{rate:.2f} | {together.tokens_per_pass:.2f} | {expected_tokens(rate, guesses):.2f}"
        named = f"{pair.target} | {pair.draft_name} | {words(settings)} | {guesses}"
        print(f"| {named} | {measured} | {slow / fast:.2f} |", flush=True)


def run(
    pair: Pair, x: Tensor, guesses: int, seed: int, settings: dict[str, Any], tokens: int
) -> tuple[SpeculativeResult, float, float]:
    """What speculation gives, its seconds a token, and those of `generate`."""
    options = {"eos_token_id": pair.eos, **settings}
    found, seconds = timed(
        lambda dice: speculative_generate(
            pair.model, pair.draft, x, tokens, guesses=guesses, generator=dice, **options
        ), seed,
    )  # fmt: skip
    plain, plain_seconds = timed(lambda dice: generate(pair.model, x, tokens, generator=dice, **options), seed)
    if not settings["do_sample"]:
        assert torch.equal(found.sequences, plain), "greedy text must be the target's own"
    lengths = [max(1, text.shape[1] - x.shape[1]) for text in (found.sequences, plain)]
    return found, seconds / lengths[0], plain_seconds / lengths[1]


def timed(call: Callable[[torch.Generator], Any], seed: int) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call(torch.Generator().manual_seed(seed))
    return result, time.perf_counter() - start


def words(settings: dict[str, Any]) -> str:
    if not settings["do_sample"]:
        return "greedy"
    return f"temperature {settings['temperature']:g}, top-p {settings['top_p']:g}"


if __name__ == "__main__":
    main()
