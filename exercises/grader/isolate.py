"""Where an answer runs. `open_worker` gives the strongest place this system has:

- "process" (Linux): a fork of this process. It is killed when its time is up, whatever it is doing, its memory is
  limited, and nothing it changes reaches this process. Answers come back as JSON.
- "thread" (macOS, Windows): a thread of this process. Loops are interrupted and global state is put back, but a call
  that hangs inside C is left behind, and a crash is a crash of the kernel. macOS has fork, but its mathematics
  library does not survive it.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from exercises.grader.sandbox import pack, unpack, watch
from exercises.grader.state import State, put_back_originals
from llm_gen.text import _
from solutions.vocabulary import Outcome

Load = Callable[[], Any]


@dataclass(frozen=True)
class Limits:
    """Seconds that one call may take: of the processor (a busy answer) and of the clock (a sleeping one).

    life: seconds for all calls of one check together.
    """

    processor: float = 2.0
    clock: float = 5.0
    life: int = 120


STUDENT = Limits()


class Worker(Protocol):
    """An answer that can be called from outside. `load` must come first."""

    level: str
    alive: bool

    def load(self) -> Outcome:
        """Make the answer and give it as a value; a function gives None."""

    def observe(self, args: tuple) -> Outcome:
        """What one call does. After a time-out or a crash the worker is no longer alive."""

    def observe_all(self, inputs: Sequence[tuple]) -> list[Outcome]:
        """`observe` for each input, up to the first after which the worker is no longer alive."""

    def close(self) -> None: ...


def isolation_level() -> str:
    """ "process" or "thread"; the environment variable LLM_COURSE_ISOLATION may ask for the weaker one."""
    asked = os.environ.get("LLM_COURSE_ISOLATION", "")
    return "process" if sys.platform.startswith("linux") and asked != "thread" else "thread"


def open_worker(load: Load, call: Callable | None = None, limits: Limits = STUDENT) -> Worker:
    """A worker that runs the answer made by `load()`, each call as `call(answer, *args)` if `call` is given."""
    if isolation_level() == "process":
        from exercises.grader.fork import ForkWorker

        with contextlib.suppress(OSError):  # no room for another process
            return ForkWorker(load, call, limits)
    return ThreadWorker(load, call, limits)


def timed_out() -> Outcome:
    return Outcome("time-out", message=_("no answer came in time, so the call was stopped"))


class TimeUp(BaseException):
    """Raised inside an answer whose time is up."""


class ThreadWorker:
    """The weaker place: see the module's first lines."""

    level = "thread"

    def __init__(self, load: Load, call: Callable | None, limits: Limits) -> None:
        self._load, self._call, self._limits = load, call, limits
        self._answer: Any = None
        self.alive = True

    def load(self) -> Outcome:
        def make() -> Any:
            self._answer = self._load()
            return None if callable(self._answer) else self._answer

        return self._run(make, (), None)

    def observe(self, args: tuple) -> Outcome:
        return self._run(self._answer, args, self._call)

    def observe_all(self, inputs: Sequence[tuple]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for args in inputs:
            if self.alive:
                outcomes.append(self.observe(args))
        return outcomes

    def close(self) -> None:
        self.alive = False

    def _run(self, function: Callable, args: tuple, call: Callable | None) -> Outcome:
        replies: list[dict] = []
        state, streams = State(), (sys.stdout, sys.stderr, builtins.input)
        thread = threading.Thread(target=lambda: replies.append(pack(watch(function, args, call))), daemon=True)
        thread.start()
        thread.join(self._limits.clock)
        if thread.is_alive():
            self.alive = False
            _interrupt(thread)
            sys.stdout, sys.stderr, builtins.input = streams  # a thread that is left behind does not put them back
            put_back_originals()
            state.restore()
            return timed_out()
        return unpack(replies[0]) if replies else timed_out()


def _interrupt(thread: threading.Thread) -> None:
    """Ask a thread to stop, again and again for a second: it stops at its next line of Python, if there is one."""
    end = time.monotonic() + 1
    while thread.is_alive() and time.monotonic() < end:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimeUp))
        thread.join(0.05)
