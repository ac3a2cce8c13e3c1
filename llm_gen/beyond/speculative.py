"""Speculative decoding: a cheap guess of several tokens, judged by one pass of the real model.

The text has exactly the distribution that the target alone would give it (arXiv:2211.17192, arXiv:2302.01318).
Letters: P prompt length, S text so far, K tokens guessed, V vocabulary. One row at a time: rows of a batch would
accept different numbers of tokens.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from llm_gen.cache import KVCache
from llm_gen.checks import check_ids, check_integer, check_logits, check_real, check_token_ids, is_row
from llm_gen.generation import Predictor, warn_of_dropout
from llm_gen.sampling import apply_filters, check_generator, check_settings, greedy_token, validate_sampling_args
from llm_gen.steps import GREEDY

Guess = Callable[[Tensor], Sequence[int]]


@dataclass(frozen=True)
class Round:
    """One pass of the target: the ids guessed before it, how many of them stayed, the ids that it added."""

    guessed: tuple[int, ...]
    accepted: int
    added: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SpeculativeResult:
    """sequences: (1, P + n) int64. rounds: one for each pass of the target."""

    sequences: Tensor
    rounds: tuple[Round, ...]

    @property
    def target_passes(self) -> int:
        return len(self.rounds)

    @property
    def guessed(self) -> int:
        return sum(len(each.guessed) for each in self.rounds)

    @property
    def accepted(self) -> int:
        return sum(each.accepted for each in self.rounds)

    @property
    def acceptance_rate(self) -> float:
        """Share of the judged guesses that stayed, 0 if there were none; a guess after a refused one is not judged."""
        judged = sum(min(each.accepted + 1, len(each.guessed)) for each in self.rounds)
        return self.accepted / judged if judged else 0.0

    @property
    def tokens_per_pass(self) -> float:
        """New tokens for each pass of the target, 0 without any."""
        return sum(len(each.added) for each in self.rounds) / max(1, len(self.rounds))


def expected_tokens(rate: float, guesses: int) -> float:
    """Tokens that a pass of the target gives on average, if each guess stays with probability `rate` in [0, 1].

    1 + rate + rate^2 + ... + rate^guesses (arXiv:2211.17192), guesses >= 0.
    """
    rate, guesses = check_real("rate", rate), check_integer("guesses", guesses, minimum=0)
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie in [0, 1], got {rate!r}")
    return sum(rate**count for count in range(guesses + 1))


@torch.no_grad()
def speculative_generate(
    target: Any,
    draft: Any | Guess,
    x: Tensor,
    max_new_tokens: int,
    do_sample: bool,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    guesses: int = 4,
    eos_token_id: int | Sequence[int] | None = None,
    generator: Generator | Sequence[Generator] | None = None,
) -> SpeculativeResult:
    """`generate(target, x, ...)` for one prompt x (1, P), in fewer passes of the target.

    draft: a model with the target's vocabulary that proposes up to `guesses` tokens a round with the same settings,
    or a function that looks at the text (S,) and names the tokens it guesses, such as `prompt_lookup`. Greedy text is
    the target's own, token for token; in half precision rounding may break a near tie otherwise. Both caches are cut
    back, never recomputed; a model whose cache has no `truncate` reads without one. Past the context each pass gives
    one token. Raises like `generate`, and ValueError for more than one row or another vocabulary.
    """
    x = check_ids("x", x, target.vocab_size).clone()
    if len(x) != 1:
        raise ValueError(f"x must have one row, got {len(x)}")
    budget = check_integer("max_new_tokens", max_new_tokens, minimum=0)
    guesses = check_integer("guesses", guesses, minimum=1)
    validate_sampling_args(do_sample, temperature, top_k, top_p)
    filters = check_settings(temperature, top_k, top_p) if do_sample else GREEDY
    check_generator(generator, x)
    if generator is not None and not isinstance(generator, Generator):
        (generator,) = generator
    if not do_sample:  # a one-hot draws the same whatever the numbers: leave the caller's alone
        generator = Generator(x.device)
    eos = check_token_ids("eos_token_id", eos_token_id, target.vocab_size)
    if hasattr(draft, "vocab_size") and draft.vocab_size != target.vocab_size:
        raise ValueError(f"draft must have the target's vocabulary of {target.vocab_size}, got {draft.vocab_size}")
    warn_of_dropout(target)
    judge = _Reader(target, filters)
    propose = _Drafter(_Reader(draft, filters), generator) if hasattr(draft, "vocab_size") else _Guesser(draft)
    end, text, rounds = x.shape[1] + budget, x, []
    while text.shape[1] < end:
        count = min(guesses, end - text.shape[1] - 1, target.max_seq_len - text.shape[1])
        tokens, proposed = propose(text, max(0, count), target.vocab_size)
        probs = judge.probs(torch.cat([text, tokens[None]], dim=1), len(tokens) + 1)
        kept, extra = accept(tokens, proposed, probs, generator)
        new = torch.cat([tokens[:kept], extra])
        stop = torch.isin(new, new.new_tensor(eos)).nonzero()
        new = new[: stop[0] + 1] if len(stop) else new
        text = torch.cat([text, new[None]], dim=1)
        rounds.append(Round(tuple(tokens.tolist()), kept, tuple(new.tolist())))
        if len(stop):
            break
    return SpeculativeResult(text, tuple(rounds))


def accept(tokens: Tensor, proposed: Tensor, probs: Tensor, generator: Generator | None = None) -> tuple[int, Tensor]:
    """How many of the guesses stay, and the token that follows them, (1,).

    tokens: (K,) drawn from proposed (K, V); probs: (K + 1, V), the target's distributions there and after the last.
    Guess t stays with probability min(1, p(t) / q(t)); at the first refusal the token comes from max(p - q, 0),
    renormalised; if all stay, from the last p. The distributions are those after the filters: nothing is filtered
    again. A guess that the target gives 0 never stays, one that it is certain of always does.
    """
    guessed = tokens[:, None]
    pairs = zip(probs[:-1].gather(1, guessed)[:, 0].tolist(), proposed.gather(1, guessed)[:, 0].tolist())
    for place, (p, q) in enumerate(pairs):
        chance = torch.rand((), dtype=torch.float64, generator=generator, device=probs.device)
        if chance * q >= p:
            rest = residual(probs[place], proposed[place])
            return place, torch.multinomial(rest, 1, generator=generator)
    return len(tokens), torch.multinomial(probs[len(tokens)], 1, generator=generator)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0) renormalised, (V,): what is left to draw from after a refusal; p itself where p = q."""
    rest = (p - q).clamp(min=0)
    total = rest.sum()
    return rest / total if total > 0 else p


