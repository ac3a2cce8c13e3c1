"""The settings that no other beats.

N settings were measured: `quality` and `diversity`, both (N,), more is better. A setting is **beaten** if another
one is at least as good in both and really better in one of them. Give True for the settings that are not beaten:
together they are the frontier.
"""

from torch import Tensor

objective = "Find the settings that no other setting beats"
difficulty = 3
minutes = 12
hints = (
    "Compare each setting with each: quality[:, None] against quality[None, :] gives an (N, N) table.",
    "At least as good in both is one table, really better in one of them is another; both must hold.",
    "Two equal settings do not beat each other, so both stay.",
)


def unbeaten(quality: Tensor, diversity: Tensor) -> Tensor:
    """True where no other setting is better: quality (N,), diversity (N,) -> bool (N,)."""
    raise NotImplementedError
