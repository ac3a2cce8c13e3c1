"""What one call of an answer did, as plain data that can be compared, stored and sent."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

Call = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """The value an answer gave, or the way in which it gave none.

    kind: "answer", "error" (it raised), or what the isolation saw: "time-out", "crash", "memory", "unreadable".
    error: names of the raised class and its parents, nearest first. line: the answer's own line that raised.
    mutated: positions of the arguments it wrote to. shared: positions of those whose memory the value uses.
    disturbed: the global state it changed. printed: the first characters it printed.
    """

    kind: str
    value: Any = None
    error: tuple[str, ...] = ()
    message: str = ""
    line: str = ""
    mutated: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    disturbed: tuple[str, ...] = ()
    printed: str = ""


def failure(error: BaseException) -> Outcome:
    """The outcome of an answer that raised `error`."""
    names = tuple(kind.__name__ for kind in type(error).__mro__[:-1])
    try:
        message = str(error)[:300]
    except Exception:  # the answer's own exception class may fail too
        message = ""
    return Outcome("error", error=names, message=message)


def observe(
    answer: Call,
    args: Sequence[Any],
    call: Call | None = None,
    *,
    catch: type[BaseException] = Exception,
    explain: Callable[[BaseException], Outcome] = failure,
) -> Outcome:
    """Call `answer` on copies of `args` (or `call(answer, *copies)`) in this process and note what it did."""
    given = tuple(map(copy.deepcopy, args))
    try:
        value = call(answer, *given) if call else answer(*given)
    except catch as error:
        outcome = explain(error)
    else:
        outcome = Outcome("answer", value, shared=_shared(value, given))
    mutated = tuple(i for i, (old, new) in enumerate(zip(args, given)) if not identical(old, new))
    return replace(outcome, mutated=mutated)


def identical(left: Any, right: Any) -> bool:
    """Whether two plain values are the same to the last bit; NaN is NaN, and True is not 1."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Tensor):
        same_form = left.shape == right.shape and left.dtype == right.dtype
        return same_form and bool(((left == right) | (left.isnan() & right.isnan())).all())
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(identical(left[key], right[key]) for key in left)
    return left == right or (left != left and right != right)


def _shared(value: Any, args: Sequence[Any]) -> tuple[int, ...]:
    """Positions of the tensor arguments whose storage the returned tensor uses."""
    if not isinstance(value, Tensor) or value.device.type != "cpu" or value.layout != torch.strided:
        return ()
    storage = value.untyped_storage().data_ptr()
    tensors = [(i, arg) for i, arg in enumerate(args) if isinstance(arg, Tensor) and arg.numel()]
    return tuple(i for i, arg in tensors if arg.untyped_storage().data_ptr() == storage)
