"""A batch as it is written, cell by cell, and each of its rows alone: the numbers behind `batch_board`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor

from llm_gen import Step, generate_steps

PADDING, PROMPT, TEXT, END, PAD = "padding", "prompt", "text", "end", "pad"
LEFT, NO_MASK, RIGHT = "left", "no mask", "right"


@dataclass(frozen=True)
class BatchRun:
    """A finished batch of B rows, P columns of prompts and n columns of steps.

    ids: (B, P + n). roles: what each cell is, one of PADDING, PROMPT, TEXT, END, PAD. mask, positions: (B, P + n), as
    the model took them; without a mask all is text, counted from column 0. ended: the step, from 1, at which each row
    ended, or None. parted: the step at which each row differs from what its prompt gets alone, or None.
    """

    ids: Tensor
    roles: list[list[str]]
    mask: Tensor
    positions: Tensor
    width: int
    ended: list[int | None]
    parted: list[int | None]

    @property
    def steps(self) -> int:
        """How many steps the loop took."""
        return self.ids.shape[1] - self.width


def run_batch(
    model: Any, prompts: Sequence[Sequence[int]], budget: int, eos: int | None, pad: int, side: str = LEFT
) -> BatchRun:
    """Write greedily after several prompts at once, and after each of them alone.

    side: LEFT pads on the left and gives the mask; NO_MASK forgets the mask; RIGHT pads on the right, without one.
    """
    x, real = pad_prompts(prompts, pad, right=side == RIGHT)
    steps = _write(model, x, budget, eos, pad, real if side == LEFT else None)
    mask = real if side == LEFT else torch.ones_like(real)
    mask = torch.cat([mask, torch.ones(len(x), len(steps), dtype=torch.long)], dim=1)
    written = [_text(steps, row) for row in range(len(x))]
    alone = [_text(_write(model, torch.tensor([prompt]), budget, eos, pad), 0) for prompt in prompts]
    return BatchRun(
        torch.cat([x, *(step.tokens for step in steps)], dim=1),
        [_roles(row, text, len(steps), eos) for row, text in zip(real.tolist(), written)],
        mask,
        (mask.cumsum(dim=1) - 1).clamp(min=0),
        x.shape[1],
        [len(text) if text and text[-1] == eos else None for text in written],
        [_parting(own, other) for own, other in zip(written, alone)],
    )


def pad_prompts(prompts: Sequence[Sequence[int]], pad: int, right: bool = False) -> tuple[Tensor, Tensor]:
    """Prompts of any lengths as ids (B, P) and mask (B, P), padded on one side."""
    width = max(map(len, prompts))
    gaps = [[pad] * (width - len(prompt)) for prompt in prompts]
    ids = [[*prompt, *gap] if right else [*gap, *prompt] for prompt, gap in zip(prompts, gaps)]
    columns = torch.arange(width)
    lengths = torch.tensor([[len(prompt)] for prompt in prompts])
    real = columns < lengths if right else columns >= width - lengths
    return torch.tensor(ids), real.long()


def _write(model: Any, x: Tensor, budget: int, eos: int | None, pad: int, mask: Tensor | None = None) -> list[Step]:
    return list(
        generate_steps(model, x, budget, do_sample=False, attention_mask=mask, eos_token_id=eos, pad_token_id=pad)
    )


def _text(steps: Sequence[Step], row: int) -> list[int]:
    """What a row wrote, its end included: the tokens of the steps in which it was active."""
    return [int(step.tokens[row]) for step in steps if step.active[row]]


def _roles(real: list[int], text: list[int], steps: int, eos: int | None) -> list[str]:
    prompt = [PROMPT if here else PADDING for here in real]
    written = [END if token == eos else TEXT for token in text]
    return [*prompt, *written, *[PAD] * (steps - len(text))]


def _parting(own: list[int], other: list[int]) -> int | None:
    """The first step, from 1, at which two texts differ."""
    pairs = enumerate(zip_longest(own, other), start=1)
    return next((step for step, (a, b) in pairs if a != b), None)
