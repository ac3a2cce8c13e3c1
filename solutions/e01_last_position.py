"""Row t has seen tokens 1 to t and predicts token t + 1; only the last row is about a token not there yet.

What a row has seen is computed: a small causal model is asked which rows change when one token does. A row
that predicts a token of the text has nothing left to choose, but in training it can be compared with it.
"""

import torch

from llm_gen import LLaMA
from solutions.vocabulary import Choice

LENGTH = 4
SIZES = {"embed_dim": 8, "num_heads": 1, "num_layers": 1, "max_position_embeddings": LENGTH, "dropout": 0.0}


def last_position() -> dict[str, str]:
    seen = {2: "c", LENGTH: "d"}
    answers = {f"row {row} has seen": seen[tokens_seen_by(row)] for row in seen}
    about = {f"row {row} predicts": "a" if row < LENGTH else "b" for row in seen}
    return {**about, **answers, "writing uses": "f", "training uses": "e"}


def tokens_seen_by(row: int) -> int:
    """How many tokens the logits of a row, counted from 1, depend on."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = LLaMA({"vocab_size": 10, **SIZES}).eval()
        text = torch.arange(LENGTH)[None]
        changed = [text.index_fill(1, torch.tensor([place]), 9) for place in range(LENGTH)]
        own = model(text)[0, row - 1]
        return sum(not torch.allclose(model(other)[0, row - 1], own) for other in changed)


check_letters = Choice(last_position)


def wrong_same_position() -> dict[str, str]:
    """A row scores the token that comes after its position; its own token it has read already."""
    return last_position() | {"row 2 predicts": "c", "row 4 predicts": "d"}


def wrong_sees_everything() -> dict[str, str]:
    """Causal attention hides what comes later: row 2 would else see flew, the very token that it must predict."""
    return last_position() | {"row 2 has seen": "d"}


def wrong_all_predict_the_next() -> dict[str, str]:
    """Each row predicts the token after its own position; only the last row speaks of the new one."""
    return last_position() | {"row 2 predicts": "b"}


def wrong_writing_uses_all() -> dict[str, str]:
    """To write one token, one row is needed: the others speak of tokens that stand there already."""
    return last_position() | {"writing uses": "e"}


def wrong_training_uses_last() -> dict[str, str]:
    """Training compares every row with the token that came, so one pass teaches as many times as the text is long."""
    return last_position() | {"training uses": "f"}


def wrong_swapped() -> dict[str, str]:
    """Writing and training are the other way round: writing chooses one token, training scores all of them."""
    return last_position() | {"writing uses": "e", "training uses": "f"}


def right_by_hand() -> dict[str, str]:
    return dict(zip(last_position(), "abcdfe"))
