"""One call of an answer, watched: what it gives, raises, prints, writes to and leaves changed."""

from __future__ import annotations

import builtins
import io
import linecache
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import CoroutineType, FunctionType, GeneratorType
from typing import Any

from exercises.grader import codec
from exercises.grader.state import State, put_back_originals
from llm_gen.text import _
from solutions.vocabulary import Outcome, failure, observe

MOST_PRINTED = 300


def watch(answer: Callable, args: tuple, call: Callable | None = None) -> Outcome:
    """`observe` for an answer that nobody vouches for: exits, prints, changed settings are part of the outcome."""
    state, printed = State(), Printed()
    kept = sys.stdout, sys.stderr, builtins.input
    sys.stdout = sys.stderr = printed
    builtins.input = _no_input
    try:
        outcome = observe(answer, args, call, catch=BaseException, explain=partial(_explain, _file_of(answer)))
    finally:
        sys.stdout, sys.stderr, builtins.input = kept
    disturbed = tuple(state.changes())
    if disturbed:
        put_back_originals()
        state.restore()
    return replace(outcome, disturbed=disturbed, printed=printed.text)


def pack(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON data; a value that cannot be sent becomes an outcome of the kind "unreadable"."""
    try:
        value = codec.encode(_as_plain(outcome.value))
    except codec.Unreadable as error:
        return vars(outcome) | {"kind": "unreadable", "value": None, "message": str(error)}
    return vars(outcome) | {"value": value}


def unpack(data: dict[str, Any]) -> Outcome:
    """The outcome that `pack` was given; ValueError for anything else."""
    fields = {key: tuple(item) if isinstance(item, list) else item for key, item in data.items() if key != "value"}
    return Outcome(value=codec.decode(data["value"]), **fields)


class Printed(io.TextIOBase):
    """A text stream that keeps the first characters and forgets the rest."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text[: MOST_PRINTED - len(self.text)]
        return len(text)


def _no_input(prompt: object = "") -> str:
    raise EOFError(_("a function under check cannot ask for input"))


def _file_of(answer: Callable) -> str:
    return getattr(getattr(answer, "__code__", None), "co_filename", "")


def _explain(home: str, error: BaseException) -> Outcome:
    outcome = failure(error)
    if isinstance(error, MemoryError) or "DefaultCPUAllocator" in outcome.message:
        return replace(outcome, kind="memory", message=_("it asks for more memory than a check may use"))
    return replace(outcome, line=_own_line(home, error))


def _own_line(home: str, error: BaseException) -> str:
    """The last line that was running in the answer's own file or another cell, not in torch or the grader."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == home or frame.filename.startswith("<") or "ipykernel" in frame.filename:
            return (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()[:80]
    return ""


def _as_plain(value: Any) -> Any:
    if type(value) is GeneratorType:
        raise codec.Unreadable(_("a generator came back: was `yield` meant to be `return`?"))
    if type(value) is CoroutineType:
        value.close()
        raise codec.Unreadable(_("a coroutine came back: `async def` is not asked for"))
    if type(value) is FunctionType:
        raise codec.Unreadable(_("a function came back: was it meant to be called?"))
    return value
