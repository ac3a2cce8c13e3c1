"""Finish the rows: EOS, pad, and when to stop.

A model wrote `new_tokens` (B, N) without knowing when to stop. Make of it what generation gives back: a row
ends with its first `eos`, which stays; after it comes `pad`. The loop stops when all rows have ended, so
columns after the step at which the last row ended are cut off. Rows without `eos` run to the end.
"""

from torch import Tensor

objective = "Handle end of text in a batch"
difficulty = 3
minutes = 12
hints = (
    "A token is padding if an eos stands *before* it in its row; its own being eos does not make it padding.",
    "The running count of eos, minus the token's own, is the number of eos before it.",
    "The width is the largest number of real tokens of a row: count the tokens that are not padding.",
)


def finish_rows(new_tokens: Tensor, eos: int, pad: int) -> Tensor:
    """The finished batch: int64 (B, n) with n <= N, each row up to and with its first eos, then pad."""
    raise NotImplementedError
