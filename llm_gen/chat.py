"""A conversation: roles to tokens by the checkpoint's template, and a history that always fits the context.

Text that a person types never becomes a control token: markers are put in as ids, text as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Generator

from llm_gen.answer import Answer, TextSettings, write
from llm_gen.checks import CheckpointError
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer


class Template(Protocol):
    """How a conversation is spelled in ids."""

    name: str
    end_ids: list[int]
    default_system: str | None

    def begin(self, system: str | None) -> list[int]: ...
    def ask(self, text: str) -> list[int]: ...
    def close(self, answer: list[int]) -> list[int]: ...


class ChatML:
    """`<|im_start|>role`, a newline, the text, `<|im_end|>`: the form of SmolLM2 and many others."""

    name = "ChatML"

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.start, self.end = (_control_id(tokenizer, marker) for marker in ("<|im_start|>", "<|im_end|>"))
        self.end_ids = sorted({self.end, tokenizer.eos_id} - {None})
        # A template may carry a system text of its own, used where the conversation brings none.
        found = re.search(r"<\|im_start\|>system(?:\\n|\n)(.+?)<\|im_end\|>", tokenizer.chat_template or "")
        self.default_system = found[1] if found and "{" not in found[1] else None

    def begin(self, system: str | None) -> list[int]:
        return [] if system is None else self._turn("system", system)

    def ask(self, text: str) -> list[int]:
        return [*self._turn("user", text), self.start, *_plain(self.tokenizer, "assistant\n")]

    def close(self, answer: list[int]) -> list[int]:
        body = answer[:-1] if answer and answer[-1] in self.end_ids else answer
        return [*body, self.end, *_plain(self.tokenizer, "\n")]

    def _turn(self, role: str, text: str) -> list[int]:
        return [self.start, *_plain(self.tokenizer, f"{role}\n{text}"), self.end, *_plain(self.tokenizer, "\n")]


class Plain:
    """`<|user|>` and `<|assistant|>` as ordinary text, turns ended by `<|endoftext|>`: for GPT-2 vocabularies."""

    name = "plain"
    default_system = None

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer, self.end_ids = tokenizer, [tokenizer.eos_id]

    def begin(self, system: str | None) -> list[int]:
        return [] if system is None else _plain(self.tokenizer, f"<|system|>\n{system}\n")

    def ask(self, text: str) -> list[int]:
        return _plain(self.tokenizer, f"<|user|>\n{text}\n<|assistant|>\n")

    def close(self, answer: list[int]) -> list[int]:
        return answer if answer and answer[-1] in self.end_ids else [*answer, *self.end_ids]


class Raw:
    """No roles: the model goes on with the text. A text that has come to its end is not continued."""

    name = "raw"
    default_system = None

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.end_ids = [] if tokenizer.eos_id is None else [tokenizer.eos_id]

    def begin(self, system: str | None) -> list[int]:
        if system is not None:
            raise ValueError(_("a system text needs a checkpoint with a chat template, and this one has none"))
        return self.tokenizer.encode("")

    def ask(self, text: str) -> list[int]:
        return _plain(self.tokenizer, text)

    def close(self, answer: list[int]) -> list[int]:
        return answer


def find_template(tokenizer: Tokenizer, raw: bool = False) -> Template:
    """The template that the tokenizer's checkpoint was trained with; raw: none of them."""
    if not raw and tokenizer.chat_template and "<|im_start|>" in tokenizer.chat_template:
        return ChatML(tokenizer)
    if not raw and tokenizer.eos_id is not None and tokenizer.token_text(tokenizer.eos_id) == "<|endoftext|>":
        return Plain(tokenizer)
    return Raw(tokenizer)


Turn = tuple[list[int], list[int]]


@dataclass
class Conversation:
    """One conversation's state: the turns so far, as ids. The model holds none of it.

    Each turn is a pair (question ids, closed answer ids); the system text stays whatever is dropped.
    """

    model: Any
    tokenizer: Tokenizer
    template: Template
    system: str | None = None
    generator: Generator | None = None
    turns: list[Turn] = field(default_factory=list)
    dropped: int = 0
    # The last question, and the turns that it went on from.
    _last: tuple[list[int], list[Turn]] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.beginning = self.template.begin(self.template.default_system if self.system is None else self.system)

    def say(self, text: str, settings: TextSettings, answer: Answer) -> Iterator[str]:
        """Pieces of the answer to `text`; what was written joins the history, also when it is interrupted.

        Whole old turns are dropped where the context would overflow. Raises ValueError if `text` alone, with the
        system text, leaves no room for an answer. An error before the first token leaves the history as it was.
        """
        return self._answer(self.template.ask(text), self.turns, settings, answer)

    def again(self, settings: TextSettings, answer: Answer) -> Iterator[str]:
        """Pieces of another answer to the last text, after the same prompt, as `say` gives them; it takes the place of
        the old one. Raises ValueError if nothing was said."""
        if self._last is None:
            raise ValueError(_("there is no message to answer again"))
        return self._answer(*self._last, settings, answer)

    def undo(self) -> None:
        """Forget the last turn; a text that had come to its end with it is open again."""
        if self._last is not None:
            self.turns[:], self._last = self._last[1], None
        elif self.turns:
            self.turns.pop()

    def reset(self) -> None:
        """Forget all turns; the system text stays."""
        self.turns.clear()
        self._last = None

    def _answer(self, question: list[int], turns: list[Turn], settings: TextSettings, answer: Answer) -> Iterator[str]:
        """Pieces of the answer to a question after the turns; only what was begun is remembered."""
        kept, room = self._fit(turns, question, settings.max_new_tokens)
        prompt = [*self.beginning, *(token for turn in kept for part in turn for token in part), *question]
        if not prompt:
            raise ValueError(_("the text must not be empty for a model without a beginning-of-text token"))
        limited = settings.changed(max_new_tokens=min(settings.max_new_tokens, room))
        refused = False
        try:
            yield from write(
                self.model, self.tokenizer, prompt, limited,
                end_ids=self.template.end_ids, generator=self.generator, answer=answer,
            )  # fmt: skip
        except Exception:
            refused = not answer.ids
            raise
        finally:
            if not refused:
                self.dropped += len(turns) - len(kept)
                self._remember(question, kept, answer)

    def _fit(self, turns: list[Turn], question: list[int], wanted: int) -> tuple[list[Turn], int]:
        """The latest turns that fit before the question, and how many new ids fit behind it."""
        context = self.model.max_seq_len
        fixed = len(self.beginning) + len(question)
        if fixed >= context:
            raise ValueError(
                _("the text has {count} tokens, but the context of {context} must also hold an answer").format(
                    count=fixed, context=context
                )
            )
        kept, reserve = list(turns), min(wanted, context // 2)
        while kept and fixed + sum(map(_length, kept)) + reserve > context:
            kept.pop(0)
        return kept, context - fixed - sum(map(_length, kept))

    def _remember(self, question: list[int], kept: list[Turn], answer: Answer) -> None:
        has_ended = isinstance(self.template, Raw) and answer.finish == "end"
        self.turns[:] = [] if has_ended else [*kept, (question, self.template.close(answer.ids))]
        self._last = (question, kept)


def _length(turn: Turn) -> int:
    return len(turn[0]) + len(turn[1])


def _plain(tokenizer: Tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def _control_id(tokenizer: Tokenizer, marker: str) -> int:
    ids = tokenizer.encode(marker, allow_control=True, add_special_tokens=False)
    if len(ids) != 1:
        raise CheckpointError(f"the chat template uses {marker}, which the tokenizer does not know as one token")
    return ids[0]
