"""The dart on the ruler: draw a token from one uniform number.

Lay the probabilities of a row side by side on a ruler from 0 to 1. A number u in [0, 1) falls into the piece
of one token: token i is drawn if (mass before i) <= u < (mass before i) + p_i. A token of probability 0 is
never drawn. Rounding may leave the ruler a little shorter than 1; a number beyond its end draws the last
token that has any mass.
"""

from torch import Tensor

objective = "Draw a token from a distribution with one uniform number"
difficulty = 3
minutes = 12
hints = (
    "The right end of each piece is the running sum of the probabilities.",
    "Count the pieces that end at or before u: that count is the id of the token.",
    "At the far end: the largest id with probability above 0 is the most that may come out.",
)


def draw_token(probs: Tensor, uniforms: Tensor) -> Tensor:
    """The token under the dart in each row: probs (B, V), uniforms (B,) in [0, 1) -> int64 (B,)."""
    raise NotImplementedError