class _Reader:
    """A model and its cache: distributions after the last columns of a text, without reading a column twice."""

    def __init__(self, model: Any, filters: tuple[float, int | None, float | None]) -> None:
        self.model, self.filters, self.predict = model, filters, Predictor(model)
        self.cache = _whole_cache(model)
        self.read: list[int] = []

    def probs(self, text: Tensor, count: int) -> Tensor:
        """Float64 distributions (count, V) that follow each of the last `count` columns of text (1, S)."""
        logits = self.logits(text, count)
        if self.filters is GREEDY:
            return certain(greedy_token(logits)[:, 0], logits.shape[-1])
        return apply_filters(logits, *self.filters).double().softmax(dim=-1)

    def logits(self, text: Tensor, count: int) -> Tensor:
        """Checked logits (count, V) after each of the last `count` columns of text (1, S)."""
        if text.shape[1] > self.model.max_seq_len:
            logits = self.model(text[:, -self.model.max_seq_len :], attention_mask=None, cache=None)
        elif self.cache is None:
            logits = self.model(text, attention_mask=None, cache=None)
        else:
            logits = self._read_on(text, count)
        return check_logits(logits[0, -count:])

    def _read_on(self, text: Tensor, count: int) -> Tensor:
        tokens = text[0].tolist()
        # The last `count` columns are read again if need be, since their logits are asked for.
        self.cache.truncate(min(_common(tokens, self.read), len(tokens) - count, self.cache.length))
        self.read = tokens
        return self.predict.after_each(text[:, self.cache.length :], self.cache)


def certain(tokens: Tensor, vocab_size: int) -> Tensor:
    """The distributions of one who is certain of the tokens (K,): one-hot, float64 (K, V)."""
    return F.one_hot(tokens, vocab_size).double()


def _common(one: list[int], other: list[int]) -> int:
    """How many tokens both begin with."""
    if one[: len(other)] == other:
        return len(other)
    return next(i for i, (a, b) in enumerate(zip([*one, None], other)) if a != b)


class _Drafter:
    """Draws guesses from a smaller model, one after another."""

    def __init__(self, reader: _Reader, generator: Generator | None) -> None:
        self.reader, self.generator = reader, generator

    def __call__(self, text: Tensor, count: int, vocab_size: int) -> tuple[Tensor, Tensor]:
        start, rows = text.shape[1], [torch.zeros((0, vocab_size), dtype=torch.float64, device=text.device)]
        for _ in range(count):
            if self.reader.filters is GREEDY:  # the distributions are made of the tokens, all at once
                token = greedy_token(self.reader.logits(text, 1))
            else:
                rows.append(self.reader.probs(text, 1))
                token = torch.multinomial(rows[-1], 1, generator=self.generator)
            text = torch.cat([text, token], dim=1)
        tokens = text[0, start:]
        return tokens, certain(tokens, vocab_size) if self.reader.filters is GREEDY else torch.cat(rows)


class _Guesser:
    """Takes guesses from a function, which is certain of each."""

    def __init__(self, guess: Guess) -> None:
        if not callable(guess):
            raise TypeError(f"draft must be a model or a function, got {guess!r}")
        self.guess = guess

    def __call__(self, text: Tensor, count: int, vocab_size: int) -> tuple[Tensor, Tensor]:
        guessed = self.guess(text[0].clone()) if count else []
        if not is_row(guessed):
            raise TypeError(f"draft must give a list of token ids, got {guessed!r}")
        ids = check_token_ids("guess", list(islice(guessed, count)), vocab_size)
        tokens = torch.tensor(ids, dtype=torch.long, device=text.device)
        return tokens, certain(tokens, vocab_size)


def _whole_cache(model: Any) -> Any:
    """A cache that can always be cut back, or None: a ring cannot, once it has turned."""
    can_be_whole = "rolling" in inspect.signature(model.make_cache).parameters
    cache = model.make_cache(1, rolling=False) if can_be_whole else model.make_cache(1)
    is_ring = isinstance(cache, KVCache) and cache.slots < cache.max_length
    return None if is_ring or not hasattr(cache, "truncate") else cache
