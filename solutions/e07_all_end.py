"""The loop ends with the last row, not with the first and not with the budget: 3 steps, so 4 + 3 columns.

Row 0 ended one step earlier and is filled with pad; its eos stays, because the row wrote it. The numbers come out of
`generate` itself, with a model that writes the two rows whatever it reads.
"""

import torch
from torch import Tensor

from llm_gen import generate_steps
from solutions.vocabulary import Numbers

EOS, PAD, PROMPT, BUDGET = 21, 0, 4, 20
ROWS = torch.tensor([[5, 21, *[8] * 18], [7, 6, 21, *[9] * 17]])
ENDLESS = ROWS.where(torch.tensor([[True], [False]]), torch.tensor([7, 6, *[9] * 18]))


def wrong_ends_all_the_same() -> dict[str, int]:
    """lets the loop end after 3 steps although row 1 never ends; then only the budget ends it"""
    return all_end() | {"columns if row 1 never ends": PROMPT + 3}


class Script:
    """A model that writes the given rows, whatever it reads."""

    vocab_size, max_seq_len = 30, 100

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        following = self.rows[:, ids.shape[1] - PROMPT]
        return torch.nn.functional.one_hot(following, self.vocab_size).float()[:, None]

    def make_cache(self, batch_size: int) -> None:
        return None


def all_end() -> dict[str, int]:
    return described(written(ROWS), written(ENDLESS))


def written(rows: Tensor, eos: int | None = EOS, pad: int = PAD) -> Tensor:
    """The new tokens of a batch, step by step: (2, steps)."""
    prompts = torch.ones(2, PROMPT, dtype=torch.long)
    steps = generate_steps(Script(rows), prompts, BUDGET, False, eos_token_id=eos, pad_token_id=pad)
    return torch.cat([step.tokens for step in steps], dim=1)


def described(new: Tensor, endless: Tensor, prompt: int = PROMPT, text: int = 2) -> dict[str, int]:
    return {
        "steps of the loop": new.shape[1],
        "columns that come back": prompt + new.shape[1],
        "last token of row 0": int(new[0, -1]),
        "last token of row 1": int(new[1, -1]),
        "tokens of text in row 0": text,
        "columns if row 1 never ends": prompt + endless.shape[1],
    }


check_numbers = Numbers(all_end)


def wrong_runs_to_the_budget() -> dict[str, int]:
    """lets the loop use up its 20 steps, and fills both rows with pad"""
    filled = torch.cat([written(ROWS), torch.full((2, BUDGET - 3), PAD)], dim=1)
    return described(filled, written(ENDLESS))


def wrong_stops_with_the_first_row() -> dict[str, int]:
    """ends the loop as soon as one row has ended"""
    return described(written(ROWS)[:, :2], written(ENDLESS)[:, :2])


def wrong_drops_the_end() -> dict[str, int]:
    """takes the eos out of the text and puts pad in its place"""
    new = written(ROWS)
    return described(new.masked_fill(new == EOS, PAD), written(ENDLESS), text=1)


def wrong_forgets_the_prompt() -> dict[str, int]:
    """forgets that the prompt comes back too"""
    return described(written(ROWS), written(ENDLESS), prompt=0)


def wrong_fills_with_eos() -> dict[str, int]:
    """fills the shorter row with eos, although pad was given"""
    return described(written(ROWS, pad=EOS), written(ENDLESS, pad=EOS))


def wrong_writes_on() -> dict[str, int]:
    """lets row 0 write on until row 1 has ended"""
    return described(ROWS[:, :3], written(ENDLESS), text=3)


def wrong_one_step_more() -> dict[str, int]:
    """needs one more step to notice that all rows have ended"""
    new = torch.cat([written(ROWS), torch.full((2, 1), PAD)], dim=1)
    return described(new, written(ENDLESS))


def right_by_hand() -> dict[str, int]:
    return dict(zip(all_end(), (3, 7, 0, 21, 2, 24)))
