"""Whole texts: decoding and prefill beside transformers, litgpt and the loop without a cache; the limit of memory."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks.measure import Effort, Row, compare, quartiles, race
from benchmarks.peers import Pair, litgpt_writer, pair, prompt, their_writer, writer
from llm_gen import load_model
from llm_gen.compiled import compile_decoding

MODELS = ("tiny", "smollm2", "gpt2")
DECODE_GOALS = {"tiny": 3.0, "smollm2": 1.3}
LONG = {"tiny": 192, "smollm2": 512, "gpt2": 512}


def decode(effort: Effort) -> Iterator[Row]:
    """Tokens a second of a short prompt's continuation; the same greedy text on both sides where weights are equal."""
    for name in MODELS[: 2 if effort.quick else 3]:
        both = pair(name)
        yield from _short(both, effort, batch=1, sampled=False)
        yield from _short(both, effort, batch=1, sampled=True)
        yield from _short(both, effort, batch=8, sampled=False)
        if not effort.quick:
            yield from _short(both, effort, batch=8, sampled=True)
            yield from _long(both, effort)


def _short(both: Pair, effort: Effort, batch: int, sampled: bool) -> Iterator[Row]:
    tokens = effort.tokens_large if both.large else effort.tokens_small
    ids = prompt(both.ours.vocab_size, batch, 8)
    sides = {
        "ours": writer(both.ours, ids, tokens, sampled),
        "transformers": their_writer(both.theirs, ids, tokens, sampled),
    }
    if batch == 1 and not sampled:
        if both.name == "smollm2":
            assert sides["ours"]().equal(sides["transformers"]()), "both must write the same text"
        sides["transformers, static cache"] = their_writer(
            both.theirs, ids, tokens, cache_implementation="static", disable_compile=True
        )
        sides["no cache"] = writer(both.ours, ids, tokens, use_cache=False)
        if lit := litgpt_writer(both.ours.config, ids, tokens):
            sides["litgpt"] = lit
    goal = DECODE_GOALS.get(both.name) if batch == 1 else 1.3
    what = f"{both.name}, batch {batch}, {'top-p' if sampled else 'greedy'}"
    goals = {"transformers": goal} if goal and not sampled else {}
    yield from compare("decode", what, sides, _turns(both, effort), amount=batch * tokens, unit="tokens/s", goals=goals)


