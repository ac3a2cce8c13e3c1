"""What happens once: importing, loading, and the most memory that is held. Each in a process of its own."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Effort, Row, quartiles, race, row_of
from llm_gen.weights.smollm2 import fetch

# Prints seconds to load, and the largest resident size in MB, once a few tokens are written.
CHILD = """
import resource, time, torch
{imports}
start = time.perf_counter()
model = {load}
seconds = time.perf_counter() - start
ids = torch.arange(3, 19)[None]
{write}
try:  # Linux lets a child inherit the parent's ru_maxrss, but not this
    peak = next(int(line.split()[1]) / 1e3 for line in open("/proc/self/status") if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(seconds, peak)
"""
OURS = {"imports": "from llm_gen import generate, load_model", "write": "generate(model, ids, 4, False)"}
THEIRS = {
    "imports": "from transformers import AutoModelForCausalLM",
    "write": "model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, pad_token_id=0)",
}
FROM_FILE = "AutoModelForCausalLM.from_pretrained({folder!r}, gguf_file={name!r}, dtype=torch.float32)"


def imports(effort: Effort) -> Iterator[Row]:
    """Seconds until `import llm_gen` is done, beside torch's own import. The ratio should stay above 1 / 1.3."""
    sides = {name: lambda name=name: run(f"import {name}") for name in ("llm_gen", "torch")}
    seconds = race(sides, effort.turns)
    yield row_of("import", "import llm_gen", "import torch", *seconds.values(), lambda s: 1000 * s, "ms", 1 / 1.3)


def load(effort: Effort) -> Iterator[Row]:
    """Seconds to load a model, and the memory of a process that loads it and writes four tokens."""
    turns = 1 if effort.quick else 2
    file = fetch()
    theirs = CHILD.format(load=FROM_FILE.format(folder=str(file.parent), name=file.name), **THEIRS)
    facts: dict[str, list[list[float]]] = {}
    for _ in range(turns):
        facts.setdefault("transformers", []).append(numbers(theirs))
        for dtype in ("float32", "int8", "native"):
            facts.setdefault(dtype, []).append(numbers(CHILD.format(load=f"load_model('smollm2', '{dtype}')", **OURS)))
    for dtype in ("float32", "int8", "native"):
        for place, (what, unit) in enumerate((("load smollm2", "s"), ("peak memory, smollm2", "MB"))):
            ours, peer = ([fact[place] for fact in facts[name]] for name in (dtype, "transformers"))
            yield row_of("load", f"{what}, {dtype}", "transformers", ours, peer, lambda value: value, unit)
    tiny = [numbers(CHILD.format(load="load_model('tiny')", **OURS))[0] for _ in range(turns)]
    ratios = [0.2 / seconds for seconds in tiny]
    yield Row(
        "load", "load tiny", "the promise of 0.2 s", statistics.median(tiny), 0.2, "s", statistics.median(ratios),
        quartiles(ratios), 1.0,
    )  # fmt: skip


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def numbers(code: str) -> list[float]:
    return [float(word) for word in run(code).split()[-2:]]
