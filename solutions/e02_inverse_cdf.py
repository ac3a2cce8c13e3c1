"""The number of pieces that end at or before u is the id of the piece that holds u.

`<=` and not `<`: a piece holds its left end and not its right one, so u = 0 never draws a token of
probability 0 that stands first. In float32 the running sum may stop short of 1, so the id is held at the last
token that has mass; otherwise one dart in millions draws a token that does not exist or was filtered out.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Check, Probs, Uniforms, fails

SHORT_RULER = torch.tensor([[0.5, 0.4999999, 0.0]])  # what rounding can make of a distribution


def draw_token(probs: Tensor, uniforms: Tensor) -> Tensor:
    """The token under the dart in each row: probs (B, V), uniforms (B,) in [0, 1) -> int64 (B,)."""
    ends = probs.cumsum(dim=-1)
    token = (ends <= uniforms[:, None]).sum(dim=-1)
    ids = torch.arange(probs.shape[-1])
    last = torch.where(probs > 0, ids, 0).amax(dim=-1)
    return torch.minimum(token, last)


def off_the_borders(probs: Tensor, uniforms: Tensor) -> bool:
    """Whether rounding cannot decide: sums of 32nds are exact, other sums keep away from the dart."""
    gaps = (probs.double().cumsum(dim=-1) - uniforms.double()[:, None]).abs()
    return bool((probs * 32 == (probs * 32).round()).all()) or bool((gaps > 1e-5).all())


check_draws = Check(
    draw_token,
    probs=Probs("B", "V"),
    uniforms=Uniforms("B"),
    examples=[
        (torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([0.6])),
        (torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]), torch.tensor([0.5, 0.0])),
        (SHORT_RULER, torch.tensor([1 - 2**-24])),
        (torch.tensor([[0.9999999, 0.0]]), torch.tensor([1 - 2**-24])),
        (torch.tensor([[0.5, 0.5]]), torch.tensor([0.5 - 2**-24])),
        (torch.tensor([[0.5, 0.4999998, 1e-8]]), torch.tensor([1 - 2**-24])),
        (torch.full((1, 64), 1 / 64), torch.tensor([0.99])),
    ],
    valid=off_the_borders,
)
equivalent = {
    "last = torch.where(probs > 0, ids, 0).amax(dim=-1) -> last = torch.where(probs > 0, ids, -1).amax(dim=-1)": (
        "every row has a token with mass"
    ),
}
not_checked = "speed, half precision"


def wrong_border_to_the_left(probs: Tensor, uniforms: Tensor) -> Tensor:
    """gives a dart on a border to the piece on the left (`<` where `<=` is meant)"""
    token = (probs.cumsum(dim=-1) < uniforms[:, None]).sum(dim=-1)
    return token.clamp(max=probs.shape[-1] - 1)


def wrong_beyond_the_end(probs: Tensor, uniforms: Tensor) -> Tensor:
    """draws an id that does not exist, or has no mass, when rounding leaves the ruler short"""
    return (probs.cumsum(dim=-1) <= uniforms[:, None]).sum(dim=-1)


def wrong_greedy(probs: Tensor, uniforms: Tensor) -> Tensor:
    """takes the likeliest token and ignores the dart"""
    return probs.argmax(dim=-1)


def wrong_first_dart(probs: Tensor, uniforms: Tensor) -> Tensor:
    """throws the first row's dart at every row"""
    return draw_token(probs, uniforms[:1].expand(len(probs)))


def wrong_next_piece(probs: Tensor, uniforms: Tensor) -> Tensor:
    """is off by one: it gives the token before the right one"""
    return (draw_token(probs, uniforms) - 1).clamp(min=0)


def wrong_scaled(probs: Tensor, uniforms: Tensor) -> Tensor:
    """cuts the ruler into equal pieces and ignores the probabilities"""
    return (uniforms * probs.shape[-1]).long()


def wrong_sorted(probs: Tensor, uniforms: Tensor) -> Tensor:
    """sorts the probabilities first and gives a rank instead of an id"""
    return draw_token(probs.sort(dim=-1, descending=True).values, uniforms)


def wrong_without_sum(probs: Tensor, uniforms: Tensor) -> Tensor:
    """compares the dart with single probabilities instead of their running sum"""
    return (probs <= uniforms[:, None]).sum(dim=-1).clamp(max=probs.shape[-1] - 1)


@fails("shape")
def wrong_keeps_an_axis(probs: Tensor, uniforms: Tensor) -> Tensor:
    """gives (B, 1) instead of (B,)"""
    return draw_token(probs, uniforms)[:, None]


@fails("dtype")
def wrong_dtype(probs: Tensor, uniforms: Tensor) -> Tensor:
    """gives the ids as floats"""
    return draw_token(probs, uniforms).float()


def wrong_from_the_right(probs: Tensor, uniforms: Tensor) -> Tensor:
    """measures u from the right end of the ruler (1 - u)"""
    return draw_token(probs, 1 - uniforms)


def wrong_last_id(probs: Tensor, uniforms: Tensor) -> Tensor:
    """gives a dart beyond the end of the ruler to the last id, which may have no mass"""
    return (probs.cumsum(dim=-1) <= uniforms[:, None]).sum(dim=-1).clamp(max=probs.shape[-1] - 1)


def wrong_argmax_of_nothing(probs: Tensor, uniforms: Tensor) -> Tensor:
    """gives a dart beyond the end of the ruler to token 0, as argmax does where nothing is True"""
    return (probs.cumsum(dim=-1) > uniforms[:, None]).int().argmax(dim=-1)


def right_loop(probs: Tensor, uniforms: Tensor) -> Tensor:
    drawn = []
    for row, u in zip(probs, uniforms.tolist()):
        end, token = 0.0, 0
        for i, p in enumerate(row):
            end = end + p
            if p > 0:
                token = i
                if u < end:
                    break
        drawn.append(token)
    return torch.tensor(drawn)


def right_searchsorted(probs: Tensor, uniforms: Tensor) -> Tensor:
    ends = probs.cumsum(dim=-1)
    token = torch.searchsorted(ends, uniforms[:, None].to(ends.dtype), right=True)[:, 0]
    last = probs.shape[-1] - 1 - (probs.flip(-1) > 0).int().argmax(dim=-1)
    return token.minimum(last)
