"""From a failing input to a small one: drop an index or simplify an argument while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import Tensor

from solutions.vocabulary.cases import Inputs
from solutions.vocabulary.kinds import Kind

MOST_CALLS = 150


def shrink(args: tuple, inputs: Inputs, fails: Callable[[tuple], bool]) -> tuple:
    """The smallest input found greedily, within a fixed number of calls of `fails`. Only valid ones are tried."""
    calls, better = 0, True
    while better:
        better = False
        for smaller in candidates(args, inputs):
            if not inputs.is_valid(smaller):
                continue
            if calls == MOST_CALLS:
                return args
            calls += 1
            if fails(smaller):
                args, better = smaller, True
                break
    return args


def candidates(args: tuple, inputs: Inputs) -> Iterator[tuple]:
    """Inputs one step smaller than `args`."""
    kinds = list(inputs.kinds.values())
    axes = [_axes(kind.letters, arg) for kind, arg in zip(kinds, args)]
    yield from _without_leading_axis(args, axes)
    for letter in dict.fromkeys(axis for names in axes for axis in names):
        yield from _without_one(args, kinds, axes, letter)
    for i, (kind, arg) in enumerate(zip(kinds, args)):
        for simpler in kind.simpler(arg):
            yield (*args[:i], simpler, *args[i + 1 :])


def _axes(letters: tuple[str, ...], arg: object) -> tuple[str, ...]:
    """The names of a tensor's axes, "*" written out to fit it; () where there are none or they do not fit."""
    if not isinstance(arg, Tensor):
        return ()
    stars = arg.ndim - len([letter for letter in letters if letter != "*"])
    names = tuple(n for x in letters for n in ([f"*{i}" for i in range(stars)] if x == "*" else [x]))
    return names if len(names) == arg.ndim else ()


def _without_leading_axis(args: tuple, axes: list) -> Iterator[tuple]:
    starred = [bool(names) and names[0] == "*0" for names in axes]
    if any(starred):
        yield tuple(arg[-1].clone() if star else arg for arg, star in zip(args, starred))


def _without_one(args: tuple, kinds: list, axes: list, letter: str) -> Iterator[tuple]:
    length = next(arg.shape[names.index(letter)] for arg, names in zip(args, axes) if letter in names)
    for index in range(length) if length > 1 else ():
        yield tuple(_dropped(kind, arg, names, letter, index) for kind, arg, names in zip(kinds, args, axes))


def _dropped(kind: Kind, arg: object, names: tuple[str, ...], letter: str, index: int) -> object:
    """The argument without one index of each axis of that letter, so that what is square stays square."""
    for axis, name in enumerate(names):
        if name == letter:
            arg = kind.drop(arg, axis, index)
    return arg
