"""What SmolLM2 answers under several settings, and texts of it that went wrong; stored, so the model is not needed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from llm_gen.beyond import Trace
from llm_gen.story.metrics import Estimate, share_of
from notebooks.panels.context import DATA

CONVERSATION_FILE = DATA / "conversation.json"


@dataclass(frozen=True)
class Question:
    """What is asked; is_right: whether an answer is true; is_valid: whether it has the form that was asked for."""

    text: str
    is_right: Callable[[str], bool]
    is_valid: Callable[[str], bool]


def is_sentence(answer: str) -> bool:
    """Whether it is one sentence, from its first word to its only full stop, question or exclamation mark."""
    return bool(re.fullmatch(r"[^.!?]+[.!?]\s*", answer))


QUESTIONS = {
    "capital": Question(
        "What is the capital of France?",
        lambda answer: "Paris" in answer,
        is_sentence,
    ),
    "spider": Question(
        "How many legs does a spider have? Answer with a number only.",
        lambda answer: bool(re.search(r"\b(8|eight)\b", answer, re.I)),
        lambda answer: bool(re.fullmatch(r"\s*\d+\.?\s*", answer)),
    ),
    "kite": Question(
        "Write one sentence about a kite over the sea.",
        lambda answer: "kite" in answer.lower(),
        is_sentence,
    ),
}


def questions() -> dict[str, Question]:
    """The questions by name."""
    return dict(QUESTIONS)


@dataclass(frozen=True)
class Answers:
    """Several answers to one question under one setting. bits: of each, under the distribution drawn from."""

    question: str
    setting: str
    texts: list[str]
    bits: list[float]

    @property
    def right(self) -> Estimate:
        return share_of(map(QUESTIONS[self.question].is_right, self.texts))

    @property
    def valid(self) -> Estimate:
        return share_of(map(QUESTIONS[self.question].is_valid, self.texts))

    @property
    def different(self) -> int:
        return len(set(self.texts))


@dataclass(frozen=True)
class Recorded:
    """A text of SmolLM2 as `diagnose` reads it: how it was made, in words, the text, and the trace."""

    made: str
    text: str
    trace: Trace

    @property
    def answer(self) -> str:
        """The text up to its first control token."""
        return self.text.partition("<|")[0]


@cache
def stored_answers() -> dict[tuple[str, str], Answers]:
    """The recorded answers by (question, setting)."""
    return {(each["question"], each["setting"]): Answers(**each) for each in _stored()["answers"]}


@cache
def stored_traces() -> dict[str, Recorded]:
    """The recorded texts that went wrong, by the name of their symptom."""
    return {
        name: Recorded(each["made"], each["text"], Trace(each["ids"], each["probs"], each["entropies"], each["ended"]))
        for name, each in _stored()["traces"].items()
    }


@cache
def _stored() -> dict:
    return json.loads(CONVERSATION_FILE.read_text(encoding="utf-8"))
