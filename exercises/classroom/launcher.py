"""The process that starts answers for a class: it has PyTorch loaded and has never seen a solution.

`python -m exercises.classroom.launcher FD SECRET...` serves requests on a socket, each a line of JSON: `start` comes
with two pipes and gets the pid of a fork that serves the answer there, `end` gets that fork's wait status. Under root
the files named as secret are hidden first, the network is cut, and each fork becomes another user.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import llm_gen  # noqa: F401  an answer may use it, and a fork as another user might not be allowed to read it
from exercises.grader import codec  # noqa: F401
from exercises.grader.answers import Written
from exercises.grader.fork import child, reap
from exercises.grader.isolate import Limits
from exercises.grader.stored import harness

NEW_MOUNTS, NEW_NETWORK, NEW_IPC = 0x20000, 0x40000000, 0x08000000  # flags of unshare
PRIVATE = (1 << 14) | (1 << 18)  # MS_REC, MS_PRIVATE: what is mounted here is seen here alone
OTHER_USERS = range(61_000, 65_000)  # belong to nobody; each launcher takes its own, so that none can end another's
MOST_FILES = 64
LARGEST_REQUEST = 50_000_000
# What answers import; loaded once here, and for a user who may not read the environment's files.
USUAL = ("cmath", "collections", "copy", "decimal", "fractions", "functools", "heapq", "bisect", "itertools", "json",
         "math", "numbers", "operator", "random", "re", "statistics", "string", "time", "types", "typing", "numpy",
         "dataclasses", "torch.nn.functional", "torch.distributions", "torch.utils._device", "llm_gen.beyond",
         "llm_gen.weights")  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    control = socket.socket(fileno=int(arguments[0]))
    for name in USUAL:
        with contextlib.suppress(ImportError):
            __import__(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader, which then ends this process
    user = other_user()
    hidden = user is not None and hide(arguments[1:])
    _send(control, {"level": level(user, hidden), "hidden": hidden})
    with contextlib.suppress(ConnectionError):  # the grader has been killed
        for request, files in requests(control):
            if "end" in request:
                _send(control, {"status": reap(request["end"], request["kill"])})
            else:
                _send(control, {"pid": _fork(request, files, user, control)})


def other_user() -> int | None:
    """A user id that answers may run under; None if this process may not choose one."""
    if os.geteuid():
        return None
    user = OTHER_USERS[os.getpid() % len(OTHER_USERS)]
    pid = os.fork()
    if pid == 0:  # in a container not every id can be taken
        with contextlib.suppress(OSError):
            become(user)
            os._exit(0)
        os._exit(1)
    return user if os.waitpid(pid, 0)[1] == 0 else 65_534


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def hide(secrets: Sequence[str]) -> bool:
    """Lay an empty file system over each folder, for this process alone, and cut the network. Whether that worked."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS) or libc.mount(b"none", b"/", None, PRIVATE, None):
        return False
    libc.unshare(NEW_NETWORK | NEW_IPC)
    return all(libc.mount(b"none", os.fsencode(path), b"tmpfs", 0, b"mode=0700") == 0 for path in secrets)


def level(user: int | None, hidden: bool) -> str:
    if user is None:
        return "process of the same user"
    return "process of another user, solutions hidden" if hidden else "process of another user"


def requests(control: socket.socket) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Each request with the pipes that came with it, until the grader is gone."""
    while True:
        line, files = b"", []
        while not line.endswith(b"\n"):
            chunk, more, _flags, _address = socket.recv_fds(control, 1 << 16, 2)
            if not chunk or len(line) > LARGEST_REQUEST:
                return
            line, files = line + chunk, files + list(more)
        yield json.loads(line), files


def _fork(request: dict[str, Any], files: list[int], user: int | None, control: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        answer = Written(request["source"], request["name"])
        call = harness(request["call"])
        child(answer.load, call, Limits(**request["limits"]), *files, restrict=lambda: _restrict(user, control))
    for file in files:
        os.close(file)
    return pid


def _restrict(user: int | None, control: socket.socket) -> None:
    """No file may grow, few may be open; another user, if there is one. Hard limits: they cannot be raised again."""
    control.close()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    os.chdir("/")
    if user is not None:
        become(user)


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
