"""This project beside its peers, in one run: `python -m benchmarks [part ...] [--quick]`.

Every figure is a ratio of two things that took turns in this run; above 1 is better for us. Peers are installed by
`pip install llm-gen[bench]`; litgpt and llama.cpp (llama-cpp-python) are measured too where they are installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path

import torch

from benchmarks.course_parts import grading, sliders
from benchmarks.decoding import bandwidth, compiled, decode, prefill, quantized
from benchmarks.growth import growth, speculation
from benchmarks.kernels import sampling
from benchmarks.measure import FULL, QUICK, Row
from benchmarks.startup import imports, load
from benchmarks.where_time_goes import profile

PARTS = {
    "decode": decode,
    "prefill": prefill,
    "bandwidth": bandwidth,
    "profile": profile,
    "quantized": quantized,
    "compiled": compiled,
    "sampling": sampling,
    "growth": growth,
    "speculation": speculation,
    "import": imports,
    "load": load,
    "grading": grading,
    "sliders": sliders,
}
SLOW = ("compiled",)  # left out of --quick unless it is named
HEAD = ("part", "what", "beside", "ours", "theirs", "unit", "ratio", "quartiles", "goal", "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer turns, shorter texts, fewer cases")
    parser.add_argument("--json", type=Path, help="write all figures to this file too")
    parser.add_argument("--markdown", type=Path, help="write the table to this file too")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    if unknown := [name for name in args.parts if name not in PARTS]:
        parser.error(f"no part {', '.join(unknown)}; known: {', '.join(PARTS)}")
    torch.set_num_threads(args.threads)
    _be_quiet()
    for line in ("# Figures", "", machine(args.threads), "", line_of(HEAD), line_of(["---"] * len(HEAD))):
        say(line)
    start, rows = time.perf_counter(), []
    for name in args.parts or [name for name in PARTS if not (args.quick and name in SLOW)]:
        rows += measured(name, QUICK if args.quick else FULL)
    seconds = time.perf_counter() - start
    say(f"\n{seconds:.0f} seconds; load before and after (of others too): {LOAD:.1f} and {load_now():.1f}.")
    if args.markdown:
        args.markdown.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    if args.json:
        values = {"machine": machine(args.threads), "rows": [dataclasses.asdict(row) for row in rows]}
        args.json.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    return 0


def measured(name: str, effort) -> list[Row]:
    """The rows of one part, shown as they come; a part whose peer is missing says so and is left out."""
    rows = []
    try:
        for row in PARTS[name](effort):
            rows.append(row)
            say(line_of(cells(row)))
    except (ImportError, LookupError) as error:
        say(line_of([name, f"left out: {error}", *[""] * (len(HEAD) - 2)]))
    return rows


def cells(row: Row) -> list[str]:
    spread = "" if row.spread is None else f"{row.spread[0]:.2f} to {row.spread[1]:.2f}"
    goal = "" if row.goal is None else f"{row.goal:.2g}"
    ours, theirs = (
        "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}" for value in (row.ours, row.theirs)
    )
    return [row.part, row.what, row.peer, ours, theirs, row.unit, f"{row.ratio:.2f}", spread, goal, row.verdict]


def line_of(values) -> str:
    return "| " + " | ".join(values) + " |"


def say(line: str) -> None:
    LINES.append(line)
    print(line, flush=True)


def machine(threads: int) -> str:
    import transformers

    versions = f"Python {platform.python_version()}, torch {torch.__version__}, transformers {transformers.__version__}"
    kind = f"{platform.machine()} with {torch.backends.cpu.get_cpu_capability()}"  # the widest kernels of PyTorch
    return f"{kind}, {os.cpu_count()} cores, {threads} threads, {versions}"


def load_now() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _be_quiet() -> None:
    """No progress bars and no warnings of the peers between the rows."""
    warnings.filterwarnings("ignore")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


LOAD, LINES = load_now(), []

if __name__ == "__main__":
    sys.exit(main())
