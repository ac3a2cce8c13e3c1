"""One step of beam search.

W beams are open. `totals` (W,) holds the sum of log-probs of each so far, `log_probs` (W, V) those of each token that
may come next. Of all W × V continuations keep the W with the largest sums, wherever they come from: one beam may go on
several times, another may die. Give three tensors, the best first: the beam that each new one grew from, its token, and
its new total. Of equal sums the better beam comes first, in the order in which they are given, then the lower id.
"""

from torch import Tensor

objective = "Take one step of beam search"
difficulty = 4
minutes = 15
hints = (
    "totals[:, None] + log_probs has the sum of every continuation, (W, V).",
    "Flatten it and sort once, downwards and with stable=True: the first W are the new beams.",
    "A place in the flat list is beam * V + token. Whole division gives the beam; what gives the token?",
)


def beam_step(totals: Tensor, log_probs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(parents, tokens, new totals), each (W,), from totals (W,) and log_probs (W, V)."""
    raise NotImplementedError
