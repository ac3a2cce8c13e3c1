"""Where the answers of a class run: in forks of a launcher that knows no solution."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from exercises.classroom.harness import harness_source
from exercises.grader.answers import Written
from exercises.grader.catalog import FOLDER, Exercise
from exercises.grader.fork import ForkWorker
from exercises.grader.isolate import Limits
from solutions.vocabulary import Check

HANDED_ON = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR", "ATEN_CPU_CAPABILITY", "LLM_COURSE_ISOLATION")
PATIENCE = 120  # seconds for the launcher to load PyTorch, or to answer at all on a crowded machine


def folders_with_answers() -> list[Path]:
    """The solutions, and the history of the course, which has them too."""
    return [path for path in (FOLDER.parent / "solutions", FOLDER.parent / ".git") if path.is_dir()]


class LauncherGone(OSError):
    """The launcher has ended: an answer of the same user can do that."""


class Launcher:
    """A running launcher and the socket to it; started again when an answer has ended it.

    secrets: folders that no answer may read; they are hidden, or made unreadable, where this process is root.
    """

    def __init__(self, secrets: Sequence[str | Path], limits: Limits) -> None:
        self.limits, self._secrets = limits, [str(path) for path in secrets]
        self._start()

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(PATIENCE)
        program = ["-W", "ignore::DeprecationWarning", "-m", "exercises.classroom.launcher"]
        command = [sys.executable, *program, str(theirs.fileno()), *self._secrets]
        path = os.pathsep.join(filter(None, [str(FOLDER.parent), os.environ.get("PYTHONPATH")]))
        environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ}  # no token, no password
        environment |= {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], start_new_session=True)
        theirs.close()
        greeting = self._answer()
        self.level: str = greeting["level"]
        if os.geteuid() == 0 and not greeting["hidden"]:
            for path in self._secrets:
                os.chmod(path, 0o700)

    def ask(self, request: dict[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        """Send a request; its answer. Raises LauncherGone."""
        data = json.dumps(request).encode() + b"\n"
        try:
            sent = socket.send_fds(self._control, [data], files) if files else self._control.send(data)
            self._control.sendall(data[sent:])
        except OSError as error:
            raise LauncherGone from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = b""
        while not line.endswith(b"\n"):
            try:
                chunk = self._control.recv(1 << 16)
            except OSError as error:
                raise LauncherGone from error
            if not chunk:
                raise LauncherGone
            line += chunk
        return json.loads(line)

    def place(self, exercise: Exercise, answer: Written, check: Check | None) -> LaunchedWorker:
        """A worker for one answer: what `judge` asks for."""
        request = {
            "source": answer.source, "name": answer.name, "limits": asdict(self.limits),
            "call": harness_source(exercise, check) if check else "",
        }  # fmt: skip
        try:
            return LaunchedWorker(self, request)
        except LauncherGone:
            self.close()
            self._start()
            return LaunchedWorker(self, request)

    def close(self) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()


class LaunchedWorker(ForkWorker):
    """An answer in a fork of the launcher."""

    def __init__(self, launcher: Launcher, request: dict[str, Any]) -> None:
        self._launcher, self.level = launcher, launcher.level
        self._talk_to(lambda *files: launcher.ask(request, files)["pid"], launcher.limits)

    def _reap(self, kill: bool) -> int:
        try:
            return self._launcher.ask({"end": self._pid, "kill": kill})["status"]
        except LauncherGone:
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
            return signal.SIGKILL
