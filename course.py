"""Set up the course and run it: `python course.py lab` opens it, `python course.py test` checks it."""

import sys

if sys.version_info < (3, 10):  # Before everything that an older Python cannot read or import.
    sys.exit(
        "The course needs Python 3.10 or newer and this is Python %d.%d: install a newer one and run the same "
        "command with it, for example: python3.12 course.py lab" % sys.version_info[:2]
    )

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from notebooks.environment import ROOT, Trouble, _, explain, prepare, say

USAGE = _("""\
usage: python course.py lab [JupyterLab options]    open the chapters in JupyterLab
       python course.py test [--notebooks]          run every test (or those of the notebooks alone)
       python course.py record [NOTEBOOK ...]       run chapters anew, keep their outputs, check them

The first run makes an environment in .venv and installs what is needed; later runs start at once.""")

# Hash order, threads and C++ warnings must not reach the output of a notebook, recorded or checked.
RECIPE = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}


def main(arguments: list[str]) -> int:
    """Run one command in an environment that has what it needs; returns its exit status."""
    if not arguments or arguments[0] not in COMMANDS:
        say(USAGE)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    command, extras = COMMANDS[arguments[0]]
    try:
        other_python = prepare(extras)
    except (Trouble, OSError) as error:
        say(explain(error) if isinstance(error, OSError) else error)
        return 1
    except KeyboardInterrupt:
        say(_("\nStopped. The same command starts it again."))
        return 130
    return call([other_python, __file__, *arguments]) if other_python else command(arguments[1:])


def lab(options: list[str]) -> int:
    """JupyterLab over the whole project, since exercises are edited there too, opened at the chapters."""
    say(_("Opening JupyterLab. Ctrl-C here ends it."))
    command = ["jupyterlab", f"--ServerApp.root_dir={ROOT}", "--LabApp.default_url=/lab/tree/notebooks"]
    # Answers of the kernel go out at once: a slider then follows in about 43 ms instead of 70.
    command += ["--ServerApp.kernel_websocket_connection_class=notebooks.websocket.PromptConnection"]
    quiet = ["--LabApp.news_url=None", "--log-level=WARN"]
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Usual in a container.
    return call([sys.executable, "-m", *command, *quiet, *as_root, *options])


def test(options: list[str]) -> int:
    return call([sys.executable, ROOT / "tests" / "run.py", *options], RECIPE)


def record(notebooks: list[str]) -> int:
    recorded = call([sys.executable, ROOT / "notebooks" / "record.py", *notebooks], RECIPE)
    return recorded or test(["--notebooks"])


def call(command: list[str | Path], variables: dict[str, str] | None = None) -> int:
    """Run a command that can import the project, and wait for its end: signals are for the command to answer."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path, **(variables or {})})
    # Ctrl-C reaches every process of a terminal, SIGTERM only this one.
    answers = {signal.SIGINT: lambda *_: None, signal.SIGTERM: lambda *_: process.terminate()}
    before = {number: signal.signal(number, answer) for number, answer in answers.items()}
    try:
        return process.wait()
    finally:
        for number, answer in before.items():
            signal.signal(number, answer)


READ, CHECK = ("notebooks", "gguf"), ("notebooks", "gguf", "grade", "test")
COMMANDS: dict[str, tuple[Callable[[list[str]], int], tuple[str, ...]]] = {
    "lab": (lab, READ),
    "test": (test, CHECK),
    "record": (record, CHECK),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
