"""What a class costs: python benchmarks/class_throughput.py [--size 200] [--keep DIR]

Grades a generated class (right, wrong by name, hostile, unreadable) with one process, with two, and on a local Dask
cluster of two workers; holds the marks against the truth and the three runs against one another. Then it measures
what one student's open chapter takes. The numbers of docs/cost.md come from here.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from exercises.classroom.dask_run import LOCAL, on_cluster
from exercises.classroom.grade import grade
from exercises.classroom.mark import Settings
from exercises.classroom.run import in_processes, one_by_one
from exercises.grader.catalog import all_exercises

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from made_class import write_class, wrong_marks

RUNS = {"1 process": one_by_one, "2 processes": in_processes(2), "Dask, 2 workers": on_cluster(LOCAL, 2)}
OPEN_CHAPTER = """
import resource, time
from exercises import check, hint, progress, solution
from llm_gen import load_model, load_tokenizer, generate
from notebooks import panels
panels.start_chapter()
import torch
generate(load_model("tiny"), torch.tensor([load_tokenizer("tiny").encode("Once upon a time")]), 50, True)
check("top_p", lambda probs, top_p: probs)
usage = resource.getrusage(resource.RUSAGE_SELF)
own = [int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Anonymous:")]
print(usage.ru_maxrss // 1024, own[0] // 1024, round(usage.ru_utime + usage.ru_stime, 1))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="a folder for the class and its results")
    args = parser.parse_args()
    open_chapter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        truths = write_class(folder / "submissions", args.size, all_exercises())
        answers = sum(len(truth.answers) for truth in truths.values())
        print(
            f"{len(truths)} submissions, {answers} answers, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        measure(folder, truths, answers)


def measure(folder: Path, truths: dict, answers: int) -> None:
    settings = Settings(tuple(exercise.name for exercise in all_exercises()))
    first: dict[str, dict] = {}
    for name, run in RUNS.items():
        start, out = time.perf_counter(), folder / name.replace(" ", "_").replace(",", "")
        used = cpu()
        result = grade(folder / "submissions", out, settings, run=run)
        seconds, used = time.perf_counter() - start, cpu() - used
        rows = {row["id"]: row for row in map(read, (out / "results").glob("*.json"))}
        first = first or rows
        wrong = wrong_marks(rows, truths)
        same = "the same rows" if rows == first else "OTHER ROWS"
        speed = f"{result.submissions / seconds:.2f} submissions/s, {answers / seconds:.1f} answers/s"
        whole = f" ({used:.1f} s of CPU)" if run is one_by_one else ""  # that of other processes is not known here
        print(f"{name:<16} {seconds:7.1f} s{whole}, {speed}; {len(wrong)} wrong marks, {same}", flush=True)
        for line in wrong:
            print("   ", line)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"largest process: {peak / 1024:.0f} MB")


def cpu() -> float:
    """Seconds of the processor used by this process and by those it has waited for."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def open_chapter() -> None:
    """Memory and CPU of a kernel in which a chapter has been begun and one answer checked."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN_CHAPTER], capture_output=True, text=True, check=True,
        env=os.environ | {"LLM_COURSE_PROGRESS": "off"},
    )  # fmt: skip
    memory, own, seconds = done.stdout.split()[-3:]
    print(f"an open chapter: {memory} MB, {own} of them shared with nobody; {seconds} s of CPU to begin and check once")


if __name__ == "__main__":
    main()
