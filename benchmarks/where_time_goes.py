"""One step of decoding taken apart: which share of it each part takes, by a stopwatch around the parts."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from benchmarks.measure import Effort, Row
from benchmarks.peers import prompt
from llm_gen import generate_steps, load_model
from llm_gen.decode import Decoder

SECONDS: dict[str, float] = defaultdict(float)
LABELS = ("norms", "qkv", "out", "norms", "MLP")


class TimedDecoder(Decoder):
    """A Decoder with a stopwatch around its parts, which adds to SECONDS."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.layers = [tuple(map(timed, LABELS, layer)) for layer in self.layers]
        self.final_norm, self.head = timed("norms", self.final_norm), timed("head", self.head)
        self._attend = timed("rotation, cache, attention", self._attend)

    def __call__(self, ids: Any, cache: Any) -> Any:
        return timed("decoder", super().__call__)(ids, cache)


def timed(label: str, run: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any) -> Any:
        start = time.perf_counter()
        result = run(*args)
        SECONDS[label] += time.perf_counter() - start
        return result

    return wrapped


def profile(effort: Effort) -> Iterator[Row]:
    """Microseconds of a step and their share of it, for greedy text of one row."""
    for name in ("tiny", "smollm2"):
        model = load_model(name)
        tokens = effort.tokens_small if name == "tiny" else 2 * effort.tokens_large
        step = whole_step(model, tokens)
        inside = SECONDS.pop("decoder")
        parts = {**SECONDS, "embedding, angles, sums, places in the cache": inside - sum(SECONDS.values())}
        parts["loop: checks, choice, record"] = step - inside
        for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
            each = 1e6 / tokens
            yield Row("profile", f"{name}: {part}", "a step", each * seconds, each * step, "us", seconds / step)


def whole_step(model: Any, tokens: int) -> float:
    """Seconds of all steps after the prompt; SECONDS holds the parts."""
    with mock.patch("llm_gen.generation.Decoder", TimedDecoder):
        for _ in range(2):  # the first time warms up
            steps = generate_steps(model, prompt(1000, 1, 8), 1 + tokens, False)
            next(steps)
            SECONDS.clear()
            start = time.perf_counter()
            for _ in steps:
                pass
    return time.perf_counter() - start
