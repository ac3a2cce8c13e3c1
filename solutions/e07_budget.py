"""min(max_new_tokens, context - longest prompt): 1,024, 1,000 and 256 leave 24.

The rows of a batch are padded to the longest prompt and grow together, so that one decides. A context that is full is
an error and no empty answer: the caller must shorten the prompt, and silence would hide it.
"""

import torch

from llm_gen import generate_with_logprobs
from solutions.vocabulary import Check, ListOf, Whole, fails


def new_token_budget(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """The most new tokens a batch may get, at most `max_new_tokens`; ValueError where the context leaves none."""
    room = context - max(prompt_lens)
    if room < 1:
        raise ValueError(f"the longest prompt must be shorter than the context of {context}, got {max(prompt_lens)}")
    return min(max_new_tokens, room)


check_budgets = Check(
    new_token_budget,
    prompt_lens=ListOf(Whole(1, 9), least=1, most=4),
    context=Whole(4, 16),
    max_new_tokens=Whole(0, 12),
    examples=[
        ([1000], 1024, 256),
        ([1000], 1024, 10),
        ([3, 7, 5], 8, 4),
        ([3, 8], 8, 4),
        ([2], 8, 0),
        ([1, 1, 1, 1, 9], 32, 30),
        ([9, 10], 32, 31),
    ],
)
not_checked = "the words of the error"


def wrong_ignores_the_context(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """gives max_new_tokens even where the context has no room for so many"""
    new_token_budget(prompt_lens, context, max_new_tokens)
    return max_new_tokens


def wrong_ignores_the_wish(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """fills the context, even where fewer tokens were asked for"""
    return new_token_budget(prompt_lens, context, context)


def wrong_forgets_the_prompt(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """compares max_new_tokens with the whole context, as if the prompt took no room"""
    new_token_budget(prompt_lens, context, max_new_tokens)
    return min(max_new_tokens, context)


@fails("no error")
def wrong_shortest_prompt(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """looks at the shortest prompt, so the longest row overflows"""
    return new_token_budget([min(prompt_lens)], context, max_new_tokens)


@fails("no error")
def wrong_first_prompt(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """looks at the first prompt only"""
    return new_token_budget(prompt_lens[:1], context, max_new_tokens)


def wrong_adds_the_prompts(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """adds up the prompts, although each row has a context of its own"""
    return new_token_budget([sum(prompt_lens)], context, max_new_tokens)


def wrong_one_less(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """leaves the last place of the context empty"""
    return new_token_budget(prompt_lens, context - 1, max_new_tokens)


def wrong_one_more(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """makes one token more than fits"""
    return new_token_budget(prompt_lens, context + 1, max_new_tokens)


@fails("no error")
def wrong_silent(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """gives 0 where it should raise"""
    return max(0, min(max_new_tokens, context - max(prompt_lens)))


@fails("no error")
def wrong_negative(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """gives a budget of 0 or less where it should raise"""
    return min(max_new_tokens, context - max(prompt_lens))


@fails("no error")
def wrong_just_full(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    """lets a prompt pass that is exactly as long as the context (`>` where `>=` is meant)"""
    if max(prompt_lens) > context:
        raise ValueError("no room")
    return min(max_new_tokens, context - max(prompt_lens))


def right_row_by_row(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    budget = max_new_tokens
    for length in prompt_lens:
        if length >= context:
            raise ValueError("no room")
        budget = min(budget, context - length)
    return budget


class Zeros:
    """A model of one token with a given context."""

    vocab_size = 1

    def __init__(self, context: int) -> None:
        self.max_seq_len = context

    def __call__(self, ids: torch.Tensor, attention_mask: torch.Tensor | None = None, cache: None = None):
        return torch.zeros(*ids.shape, 1)

    def make_cache(self, batch_size: int) -> None:
        return None


def right_library(prompt_lens: list[int], context: int, max_new_tokens: int) -> int:
    prompts = torch.zeros(len(prompt_lens), max(prompt_lens), dtype=torch.long)
    own = torch.Generator()
    written = generate_with_logprobs(Zeros(context), prompts, max_new_tokens, stop_tokens=None, generator=own)
    return written.sequences.shape[1] - written.prompt_len
