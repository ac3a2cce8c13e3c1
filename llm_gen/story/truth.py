"""The true distribution of the next token, for any tokenizer that never merges across two pieces."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from llm_gen.checks import check_token_ids
from llm_gen.story.filtering import Belief, Language, NotInLanguage
from llm_gen.story.grammar import END, Grammar
from llm_gen.story.tales import STORIES
from llm_gen.tokenizer import Tokenizer


class Truth:
    """P(next token | prefix) under a story grammar, exact in float64.

    A story is <bos> (if the tokenizer has one), the tokens of its text, <eos>. A prefix may stop anywhere, inside a
    word too. Only the spelling that the tokenizer itself gives counts: other tokens for the same text are not
    in the language. Raises ValueError if the tokenizer has no <eos> or merges across two pieces, which is looked
    for in `checked` stories.
    """

    def __init__(self, tokenizer: Tokenizer, grammar: Grammar = STORIES, checked: int = 100) -> None:
        if tokenizer.eos_id is None:
            raise ValueError("tokenizer must have an <eos>, got one without")
        self.tokenizer = tokenizer
        self.spelled: dict[str, tuple[int, ...]] = {END: (tokenizer.eos_id,)}
        prefix = () if tokenizer.bos_id is None else (tokenizer.bos_id,)
        self.language = Language(grammar, self.spell, prefix)
        self.letters = Language(grammar, lambda piece: (END,) if piece == END else tuple(piece))
        for seed in range(checked):
            pieces = grammar.sample_pieces(random.Random(seed))
            together = tokenizer.encode("".join(pieces), add_special_tokens=False)
            if together != [token for piece in pieces for token in self.spell(piece)]:
                raise ValueError("tokenizer must encode a story piece by piece, got one that merges across pieces")

    def spell(self, piece: str) -> tuple[int, ...]:
        if piece not in self.spelled:
            self.spelled[piece] = tuple(self.tokenizer.encode(piece, add_special_tokens=False))
        return self.spelled[piece]

    def start(self) -> Belief:
        """The belief before any token. `belief.read(token)` moves on, `self.probs_of(belief)` looks ahead."""
        return self.language.start()

    def read(self, ids: Sequence[int] | Tensor) -> Belief:
        """The belief after a prefix (T,). Raises NotInLanguage with the position of the first token that no story
        has there, and says so when only the spelling is not the tokenizer's own."""
        return list(self._beliefs(self.as_list(ids)))[-1]

    def _beliefs(self, ids: list[int]) -> Iterator[Belief]:
        """The belief before any of the ids, then after each."""
        belief = self.start()
        yield belief
        for position, token in enumerate(ids):
            try:
                belief = belief.read(token)
            except NotInLanguage as refusal:
                raise self.in_words(refusal, ids[: position + 1]) from None
            yield belief

    def probs(self, ids: Sequence[int] | Tensor) -> Tensor:
        """P(next token | prefix), float64 (V,). Raises NotInLanguage; after <eos> too, where nothing follows."""
        return self.probs_of(self.read(ids))

    def probs_of(self, belief: Belief) -> Tensor:
        """The distribution after a belief, float64 (V,). Raises NotInLanguage if the story is over."""
        following = belief.next()
        if not following:
            raise NotInLanguage(belief.length, None, {})
        result = torch.zeros(self.tokenizer.vocab_size, dtype=torch.float64)
        result[list(following)] = torch.tensor(list(following.values()), dtype=torch.float64)
        return result

    def along(self, ids: Sequence[int] | Tensor) -> Tensor:
        """Row t is P(token t | tokens before it), float64 (T, V), for a prefix or a whole story of T tokens."""
        *before, _after = self._beliefs(self.as_list(ids))
        following = [belief.next() for belief in before]
        places = [place for place, table in enumerate(following) for _token in table]
        tokens = [token for table in following for token in table]
        rows = torch.zeros((len(before), self.tokenizer.vocab_size), dtype=torch.float64)
        # All at once: filling row by row would take longer than the filtering.
        rows[places, tokens] = torch.tensor([p for table in following for p in table.values()], dtype=torch.float64)
        return rows

    def log_prob(self, ids: Sequence[int] | Tensor) -> float:
        """log P(a story begins with these tokens), in nats; -inf if none does. A whole story ends with <eos>."""
        belief, total = self.start(), 0.0
        for token in self.as_list(ids):
            p = belief.next().get(token, 0.0)
            if p == 0.0:
                return -math.inf
            total, belief = total + math.log(p), belief.read(token)
        return total

    def as_list(self, ids: Sequence[int] | Tensor) -> list[int]:
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        return check_token_ids("token", ids, self.tokenizer.vocab_size)

    def in_words(self, refusal: NotInLanguage, ids: list[int]) -> NotInLanguage:
        """The same refusal with tokens written as text."""
        text = self.tokenizer.token_text
        worded = {text(token): p for token, p in refusal.expected.items()}
        error = NotInLanguage(refusal.position, text(ids[-1]), worded)
        try:
            self.letters.read(self.tokenizer.decode(ids))
        except NotInLanguage:
            return error
        if not self.tokenizer.is_control(ids[-1]):
            error.args = (f"{error} (a story may begin with this text, but the tokenizer spells it otherwise)",)
        return error
