"""The global state that an answer may not leave changed, and that a check itself leaves as it was."""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from llm_gen.text import _


@dataclass(frozen=True)
class Setting:
    """One piece of global state: how it is read, written back, and compared."""

    words: str
    read: Callable[[], Any]
    write: Callable[[Any], None]
    same: Callable[[Any, Any], bool] = lambda old, new: old == new


def _write_filters(filters: list) -> None:
    warnings.filters[:] = filters
    with warnings.catch_warnings():  # entering and leaving tells Python's cache that the filters have changed
        pass


def _same_filters(old: list, new: list) -> bool:
    """A filter for warnings of a library's own class does not count: importing the library sets it, not the answer."""
    ours = [[each for each in filters if each[2].__module__ == "builtins"] for filters in (old, new)]
    return ours[0] == ours[1]


def _read_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder has been deleted
        return ""


def _write_folder(path: str) -> None:
    if path:
        os.chdir(path)


def _read_environment() -> dict:
    return dict(os.environ._data)  # as stored: decoding some hundred texts for each call of an answer would show


def _write_environment(stored: dict) -> None:
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in stored.items()}
    for name in set(os.environ) - set(variables):
        del os.environ[name]
    os.environ.update(variables)


SETTINGS = (
    Setting(_("torch's default dtype"), torch.get_default_dtype, torch.set_default_dtype),
    Setting(_("torch's default device"), torch.get_default_device, torch.set_default_device),
    Setting(_("torch's gradient mode"), torch.is_grad_enabled, torch.set_grad_enabled),
    Setting(_("torch's number of threads"), torch.get_num_threads, torch.set_num_threads),
    Setting(
        _("torch's deterministic mode"), torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms
    ),
    Setting(_("torch's global random numbers"), torch.get_rng_state, torch.set_rng_state, torch.equal),
    Setting(_("Python's global random numbers"), random.getstate, random.setstate),
    Setting(_("the folder that the kernel works in"), _read_folder, _write_folder),
    Setting(_("the warning filters"), lambda: list(warnings.filters), _write_filters, _same_filters),
    Setting(_("Python's recursion limit"), sys.getrecursionlimit, sys.setrecursionlimit),
    Setting(_("the environment variables"), _read_environment, _write_environment),
)
CANONICAL = {
    _("torch's default dtype"): torch.float32,
    _("torch's default device"): torch.device("cpu"),
    _("torch's gradient mode"): True,
    _("torch's deterministic mode"): False,
}
OWNERS = {"torch": torch, "torch.nn.functional": torch.nn.functional, "torch.Tensor": torch.Tensor, "math": math}
OWNERS["builtins"] = builtins
# A shell or a debugger replaces these, and torch.Storage follows the default dtype: no fault of an answer.
EXEMPT = {"_", "input", "print", "open", "exit", "quit", "breakpoint", "__import__", "__build_class__", "Storage"}
EXEMPT |= {"manual_seed"}  # torch itself wraps it when its compiler is first imported
# What the functions were when the grader was imported, before a student's first line.
SNAPSHOTS = {owner: dict(vars(place)) for owner, place in OWNERS.items()}
MISSING = object()


class State:
    """The global state at one moment."""

    def __init__(self) -> None:
        self.values = [setting.read() for setting in SETTINGS]

    def changes(self) -> list[str]:
        """What is no longer as it was, in words."""
        pairs = zip(SETTINGS, self.values)
        changed = [setting.words for setting, old in pairs if not setting.same(old, setting.read())]
        return changed + [_("{name} (it was replaced)").format(name=name) for name in replaced()]

    def restore(self) -> None:
        """Write back what has changed, and only that."""
        for setting, old in zip(SETTINGS, self.values):
            if not setting.same(old, setting.read()):
                setting.write(old)


def replaced() -> list[str]:
    """Functions of torch, math and Python that are no longer the original ones, such as "torch.softmax"."""
    return [f"{owner}.{name}" for owner, name in _replaced()]


@contextlib.contextmanager
def clean_state() -> Iterator[list[str]]:
    """Standard settings and the original functions inside, what was there before afterwards.

    Yields the names of the functions that had been replaced.
    """
    before, patched = State(), {(o, n): vars(OWNERS[o]).get(n, MISSING) for o, n in _replaced()}
    put_back_originals()
    _standard_settings()
    try:
        yield [f"{owner}.{name}" for owner, name in patched]
    finally:
        before.restore()
        for (owner, name), value in patched.items():
            _put(owner, name, value)


def put_back_originals() -> None:
    for owner, name in _replaced():
        _put(owner, name, SNAPSHOTS[owner].get(name, MISSING))


def _put(owner: str, name: str, value: object) -> None:
    if value is MISSING:
        delattr(OWNERS[owner], name)
    else:
        setattr(OWNERS[owner], name, value)


def _replaced() -> list[tuple[str, str]]:
    return [(owner, name) for owner in SNAPSHOTS for name in _replaced_in(owner)]


def _replaced_in(owner: str) -> list[str]:
    """Names with another value than at first; in a class also new ones that hide what it inherits."""
    first, now, place = SNAPSHOTS[owner], vars(OWNERS[owner]), OWNERS[owner]
    if len(first) == len(now) and all(map(operator.is_, first.values(), now.values())):  # nearly always, and quick
        return []
    changed = [name for name, value in first.items() if now.get(name, MISSING) is not value]
    hiding = [name for name in now if name not in first and isinstance(place, type) and hasattr(place.__base__, name)]
    return [name for name in changed + hiding if name not in EXEMPT]


def _standard_settings() -> None:
    for setting in SETTINGS:
        standard = CANONICAL.get(setting.words)
        if standard is not None and setting.read() != standard:
            setting.write(standard)
