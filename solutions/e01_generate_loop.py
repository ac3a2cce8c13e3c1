"""Predict, choose, append: each new token becomes part of the text that the next prediction reads.

The logits (B, T, V) hold a prediction for every position, but only the last one is about a token that is not
there yet. Everything is computed again at each step; the cache of chapter 8 is the cure for that. The check
uses a model whose next id depends on every id so far and on its place, so a loop that shows it anything but
the whole text, in order, is found out.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from llm_gen import generate
from solutions.vocabulary import Check, Ids, Whole, fails

Model = Callable[[Tensor], Tensor]


def generate_greedy(model: Callable[[Tensor], Tensor], ids: Tensor, max_new_tokens: int) -> Tensor:
    """The prompt ids (B, T) followed by `max_new_tokens` greedy tokens: int64 (B, T + max_new_tokens)."""
    for _ in range(max_new_tokens):
        next_logits = model(ids)[:, -1]
        token = next_logits.argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, token], dim=1)
    return ids


class SumModel:
    """Its next id is the last digit of a sum over all ids so far, each of them plus 1 and times its place."""

    vocab_size, max_seq_len = 10, 1000

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        places = torch.arange(1, ids.shape[1] + 1)
        following = ((ids + 1) * places).cumsum(dim=1) % self.vocab_size
        return -(torch.arange(self.vocab_size) - following[..., None]).abs().float()

    def make_cache(self, batch_size: int) -> None:
        return None


def with_sum_model(answer: Callable, ids: Tensor, max_new_tokens: int) -> Tensor:
    return answer(SumModel(), ids, max_new_tokens)


check_tokens = Check(
    generate_greedy,
    call=with_sum_model,
    used_with="a model whose next id depends on every id so far and on the place of each",
    ids=Ids("B", "T", below=10),
    max_new_tokens=Whole(0, 5),
    examples=[
        (torch.tensor([[1, 2, 3]]), 3),
        (torch.tensor([[7], [4]]), 2),
        (torch.tensor([[1, 2, 3]]), 20),
    ],
)
not_checked = "speed, end-of-text tokens"


def wrong_first_position(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """uses the logits of the first position instead of the last"""
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, model(ids)[:, 0].argmax(dim=-1, keepdim=True)], dim=1)
    return ids


def wrong_feeds_one(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """feeds only the newest token, so the model has forgotten the text before it"""
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, model(ids[:, -1:])[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    return ids


def wrong_never_looks_again(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """predicts once from the prompt and repeats that token"""
    token = model(ids)[:, -1].argmax(dim=-1, keepdim=True)
    return torch.cat([ids, *[token] * max_new_tokens], dim=1)


@fails("shape")
def wrong_forgets_prompt(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """gives back the new tokens without the prompt"""
    return generate_greedy(model, ids, max_new_tokens)[:, ids.shape[1] :]


@fails("shape")
def wrong_one_more(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """goes round the loop once too often"""
    return generate_greedy(model, ids, max_new_tokens + 1)


@fails("shape")
def wrong_counts_prompt(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """counts the prompt as part of max_new_tokens"""
    return generate_greedy(model, ids, max(0, max_new_tokens - ids.shape[1]))


def wrong_unlikeliest(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """takes the smallest logit instead of the largest"""
    return generate_greedy(lambda ids: -model(ids), ids, max_new_tokens)


def wrong_first_row(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """appends the token of the first row to every row"""
    for _ in range(max_new_tokens):
        token = model(ids)[:1, -1].argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, token.expand(len(ids), 1)], dim=1)
    return ids


def wrong_prepends(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    """puts the new token before the text instead of after it"""
    for _ in range(max_new_tokens):
        ids = torch.cat([model(ids)[:, -1].argmax(dim=-1, keepdim=True), ids], dim=1)
    return ids


def right_one_buffer(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    batch, length = ids.shape
    text = torch.zeros(batch, length + max_new_tokens, dtype=torch.int64)
    text[:, :length] = ids
    for end in range(length, length + max_new_tokens):
        text[:, end] = model(text[:, :end])[:, -1].max(dim=-1).indices
    return text


def right_recursion(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    if max_new_tokens == 0:
        return ids
    longer = torch.cat([ids, model(ids)[:, -1:].argmax(dim=-1)], dim=1)
    return right_recursion(model, longer, max_new_tokens - 1)


def right_library(model: Model, ids: Tensor, max_new_tokens: int) -> Tensor:
    return generate(model, ids, max_new_tokens, do_sample=False)
