"""Lets a model tell stories, as texts ready for the judge."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from llm_gen.checks import check_integer
from llm_gen.generation import generate
from llm_gen.model import DecoderLM
from llm_gen.tokenizer import Tokenizer


def tell(
    model: DecoderLM, tokenizer: Tokenizer, count: int, *, prompt: str = "", seed: int = 0, batch: int = 64, **settings
) -> list[str]:
    """`count` texts that go on from a prompt, prompt included, up to <eos> or to the end of the context.

    settings: those of `generate`; do_sample is True unless given. Text i depends on seed and i alone, not on
    `batch`. Control tokens inside a text are spelled out, so that a judge sees them.
    """
    count, settings = check_integer("count", count, minimum=0), {"do_sample": True, **settings}
    ids = torch.tensor([tokenizer.encode(prompt)])
    room = settings.pop("max_new_tokens", model.max_seq_len - ids.shape[1])
    texts = []
    for start in range(0, count, batch):
        seeds = range(start, min(start + batch, count))
        generators = [torch.Generator().manual_seed(seed * 1_000_003 + i) for i in seeds]
        rows = generate(
            model, ids.expand(len(seeds), -1), room, eos_token_id=tokenizer.eos_id, generator=generators, **settings
        )
        texts += [read_row(tokenizer, row, ids.shape[1]) for row in rows.tolist()]
    return texts


def read_row(tokenizer: Tokenizer, row: Sequence[int], prompt_len: int) -> str:
    """The text of one row of `generate`: without <bos> in front and <eos> behind."""
    row = list(row)
    if tokenizer.eos_id in row[prompt_len:]:
        row = row[: row.index(tokenizer.eos_id, prompt_len)]
    return tokenizer.decode(row[1:] if row[0] == tokenizer.bos_id else row, show_control=True)
