"""From logits to a token: temperature, top-k, top-p, and the draw.

The letters: B rows (batch), V tokens (vocabulary). A filter is a boolean mask of the tokens that stay; which
tokens are dropped is decided here, for top-p in `nucleus`, and nowhere else. This file knows nothing of models or text.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from llm_gen.checks import check_flag, check_integer, check_logits, check_real
from llm_gen.nucleus import top_p_mask
from llm_gen.scaling import scale_by_temperature, to_float32


def validate_sampling_args(
    do_sample: bool, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> None:
    """Refuse settings that cannot be sampled with; greedy decoding (`do_sample=False`) ignores them all.

    temperature: finite, > 0. top_k: integer >= 1 or None. top_p: in (0, 1] or None. Not both top_k and top_p.
    Raises TypeError for a value of the wrong kind, ValueError for a wrong value.
    """
    if not check_flag("do_sample", do_sample):
        return
    check_settings(temperature, top_k, top_p)
    if top_k is not None and top_p is not None:
        raise ValueError(f"top_k and top_p must not be combined here, got top_k={top_k} and top_p={top_p}")


def filter_logits(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Logits (B, V) after temperature, then top-k, then top-p on what top-k left; dropped entries are -inf.

    Top-k keeps exactly min(k, V) tokens. Top-p keeps a token iff the mass of the likelier ones is below top_p,
    so the token that crosses the threshold stays (nucleus sampling, arXiv:1904.09751). Ties go to the lower id.
    Ranks come from the logits as given, since temperature never changes the order. Masses come from float32 logits
    whatever the dtype, so float64 and float32 keep the same tokens. The result is a new tensor, float64 for float64
    input, else float32. Raises like `validate_sampling_args`, and ValueError for NaN, +inf or an empty row.
    """
    logits = check_logits(logits)
    temperature, top_k, top_p = check_settings(temperature, top_k, top_p)
    filtered = apply_filters(logits, temperature, top_k, top_p)
    return filtered.clone() if filtered is logits else filtered


def sample_next_token(
    logits: Tensor,
    do_sample: bool,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    generator: Generator | Sequence[Generator] | None = None,
) -> Tensor:
    """The next token of each row: logits (B, V) -> int64 (B, 1).

    Greedy takes the first maximum of the raw logits and ignores the settings; sampling draws from the softmax of
    `filter_logits`. `generator`: one for the batch, or a list of B, one a row; with the list a row's draws do
    not depend on the rows beside it. Raises like `validate_sampling_args` and `filter_logits`.
    """
    validate_sampling_args(do_sample, temperature, top_k, top_p)
    logits = check_logits(logits)
    if not do_sample:
        return greedy_token(logits)
    check_generator(generator, logits)
    return draw(apply_filters(logits, *check_settings(temperature, top_k, top_p)), generator)


def apply_filters(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> Tensor:
    """`filter_logits` on checked arguments; may return `logits` itself."""
    scaled, left, stays = scale_by_temperature(logits, temperature), logits.detach(), None
    if top_k is not None:
        stays = top_k_mask(left, top_k)
    if top_p is not None and top_p < 1:
        stays = top_p_mask(left if stays is None else drop_rest(left, stays), top_p, temperature)
    return scaled if stays is None else drop_rest(scaled, stays)


def drop_rest(logits: Tensor, stays: Tensor) -> Tensor:
    """`torch.where(stays, logits, -torch.inf)`, (B, V), with no branch for each token: where a mask looks random the
    processor guesses half of them wrong. The smaller of a logit and +inf is the logit, of it and -inf is -inf."""
    ceiling = stays.view(torch.int8).to(logits.dtype).sub_(0.5).mul_(torch.inf)
    return ceiling.clamp_(max=logits)


def greedy_token(logits: Tensor) -> Tensor:
    """The lowest id among the largest logits of each row: (B, V) -> (B, 1)."""
    return logits.argmax(dim=-1, keepdim=True)


def top_k_mask(logits: Tensor, top_k: int) -> Tensor:
    """The min(k, V) largest logits of each row as a mask (B, V); among equals the lower ids."""
    k = min(top_k, logits.shape[-1])
    ranked = logits.topk(min(k + 1, logits.shape[-1]), dim=-1).values
    threshold, next_one = ranked[:, k - 1 : k], ranked[:, k:]
    if (next_one < threshold).all():
        return logits >= threshold
    above, tied = logits > threshold, logits == threshold
    room = k - above.sum(dim=-1, keepdim=True)
    return above | (tied & (tied.cumsum(dim=-1) <= room))


def draw(filtered: Tensor, generator: Generator | Sequence[Generator] | None = None) -> Tensor:
    """One token a row from the softmax of filtered logits (B, V) -> (B, 1)."""
    probs = to_float32(filtered).softmax(dim=-1)
    if generator is None or isinstance(generator, Generator):
        return torch.multinomial(probs, 1, generator=generator)
    draws = [torch.multinomial(row, 1, generator=own) for row, own in zip(probs, generator)]
    return torch.stack(draws) if draws else probs.new_empty((0, 1), dtype=torch.long)


def check_settings(
    temperature: float, top_k: int | None, top_p: float | None
) -> tuple[float, int | None, float | None]:
    """The settings as plain numbers; raises like `validate_sampling_args`, but top_k and top_p may go together."""
    temperature = check_real("temperature", temperature)
    if temperature <= 0:
        raise ValueError(f"temperature must be > 0, got {temperature:g}; for greedy decoding pass do_sample=False")
    if top_k is not None:
        top_k = check_integer("top_k", top_k, minimum=1)
    if top_p is not None:
        top_p = check_real("top_p", top_p)
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p must lie in (0, 1], got {top_p!r}")
    return temperature, top_k, top_p


def check_generator(generator: object, like: Tensor) -> None:
    """None, one torch.Generator or a list of B, on the device of `like` (B, ...); else TypeError or ValueError."""
    if generator is None:
        return
    one = isinstance(generator, Generator)
    each = [generator] if one else list(generator) if isinstance(generator, (list, tuple)) else [generator]
    for item in each:
        if not isinstance(item, Generator):
            raise TypeError(f"generator must be a torch.Generator or a list of them, got {type(item).__name__}")
        if item.device.type != like.device.type:
            raise ValueError(f"generator must be on the logits' device {like.device}, got {item.device}")
    if not one and len(each) != len(like):
        raise ValueError(f"generator must be one or a list of one per row, {len(like)} here, got {len(each)}")
    if not one and len({id(item) for item in each}) != len(each):
        raise ValueError("generator must hold a different torch.Generator for each row, got the same one twice")
