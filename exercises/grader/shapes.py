"""How parts of another length, shape or dtype relate to the right ones: cut short, turned round, stretched, ..."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from llm_gen.text import _
from solutions.vocabulary.compare import short, value_difference

Pairs = Sequence[tuple[Any, Any]]  # the right part and the one that came, for each input on which the two differ


def of_lengths(pairs: Pairs, where: str = "") -> str:
    """What holds for all pairs of lists, tuples or tensors (along their first axis); where: that axis in words."""
    gaps = {len(got) - len(right) for right, got in pairs}
    if len(gaps) != 1:
        return ""
    gap = gaps.pop()
    first = all(_alike(right[max(0, -gap) :], got[max(0, gap) :]) for right, got in pairs)
    last = all(_alike(right[: len(got)], got[: len(right)]) for right, got in pairs)
    words = _too_long(first, last) if gap > 0 else _too_short(first, last)
    return words.format(n=abs(gap), where=where)


def _too_long(first: bool, last: bool) -> str:
    if first and not last:
        return _("Too long by {n}{where}: leave out what stands first, and the rest is right.")
    if last and not first:
        return _("Too long by {n}{where}: leave out what stands last, and the rest is right.")
    return _("Too long by {n}{where}. What stands there that is not asked for?")


def _too_short(first: bool, last: bool) -> str:
    if first and not last:
        return _("Too short by {n}{where}: what should stand first is missing, and the rest is right.")
    if last and not first:
        return _("Too short by {n}{where}: what should stand last is missing, and the rest is right.")
    return _("Too short by {n}{where}. What is asked for that does not stand there?")


def _alike(right: Sequence, got: Sequence) -> bool:
    return value_difference(_on_its_own(right), _on_its_own(got)) is None


def _on_its_own(part: Sequence) -> Sequence:
    """Without the dtype, which is judged when the shape is right."""
    return part.double() if isinstance(part, Tensor) else part


def of_shapes(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """What holds for all pairs of tensors of two shapes."""
    if all(right.numel() == got.numel() and _alike(right.flatten(), got.flatten()) for right, got in pairs):
        return _("The entries are right, and only the shape is not: an axis is missing, or there is one too many.")
    if all(right.ndim > 1 and right.mT.shape == got.shape and _alike(right.mT, got) for right, got in pairs):
        return _("Rows and columns are swapped: x.mT swaps the last two axes.")
    if all(map(_is_stretched, *zip(*pairs))):
        return _("Two shapes were stretched to fit each other. After sum or amax, keepdim=True keeps the axis.")
    return _of_axes(pairs) or _of_one_axis(pairs)


def _is_stretched(right: Tensor, got: Tensor) -> bool:
    """Whether an axis of length 1 is as long as another: rows have met columns."""
    return right.ndim == got.ndim and any(
        right.shape[axis] == 1 < got.shape[axis] and got.shape[axis] in got.shape[:axis] + got.shape[axis + 1 :]
        for axis in range(got.ndim)
    )


def _of_axes(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    if all(got.ndim < right.ndim for right, got in pairs):
        return _("An axis is lost: sum, amax, gather(...).squeeze(-1) and x[0] take one away; keepdim=True keeps it.")
    if all(got.ndim > right.ndim for right, got in pairs):
        return _("There is an axis too many: sum or amax along it, or pick one entry of it, as in x[..., 0] or gather.")
    return ""


def _of_one_axis(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Words for shapes that differ along one axis, the same for all pairs."""
    axes = {axis for right, got in pairs for axis in _differing_axes(right.shape, got.shape)}
    if len(axes) != 1 or any(right.ndim != got.ndim for right, got in pairs):
        return ""
    axis = axes.pop()
    moved = [(right.movedim(axis, 0), got.movedim(axis, 0)) for right, got in pairs]
    return of_lengths(moved, _(" along dim={axis}").format(axis=axis))


def _differing_axes(right: Sequence[int], got: Sequence[int]) -> Iterable[int]:
    """Counted from the last, which is -1, since there may be more axes before on some inputs."""
    return (-1 - i for i, (a, b) in enumerate(zip(reversed(right), reversed(got))) if a != b)


def of_dtypes(pairs: Sequence[tuple[Tensor, Tensor]], wanted: str) -> str:
    """What to do about tensors of another dtype; wanted: the right one as code."""
    (right, got), *_others = pairs
    equal = all(_alike(*pair) for pair in pairs)
    return _of_dtype(right, got, equal).format(dtype=wanted, got=short(got.dtype))


def _of_dtype(right: Tensor, got: Tensor, equal: bool) -> str:
    if got.dtype == torch.bool:
        return _(
            "A mask of True and False came back; numbers are asked for. .to({dtype}) makes 1 and 0 of it; "
            "torch.where(mask, x, 0) keeps the numbers of x where it is True."
        )
    if right.dtype == torch.bool:
        return _("True and False are asked for: what a comparison such as x > 0 gives, or .bool().")
    if equal:
        return _("The numbers are right, and only their dtype is not: .to({dtype}) makes it so.")
    if right.is_floating_point() and not got.is_floating_point():
        return _(
            "Whole numbers came ({got}), so what stands behind the point is lost: leave out //, .long() and the like, "
            "and calculate with .to({dtype}) from the start."
        )
    if got.is_floating_point() and not right.is_floating_point():
        return _("Whole numbers are asked for ({dtype}): ids, counts or positions, not what they were computed from.")
    if got.dtype.itemsize < right.dtype.itemsize:
        return _("{got} has lost digits on the way: make it {dtype} before the calculation, not after it.")
    return _("The result is to have another dtype, which .to({dtype}) makes; and not all numbers are right.")