def _long(both: Pair, effort: Effort) -> Iterator[Row]:
    """Tokens after a long prompt, without the time of reading it."""
    tokens = effort.tokens_large if both.large else effort.tokens_small // 2
    ids = prompt(both.ours.vocab_size, 1, LONG[both.name])
    make = {"ours": (writer, both.ours), "transformers": (their_writer, both.theirs)}
    runs = {(side, n): by(model, ids, n) for side, (by, model) in make.items() for n in (1, 1 + tokens)}
    seconds = race(runs, _turns(both, effort))
    ours, theirs = ([(b - a) / tokens for a, b in zip(seconds[side, 1], seconds[side, 1 + tokens])] for side in make)
    ratios = [b / a for a, b in zip(ours, theirs)]
    middle = [1 / sorted(side)[len(side) // 2] for side in (ours, theirs)]
    what = f"{both.name}, batch 1, greedy, after {LONG[both.name]} tokens"
    yield Row("decode", what, "transformers", *middle, "tokens/s", sorted(ratios)[len(ratios) // 2], quartiles(ratios))


def prefill(effort: Effort) -> Iterator[Row]:
    """Tokens read a second: a prompt and the first token after it."""
    for name in MODELS[: 2 if effort.quick else 3]:
        both = pair(name)
        for batch, length in ((1, 128), (8, 64)):
            ids = prompt(both.ours.vocab_size, batch, length)
            sides = {"ours": writer(both.ours, ids, 1), "transformers": their_writer(both.theirs, ids, 1)}
            what, goals = f"{name}, batch {batch}, {length} tokens", {"transformers": 1.0}
            turns = _turns(both, effort)
            yield from compare("prefill", what, sides, turns, amount=batch * length, unit="tokens/s", goals=goals)


def bandwidth(effort: Effort) -> Iterator[Row]:
    """The share of the memory's speed that a token of SmolLM2 reaches: its weights are read once for each token."""
    model, tokens = pair("smollm2").ours, effort.tokens_large
    size = sum(weight.nbytes for weight in model.parameters())
    block = torch.randn(size // 4 // 1024, 1024)
    vector = torch.randn(1024)
    ids = prompt(model.vocab_size, 1, 8)
    long, short = writer(model, ids, 1 + tokens), writer(model, ids, 1)
    with torch.no_grad():
        runs = {"mv": lambda: torch.mv(block, vector), "sum": block.sum, "long": long, "short": short}
        seconds = race(runs, effort.turns)
    token = [(a - b) / tokens for a, b in zip(seconds["long"], seconds["short"])]
    limit = [min(pass_) for pass_ in zip(seconds["mv"], seconds["sum"])]
    shares = [a / b for a, b in zip(limit, token)]
    middle = [1 / sorted(side)[len(side) // 2] for side in (token, limit)]
    what = f"smollm2, {size / 1e6:.0f} MB a token, {size * middle[1] / 1e9:.1f} GB/s"
    share = sorted(shares)[len(shares) // 2]
    yield Row("bandwidth", what, "reading alone", *middle, "tokens/s", share, quartiles(shares), 0.8)


def quantized(effort: Effort) -> Iterator[Row]:
    """int8 and the file's own 4 bits beside float32, and beside llama.cpp where it is installed."""
    plain, ids = pair("smollm2").ours, prompt(49152, 1, 8)
    few = {dtype: load_model("smollm2", dtype=dtype) for dtype in ("int8", "native")}
    tokens = effort.tokens_large
    llama = _llama_cpp(ids[0].tolist(), tokens)
    goals = {"int8": {"float32": 1.5}, "native": {"float32": 1.5, "llama.cpp": 0.6}}
    for dtype, model in few.items():
        sides = {"ours": writer(model, ids, tokens), "float32": writer(plain, ids, tokens)}
        if llama and dtype == "native":
            sides["llama.cpp"] = llama
        what, goal = f"smollm2 {dtype}, batch 1, greedy", goals[dtype]
        yield from compare("quantized", what, sides, effort.turns, amount=tokens, unit="tokens/s", goals=goal)
        held = {id(part): part.nbytes for part in (*model.parameters(), *model.buffers())}
        size, before = sum(held.values()) / 1e6, sum(weight.nbytes for weight in plain.parameters()) / 1e6
        yield Row("quantized", f"smollm2 {dtype}, weights", "float32", size, before, "MB", before / size)


def compiled(effort: Effort) -> Iterator[Row]:
    """torch.compile's step beside the plain one on tiny, without the time that compiling takes."""
    model, fast, ids = load_model("tiny"), load_model("tiny"), prompt(1000, 1, 8)
    try:
        compile_decoding(fast)
    except RuntimeError as error:
        raise LookupError(str(error)) from None
    sides = {"ours": writer(fast, ids, effort.tokens_small), "not compiled": writer(model, ids, effort.tokens_small)}
    assert sides["ours"]().equal(sides["not compiled"]()), "both must write the same text"
    amount = effort.tokens_small
    yield from compare("compiled", "tiny, batch 1, greedy", sides, effort.turns, amount=amount, unit="tokens/s")


def _llama_cpp(ids: list[int], tokens: int):
    try:
        from llama_cpp import Llama
    except ImportError:
        return None
    from llm_gen.weights.smollm2 import fetch

    model = Llama(str(fetch()), n_threads=torch.get_num_threads(), n_ctx=512, verbose=False)

    def run() -> None:
        model.reset()
        steps = model.generate(ids, temp=0.0)
        for _ in range(tokens):
            next(steps)

    return run


def _turns(both: Pair, effort: Effort) -> int:
    return 3 if both.large else effort.turns
