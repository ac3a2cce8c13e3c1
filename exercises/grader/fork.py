"""An answer in a forked process: requests and replies are lines of JSON on two pipes."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from exercises.grader import codec
from exercises.grader.isolate import Limits, Load, timed_out
from exercises.grader.sandbox import pack, unpack, watch
from llm_gen.text import _
from solutions.vocabulary import Outcome, failure

MEMORY = 1 << 30  # bytes a check may use beyond what the kernel holds already
LARGEST_REPLY = 50_000_000
BUNDLE = 16  # requests sent at once: a few kilobytes
BROKEN = _("what came back is not an answer")


class ForkWorker:
    """The stronger place: what happens in it stays in it."""

    level = "process"

    def __init__(self, load: Load, call: Callable | None, limits: Limits) -> None:
        def start(requests: int, replies: int) -> int:
            with warnings.catch_warnings():
                # Newer Pythons warn that threads and fork do not mix; the child uses one thread and no lock of ours.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                child(load, call, limits, requests, replies)
            return pid

        self._talk_to(start, limits)

    def _talk_to(self, start: Callable[[int, int], int], limits: Limits) -> None:
        """`start` begins a process that reads requests from one pipe and writes replies to another; gives its pid."""
        self._limits, self._end_of_life = limits, time.monotonic() + limits.life
        answers, replies = os.pipe(), os.pipe()
        try:
            self._pid = start(answers[0], replies[1])
        except OSError:
            os.close(answers[1])
            os.close(replies[0])
            raise
        finally:
            os.close(answers[0])
            os.close(replies[1])
        self._requests, self._replies, self._buffer = answers[1], replies[0], b""
        self.alive = True

    def load(self) -> Outcome:
        return self._ask([None])[0]

    def observe(self, args: tuple) -> Outcome:
        return self.observe_all([args])[0]

    def observe_all(self, inputs: Sequence[tuple]) -> list[Outcome]:
        """Many calls with few switches between the processes: requests are sent in bundles that fit into a pipe."""
        outcomes: list[Outcome] = []
        for start in range(0, len(inputs), BUNDLE):
            if self.alive:
                bundle = inputs[start : start + BUNDLE]
                outcomes += self._ask([[codec.encode(arg) for arg in args] for args in bundle])
        return outcomes

    def close(self) -> None:
        """End the process and all it started."""
        if self.alive:
            self._end(kill=True)

    def _ask(self, requests: list) -> list[Outcome]:
        """The outcomes of the requests, up to the first after which the process is gone."""
        outcomes: list[Outcome] = []
        try:
            _write_all(self._requests, b"".join(json.dumps(request).encode() + b"\n" for request in requests))
            while self.alive and len(outcomes) < len(requests):
                outcomes.append(self._next_outcome())
        except BrokenPipeError:
            outcomes.append(self._obituary(self._end(kill=False)))
        except BaseException:  # an interrupt by the student: the answer must not live on
            self.close()
            raise
        return outcomes

    def _next_outcome(self) -> Outcome:
        line = self._read_line(min(time.monotonic() + self._limits.clock, self._end_of_life))
        return self._read_outcome(line) if line else self._obituary(self._end(kill=line is None))

    def _read_outcome(self, line: bytes) -> Outcome:
        try:
            return unpack(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RuntimeError):
            self.close()
            return Outcome("unreadable", message=BROKEN)

    def _read_line(self, deadline: float) -> bytes | None:
        """One reply; b"" when the process is gone, None when the time is up."""
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._replies], [], [], left)[0]:
                return None
            chunk = os.read(self._replies, 1 << 16)
            if not chunk or len(self._buffer) > LARGEST_REPLY:
                return b""
            self._buffer += chunk
        line, _newline, self._buffer = self._buffer.partition(b"\n")
        return line

    def _end(self, kill: bool) -> int:
        """Reap the process and give its wait status. `kill`: its time is up; else it has gone or is going."""
        self.alive = False
        os.close(self._requests)
        os.close(self._replies)
        return self._reap(kill)

    def _reap(self, kill: bool) -> int:
        return reap(self._pid, kill)

    def _obituary(self, status: int) -> Outcome:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM):
            return timed_out()
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return Outcome("crash", message=_("the call crashed Python ({signal})").format(signal=name))
        return Outcome("crash", message=_("the call ended Python itself (os._exit)"))


def reap(pid: int, kill: bool) -> int:
    """End a child of this process and all that it started; its wait status, or SIGPROF if it had to be killed."""
    killed = kill or not _gone(pid)
    _kill_group(pid)  # also what it started and left behind
    _pid, status = os.waitpid(pid, 0)
    return signal.SIGPROF if killed else status


def _gone(pid: int) -> bool:
    """Whether the process ends within three seconds; it is not reaped yet, so its number cannot be another's."""
    for _wait in range(300):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            return True
        time.sleep(0.01)
    return False


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        # The group exists only from the child's first lines on, and the process may have ended.
        with contextlib.suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def child(
    load: Load,
    call: Callable | None,
    limits: Limits,
    requests: int,
    replies: int,
    restrict: Callable[[], None] = lambda: None,
) -> None:
    """The life of the forked process; it never returns. `restrict`: what it gives up before the answer runs."""
    try:
        _settle(limits)
        restrict()
        _serve(load, call, limits, requests, replies)
    finally:
        os._exit(0)


def _settle(limits: Limits) -> None:
    """A session of its own, no terminal, no core file, less memory, one thread, no way to draw in the notebook."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.alarm(limits.life + 1)  # an orphan ends by itself
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # no processes or threads of its own (root is exempt)
    most = _memory_in_use() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    torch.set_num_threads(1)  # the pool of threads did not survive the fork
    gc.freeze()  # objects of the kernel are not this process's to destroy
    _mute_notebook()


def _memory_in_use() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _mute_notebook() -> None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.display_pub.publish = lambda *args, **kwargs: None


def _serve(load: Load, call: Callable | None, limits: Limits, requests: int, replies: int) -> None:
    """Answer requests: null makes the answer, a list calls it with these arguments."""
    answer: Any = None

    def make() -> Any:
        nonlocal answer
        answer = load()
        return None if callable(answer) else answer

    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            data = json.loads(line)
            signal.setitimer(signal.ITIMER_PROF, limits.processor)
            try:
                outcome = watch(make, ()) if data is None else watch(answer, tuple(map(codec.decode, data)), call)
            except BaseException as error:  # what is left when an answer has broken the tools of the watch itself
                outcome = failure(error)
            reply = json.dumps(pack(outcome)).encode() + b"\n"
            signal.setitimer(signal.ITIMER_PROF, 0)
            _write_all(replies, reply)


def _write_all(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
