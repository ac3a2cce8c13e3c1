"""How cost grows with the length of a text, and what speculation saves: both in counts and in time."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator

import torch

from benchmarks.measure import Effort, Row, compare, race
from benchmarks.peers import prompt, writer
from llm_gen import generate, generate_steps, load_model, load_tokenizer
from llm_gen.beyond import corpus_lookup, prompt_lookup, speculative_generate
from llm_gen.story import STORIES

LENGTHS = (30, 60, 120, 240)


def growth(effort: Effort) -> Iterator[Row]:
    """Exponents of cost against length on tiny, fitted on a log scale; the columns are without and with the cache."""
    model, ids = load_model("tiny"), prompt(1000, 1, 1)
    fed = {
        use: [sum(step.tokens_fed for step in generate_steps(model, ids, n, False, use_cache=use)) for n in LENGTHS]
        for use in (True, False)
    }
    yield exponents("tokens fed", fed[True], fed[False])
    runs = {(use, n): writer(model, ids, n, use_cache=use) for use in (True, False) for n in LENGTHS}
    seconds = race(runs, effort.turns)
    middle = {key: statistics.median(values) for key, values in seconds.items()}
    yield exponents("time", *([middle[use, n] for n in LENGTHS] for use in (True, False)))


def exponents(what: str, cached: list[float], uncached: list[float]) -> Row:
    ours, theirs = slope(cached), slope(uncached)
    return Row(
        "growth",
        f"exponent of {what}, {LENGTHS[0]} to {LENGTHS[-1]} tokens",
        "no cache",
        ours,
        theirs,
        "",
        theirs / ours,
    )


def slope(costs: list[float]) -> float:
    """Least squares of log(cost) on log(length)."""
    x, y = [math.log(n) for n in LENGTHS], [math.log(cost) for cost in costs]
    return statistics.linear_regression(x, y).slope


def speculation(effort: Effort) -> Iterator[Row]:
    """Speculative decoding on tiny beside plain decoding: tokens for each pass of the target, and time."""
    target, draft, tokenizer = load_model("tiny"), load_model("tiny-draft"), load_tokenizer("tiny")
    ids = torch.tensor([tokenizer.encode("Once upon a time")])
    text, tokens = target.generate(ids, 60, False), effort.tokens_small
    read = corpus_lookup(tokenizer.encode(STORIES.sample(random.Random(f"read {i}"))) for i in range(300))
    # A story does not repeat itself: prompt lookup, made for copying, has no goal here.
    drafts = [
        ("tiny-draft", draft, text[:, :24], 1.0),
        ("lookup in 300 stories", read, text[:, :24], 1.0),
        ("prompt lookup", prompt_lookup, text, None),
    ]
    for name, guess, start, goal in drafts:
        for sampled in (False, True):
            settings = {"generator": torch.Generator().manual_seed(0)} if sampled else {}

            def speculative(guess=guess, start=start, sampled=sampled, settings=settings):
                return speculative_generate(target, guess, start, tokens, sampled, **settings)

            def plain(start=start, sampled=sampled):
                return generate(target, start, tokens, sampled)

            result, what = speculative(), f"tiny with {name}, {'sampled' if sampled else 'greedy'}"
            passes = (result.sequences.shape[1] - start.shape[1]) / result.target_passes
            yield Row("speculation", what, "plain", passes, 1.0, "tokens/pass", passes, None, goal)
            sides = {"ours": speculative, "plain": plain}
            goals = {"plain": goal} if goal else {}
            yield from compare("speculation", what, sides, effort.turns, amount=tokens, unit="tokens/s", goals=goals)
