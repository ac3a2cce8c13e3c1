"""From logits to a token: temperature, top-k, top-p, and the draw.

The letters: B rows (batch), V tokens (vocabulary). A filter is a boolean mask of the tokens that stay; which
tokens are dropped is decided here and nowhere else. This file knows nothing of models or of text.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from llm_gen.checks import check_flag, check_integer, check_logits, check_real

FLOAT32 = torch.finfo(torch.float32)
SMALL_VOCABULARY = 4096  # up to here sorting is the faster way to a nucleus
BANDS, BANDS_PER_NAT = 2048, 64  # of logits below the row's largest: 32 nats, and all that lies deeper in the last


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
        left = torch.where(stays, left, -torch.inf)
    if top_p is not None and top_p < 1:
        stays = top_p_mask(left, top_p, temperature)
    return scaled if stays is None else torch.where(stays, scaled, -torch.inf)


def greedy_token(logits: Tensor) -> Tensor:
    """The lowest id among the largest logits of each row: (B, V) -> (B, 1)."""
    return logits.argmax(dim=-1, keepdim=True)


def scale_by_temperature(logits: Tensor, temperature: float) -> Tensor:
    """`logits / temperature`, never NaN or +inf: a row that would overflow has its maximum subtracted first.

    logits: (B, V), checked. The softmax is the same either way; a tiny temperature gives a one-hot, shared by ties.
    """
    if temperature == 1:
        return logits
    # float32 turns such a temperature into 0 or infinity, and 0 / 0 or -inf / inf into NaN.
    extreme = not FLOAT32.tiny <= temperature <= FLOAT32.max
    wide = logits.double() if extreme else logits
    scaled = (wide / temperature).to(logits.dtype)
    overflows = ~scaled.amax(dim=-1, keepdim=True).isfinite()
    if not overflows.any():
        return scaled
    shifted = (wide - wide.amax(dim=-1, keepdim=True)) / temperature
    return torch.where(overflows, shifted.to(logits.dtype), scaled)


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


def top_p_mask(logits: Tensor, top_p: float, temperature: float = 1.0) -> Tensor:
    """The nucleus of each row as a mask (B, V): tokens with less than `top_p` of mass before them.

    Ranks by the logits (ties: lower id first), masses at the temperature. `top_p=1` keeps everything: a running
    sum may round to 1 before the tail is counted. Small vocabularies are sorted, large ones need not be.
    """
    if top_p >= 1:
        return torch.ones_like(logits, dtype=torch.bool)
    if logits.shape[-1] <= SMALL_VOCABULARY or not len(logits):
        return nucleus_by_sorting(logits, top_p, temperature)
    return torch.stack([nucleus_by_bands(row, top_p, temperature) for row in logits])


def nucleus_by_sorting(logits: Tensor, top_p: float, temperature: float) -> Tensor:
    """`top_p_mask` as it is said: sort, sum, compare. Takes top_p < 1."""
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    probs = scale_by_temperature(to_float32(ranked), temperature).double().softmax(dim=-1)
    stays = is_below(probs.cumsum(dim=-1) - probs, top_p)
    return torch.zeros_like(ranked, dtype=torch.bool).scatter(-1, order, stays)


def nucleus_by_bands(logits: Tensor, top_p: float, temperature: float) -> Tensor:
    """The same for one row (V,) -> (V,) without sorting all of it: mass is summed in narrow bands of the logits, from
    the top down, and only the band in which it reaches `top_p` is sorted. Many times as fast on 50,000 tokens."""
    scaled = scale_by_temperature(to_float32(logits), temperature)
    highest = scaled.amax()
    weights = scaled.double().sub_(highest).exp_()
    band = (highest - scaled).mul_(BANDS_PER_NAT).clamp_(max=BANDS - 1).long()
    mass = weights.new_zeros(BANDS).scatter_add_(0, band, weights)
    before, total = mass.cumsum(dim=0) - mass, mass.sum()
    last = int(is_below(before / total, top_p).sum()) - 1
    stays, ids = band < last, (band == last).nonzero()[:, 0]
    ids = ids[logits[ids].argsort(descending=True, stable=True)]
    ranked = weights[ids]
    stays[ids] = is_below((before[last] + ranked.cumsum(dim=0) - ranked) / total, top_p)
    return stays


def is_below(mass: Tensor, top_p: float) -> Tensor:
    """`mass < top_p` for mass summed in float64, compared in float32: 0.5 + 0.3 then reaches 0.8 on every CPU and
    from every dtype. A top_p that float32 would round to 0 still exceeds no mass at all, so the likeliest stays."""
    return mass.float() < max(top_p, FLOAT32.tiny)


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


def to_float32(logits: Tensor) -> Tensor:
    """float32 logits with the same softmax: a float64 row beyond float32's range is shifted to maximum 0 first."""
    narrow = logits.float()
    if logits.dtype != torch.float64:
        return narrow
    highest = logits.amax(dim=-1, keepdim=True)
    return torch.where(narrow.amax(dim=-1, keepdim=True).isfinite(), narrow, (logits - highest).float())
