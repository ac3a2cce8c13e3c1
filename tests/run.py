"""Run everything that `python course.py test` promises, and close with what ran, what did not, and why.

Each step is a pytest of its own: the tests of the grader; the other tests; the notebooks under strict nbval; the
notebooks once more with PyTorch's plain kernels, which stand in for another machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from llm_gen.checks import CheckpointError
from llm_gen.weights import smollm2

ROOT = Path(__file__).resolve().parent.parent
# In the order of their names: by size, the few slow tests of browser and compiler would come last, alone.
PARALLEL = ["-n", str(os.cpu_count() or 1), "--dist", "loadscope", "--no-loadscope-reorder"]
# The grader forks for each answer, which costs the more the larger its process is: among all the tests, with what they
# import and keep, these would take half as long again. The longest comes first, so that nobody waits for it at the end.
GRADER = [
    path.relative_to(ROOT).as_posix()
    for name in ("exercises", "classroom_*", "grader_*", "release")
    for path in sorted((ROOT / "tests").glob(f"test_{name}.py"))
]
# A kernel that died is noticed only by the limit for one cell.
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=60", "--nbval-kernel-startup-timeout=120"]
PLAIN_KERNELS = {"ATEN_CPU_CAPABILITY": "default"}
CHANGED = """\
A cell of a chapter gives another output than the one saved with it; both are shown above, with the cell.
If the chapter was changed on purpose: python course.py record notebooks/NAME.ipynb, look at what changed, commit it."""


@dataclass
class Outcome:
    """What one pytest counted; `not_run` counts the tests behind each reason for a skip."""

    passed: int = 0
    failed: int = 0
    not_run: Counter[str] = field(default_factory=Counter)


def main() -> int:
    parser = argparse.ArgumentParser(prog="course.py test", description="Run every test of the course.")
    parser.add_argument("--notebooks", action="store_true", help="run the tests of the notebooks alone")
    only_notebooks = parser.parse_args().notebooks
    if only_notebooks:
        outcomes = {"tests": run_pytest(["tests/test_notebook_lint.py"], *PARALLEL)}
    else:
        fetch_weights()
        others = [f"--ignore={path}" for path in GRADER]
        outcomes = {"tests of the grader": run_pytest(GRADER, *PARALLEL)}
        outcomes["other tests"] = run_pytest(["tests"], *others, *PARALLEL)
    outcomes["notebook cells"] = run_pytest(["notebooks"], *NBVAL, *PARALLEL)
    outcomes["notebook cells on plain kernels"] = run_pytest(["notebooks"], *NBVAL, *PARALLEL, variables=PLAIN_KERNELS)
    if any(outcome.failed for name, outcome in outcomes.items() if name.startswith("notebook")):
        print("\n" + CHANGED)
    print("\n" + summary(outcomes), flush=True)
    return int(any(outcome.failed for outcome in outcomes.values()))


def fetch_weights() -> None:
    """The real model that some tests compare with, once into the user's cache; without it they report as not run."""
    try:
        smollm2.fetch()
    except CheckpointError as error:
        print(error, flush=True)


def run_pytest(paths: list[str], *options: str, variables: dict[str, str] | None = None) -> Outcome:
    """One pytest over `paths`; a run that ends without a report, or that finds no test, counts as one failure."""
    settings = [f"{name}={value}" for name, value in (variables or {}).items()]
    print("\n==", *paths, *settings, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", *paths, *options, f"--junitxml={report}"]
        status = subprocess.run(command, cwd=ROOT, env={**os.environ, **(variables or {})}).returncode
        whole = report.exists()
        outcome = read_report(report) if whole else Outcome()
    if not whole or (status and not outcome.failed):
        print(f"pytest broke off with status {status}" + (": it found no test." if status == 5 else "."), flush=True)
        outcome.failed = 1
    return outcome


def read_report(report: Path) -> Outcome:
    outcome = Outcome()
    for case in ElementTree.parse(report).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
        elif skipped is not None:
            outcome.not_run[skipped.get("message", "")] += 1
        else:
            outcome.passed += 1
    return outcome


def summary(outcomes: dict[str, Outcome]) -> str:
    """What ran, what did not and why, and the three sums on a line of their own."""
    ran = ", ".join(f"{outcome.passed + outcome.failed} {name}" for name, outcome in outcomes.items())
    not_run = sum((outcome.not_run for outcome in outcomes.values()), Counter())
    lines = [f"ran: {ran}", *(f"not run: {reason}, {count} tests" for reason, count in not_run.items())]
    passed, failed = (sum(getattr(outcome, sort) for outcome in outcomes.values()) for sort in ("passed", "failed"))
    return "\n".join([*lines, f"{passed} passed, {failed} failed, {not_run.total()} skipped"])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
