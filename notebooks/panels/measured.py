"""Decoding settings measured on many stories: how many are true, how different they are, and which no other beats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from llm_gen.story.metrics import Estimate
from llm_gen.text import _
from notebooks.panels.context import DATA
from notebooks.panels.reshaping import GREEDY
from notebooks.panels.words import two_decimals

FRONTIER_FILE = DATA / "frontier.json"
GRAMMAR = "grammar"


@dataclass(frozen=True)
class Story:
    """A text and the judge's verdict: at which character it leaves the stories, None if it is a true one, and why."""

    text: str
    character: int | None
    reason: str


@dataclass(frozen=True)
class Measured:
    """One setting. tau: a temperature, or "greedy"; cut: what is cut off, a name in words.

    true: share of consistent whole stories. grammatical: share of rows of correct sentences. diversity: bits a story,
    the mean of -log2 of its probability under the distribution drawn from; 10 bits are as many as 1,024 equally likely
    stories have. pairs: share of different pairs of words in 16 stories. stories: some of the texts.
    """

    tau: float | str
    cut: str
    texts: int
    true: Estimate
    grammatical: Estimate
    diversity: Estimate
    pairs: Estimate
    stories: list[Story]

    @property
    def name(self) -> str:
        if isinstance(self.tau, str):
            return self.tau
        return f"tau={two_decimals(self.tau)}" + ("" if self.cut == "off" else f" {self.cut}")

    def beats(self, other: Measured) -> bool:
        """At least as good and as varied, and not equal in both."""
        own, theirs = (self.true.value, self.diversity.value), (other.true.value, other.diversity.value)
        return own != theirs and own[0] >= theirs[0] and own[1] >= theirs[1]


def unbeaten(settings: Sequence[Measured]) -> list[Measured]:
    """The settings that no other one beats, the truest first."""
    left = [one for one in settings if not any(other.beats(one) for other in settings)]
    return sorted(left, key=lambda one: (-one.true.value, one.diversity.value))


@cache
def stored_frontier() -> tuple[Measured, ...]:
    """The recorded settings of `tiny`, greedy first; nothing is written anew."""
    return tuple(_read(row) for row in _stored()["settings"])


@cache
def stored_grammar() -> Measured:
    """The same measures on stories of the grammar itself: what a perfect model would reach at temperature 1."""
    return _read(_stored()["grammar"])


def _stored() -> dict:
    return json.loads(FRONTIER_FILE.read_text(encoding="utf-8"))


def _read(row: dict) -> Measured:
    estimates = {name: Estimate(*row[name]) for name in ("true", "grammatical", "diversity", "pairs")}
    return Measured(row["tau"], row["cut"], row["texts"], **estimates, stories=[Story(*s) for s in row["stories"]])


def setting_title(one: Measured) -> str:
    """A setting as a reader reads it."""
    if one.tau == GREEDY:
        return _("greedy")
    if one.tau == GRAMMAR:
        return _("the grammar itself")
    return one.name.replace("tau", "τ")
