"""Models small enough to know by heart, and helpers that several tests share.

A stub looks at the visible tokens only (not masked, no later ones) and is certain of one next id, so a wrong mask,
position, window or stop shows as a wrong number. The tiny models have random weights of deviation 0.35: with the
usual 0.02 nearly every argmax is the same, and faults stay hidden.
"""

from __future__ import annotations

from functools import cache

import hypothesis
import pytest
import torch
from torch import Tensor

import llm_gen
from llm_gen import KVCache, check_sequence_length

RULES = {
    "NEXT": lambda visible: visible[-1] + 1,
    "SUM": sum,
    "POS": lambda visible: len(visible) - 1,
    "LEN": len,
    "FIRST": lambda visible: visible[0],
}
FAMILIES = ("GPT", "GPT2", "LLaMA", "Mistral", "Mixtral", "Gemma")
SIZES = {"vocab_size": 31, "embed_dim": 32, "num_heads": 4, "num_layers": 2}
OWN = {
    "LLaMA": {"num_kv_heads": 2},
    "Mistral": {"num_kv_heads": 2, "window_size": 4},
    "Mixtral": {"num_kv_heads": 2, "num_experts": 4, "top_k_experts": 2},
    "Gemma": {"num_kv_heads": 1, "head_size": 16},
}
ROWS = ([5, 6], [7, 8, 9, 10, 11], [3, 1, 4, 1, 5, 9, 2, 6])  # three lengths; 7 is also what they are padded with


class TokenCache:
    """What a stub remembers of the columns it has read: the ids themselves."""

    def __init__(self, batch_size: int) -> None:
        self.ids = torch.zeros((batch_size, 0), dtype=torch.long)

    @property
    def length(self) -> int:
        return self.ids.shape[1]


class Stub:
    """A model that follows one of RULES. `fed` lists the shapes it was fed, `masks` the masks that came along."""

    def __init__(self, rule: str, vocab_size: int = 10, max_seq_len: int = 1000, cached: bool = False) -> None:
        self.rule, self.vocab_size, self.max_seq_len, self.cached = RULES[rule], vocab_size, max_seq_len, cached
        self.fed: list[tuple[int, int]] = []
        self.masks: list[Tensor | None] = []

    def make_cache(self, batch_size: int) -> TokenCache | None:
        return TokenCache(batch_size) if self.cached else None

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: TokenCache | None = None) -> Tensor:
        self.fed.append(tuple(ids.shape))
        self.masks.append(attention_mask)
        new = ids.shape[1]
        if cache is not None:
            cache.ids = ids = torch.cat([cache.ids, ids], dim=1)
        check_sequence_length(ids.shape[1], 0, self.max_seq_len)
        seen = torch.ones_like(ids) if attention_mask is None else attention_mask
        logits = torch.zeros((*ids.shape, self.vocab_size))
        for row, (tokens, real) in enumerate(zip(ids.tolist(), seen.tolist(), strict=True)):
            for column in range(len(tokens)):
                visible = [token for token, is_real in zip(tokens[: column + 1], real, strict=False) if is_real]
                if visible:
                    logits[row, column, self.rule(visible) % self.vocab_size] = 20.0
        return logits[:, -new:]


class MustNotRun(Stub):
    """A model that must not run."""

    def __init__(self) -> None:
        super().__init__("NEXT")

    def __call__(self, *args, **kwargs):
        raise AssertionError("the model ran although an argument was wrong")


class Scripted:
    """A model that writes given rows of ids after a prompt of `prompt_len` tokens, whatever it reads."""

    max_seq_len = 1000

    def __init__(self, rows: list[list[int]], vocab_size: int = 10, prompt_len: int = 1) -> None:
        self.rows, self.vocab_size, self.prompt_len = torch.tensor(rows), vocab_size, prompt_len

    def make_cache(self, batch_size: int) -> None:
        return None

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        upcoming = self.rows[:, ids.shape[1] - self.prompt_len]
        return torch.nn.functional.one_hot(upcoming, self.vocab_size).float()[:, None].expand(-1, ids.shape[1], -1)


@cache
def tiny(family: str, max_len: int = 64, seed: int = 0, **more):
    """A random model of a family in eval mode; shared between tests, so none may change it."""
    model = fresh_tiny(family, max_len, seed, **more)
    return model.requires_grad_(False)


def fresh_tiny(family: str, max_len: int = 64, seed: int = 0, **more):
    """The same model as `tiny(...)`, for tests that train, convert or break it."""
    config = {**SIZES, "max_position_embeddings": max_len, **OWN.get(family, {}), **more}
    model = getattr(llm_gen, family)(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            # Norms and biases stay near what they start from: a strong bias would write the same text for every prompt.
            start, deviation = (parameter, 0.1) if parameter.ndim == 1 else (0.0, 0.35)
            parameter.copy_(start + deviation * torch.randn(parameter.shape, generator=generator))
    return model


def pad_left(rows, pad: int = 7) -> tuple[Tensor, Tensor]:
    """Ragged rows of ids as (ids, attention_mask), both (B, P)."""
    width = max(map(len, rows))
    ids = torch.tensor([[pad] * (width - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    return ids, mask


def random_rows(lengths, seed: int) -> list[list[int]]:
    """Rows of ids of these lengths. Drawn from a seed, so that hypothesis varies shapes and not single ids."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(0, SIZES["vocab_size"], (length,), generator=generator).tolist() for length in lengths]


def feed_in_chunks(model, ids: Tensor, chunks, mask: Tensor | None = None, kv=None) -> Tensor:
    """Logits of all columns, read through a cache a chunk at a time; what is left over is the last chunk."""
    kv = model.make_cache(len(ids)) if kv is None else kv
    pieces, start = [], 0
    for size in [*chunks, ids.shape[1]]:
        end = min(start + size, ids.shape[1])
        if end > start:
            pieces.append(model(ids[:, start:end], None if mask is None else mask[:, :end], kv))
            start = end
    return torch.cat(pieces, dim=1)


def new_tokens(model, row, count: int, **settings) -> list[int]:
    """The greedy continuation of one row alone."""
    return model.generate(torch.tensor([row]), count, False, **settings)[0, len(row) :].tolist()


def watch_caches(monkeypatch) -> list[tuple[int, int]]:
    """A list to which every pass with a cache adds (rows, columns read)."""
    fed, advance = [], KVCache.advance
    spy = lambda cache, count: fed.append((cache.batch_size, count)) or advance(cache, count)  # noqa: E731
    monkeypatch.setattr(KVCache, "advance", spy)
    return fed


def kept_ids(logits: Tensor) -> list[list[int]]:
    """The ids that a filter left, row by row."""
    return [row.isfinite().nonzero()[:, 0].tolist() for row in logits]


def refused(call, error: type[Exception], words: list[str]) -> None:
    """Holds that `call()` raises exactly `error`, and that the message has the words."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert type(caught.value) is error, caught.value
    for word in words:
        assert word in str(caught.value)


def examples(count: int) -> hypothesis.settings:
    """Repeatable hypothesis settings with `count` examples."""
    return hypothesis.settings(max_examples=count, derandomize=True, deadline=None)
