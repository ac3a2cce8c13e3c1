"""What went wrong with a text: detectors that read a trace of `generate_steps` and say cause and remedy in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from llm_gen.checks import check_integer, check_real
from llm_gen.steps import Step
from llm_gen.text import _


@dataclass(frozen=True)
class Trace:
    """One row's new tokens: ids, the model's own probability of each, and its entropy in bits before each choice.

    ended: the last token is an eos.
    """

    ids: list[int]
    probs: list[float]
    entropies: list[float]
    ended: bool

    @property
    def surprises(self) -> list[float]:
        """Bits: -log2 of each probability."""
        return [-math.log2(max(prob, 1e-38)) for prob in self.probs]


@dataclass(frozen=True)
class Finding:
    """One fault: its name, the new token at which it starts, what was seen, why it happens, what to try."""

    name: str
    at: int
    seen: str
    cause: str
    remedy: str


@dataclass(frozen=True)
class Loop:
    """tokens[start:] repeat with this period; strengths: mean probability of a token in each repetition."""

    start: int
    period: int
    strengths: list[float]


def record_trace(steps: Iterable[Step], row: int = 0) -> Trace:
    """The trace of one row; runs the steps to their end."""
    ids, probs, entropies, ended = [], [], [], False
    for step in steps:
        if not step.active[row]:
            break
        token, own = int(step.tokens[row]), step.model_probs[row].double()
        ids.append(token)
        probs.append(own[token].item())
        entropies.append(torch.special.entr(own).sum().item() / math.log(2))
        ended = bool(step.finished[row])
    return Trace(ids, probs, entropies, ended)


def find_loop(trace: Trace, repeats: int = 3) -> Loop | None:
    """The loop that the text ends in: the shortest period that fills the end at least `repeats` >= 2 times."""
    repeats = check_integer("repeats", repeats, minimum=2)
    ids = trace.ids[: len(trace.ids) - trace.ended]
    for period in range(1, len(ids) // repeats + 1):
        same = 0
        while same < len(ids) - period and ids[-1 - same] == ids[-1 - same - period]:
            same += 1
        if same >= period * (repeats - 1):
            start = len(ids) - same - period
            turns = range(start, len(ids) - period + 1, period)
            return Loop(start, period, [sum(trace.probs[turn : turn + period]) / period for turn in turns])
    return None


def diagnose(
    trace: Trace,
    *,
    text: str | None = None,
    is_valid: Callable[[str], bool] | None = None,
    shortest: int = 5,
    bits: float = 8.0,
) -> list[Finding]:
    """All faults of a trace, in the order of where they start.

    text and is_valid: the text and a function that says whether its format is right. shortest: an end before so many
    tokens is early. bits: how far above the entropy a surprise must lie to be sudden. Raises TypeError or ValueError.
    """
    shortest, bits = check_integer("shortest", shortest, minimum=0), check_real("bits", bits)
    if (text is None) != (is_valid is None):
        raise ValueError("text and is_valid must be given together, got one of them")
    found = [
        _loop(trace),
        _surprise(trace, bits),
        _early_end(trace, shortest),
        _runaway(trace),
        None if is_valid is None or is_valid(text) else _broken_format(trace),
    ]
    return sorted((finding for finding in found if finding), key=lambda finding: finding.at)


def _loop(trace: Trace) -> Finding | None:
    loop = find_loop(trace)
    if loop is None:
        return None
    first, last = loop.strengths[0], loop.strengths[-1]
    seen = _(
        "the last {period} tokens come {count} times; a token of the phrase had {first:.0%}, at the end {last:.0%}"
    )
    return Finding(
        _("repetition loop"),
        loop.start,
        seen.format(period=loop.period, count=len(loop.strengths), first=first, last=last),
        _("each repetition makes the next one likelier, and the likeliest token is always taken"),
        _("sample with temperature 0.7 to 1, add top-p 0.9, or a repetition penalty of 1.1 to 1.3"),
    )


def _surprise(trace: Trace, bits: float) -> Finding | None:
    excess = [surprise - entropy for surprise, entropy in zip(trace.surprises, trace.entropies)]
    if not excess or max(excess) < bits:
        return None
    at = excess.index(max(excess))
    seen = _("a token of probability {prob:.1g}, {bits:.1f} bits above what was to be expected")
    return Finding(
        _("sudden surprise"),
        at,
        seen.format(prob=trace.probs[at], bits=excess[at]),
        _("a token from the long tail was drawn; what follows builds on it"),
        _("cut the tail: top-p 0.95 or less, min-p 0.05, or a lower temperature"),
    )


def _early_end(trace: Trace, shortest: int) -> Finding | None:
    if not trace.ended or len(trace.ids) > shortest:
        return None
    seen = _("the text ends after {count} tokens; the end had {prob:.0%}")
    return Finding(
        _("early end"),
        len(trace.ids) - 1,
        seen.format(count=len(trace.ids) - 1, prob=trace.probs[-1]),
        _("the end of text was likely, or was drawn although unlikely: the prompt may look like a finished text"),
        _("check the prompt and the chat template, set min_new_tokens, or a lower temperature"),
    )


def _runaway(trace: Trace) -> Finding | None:
    if trace.ended or not trace.ids:
        return None
    seen = _("{count} tokens and no end of text")
    return Finding(
        _("runs on"),
        len(trace.ids),
        seen.format(count=len(trace.ids)),
        _("no eos was given, the model never learned one, or the text was cut by max_new_tokens"),
        _("pass the eos of this checkpoint, use its chat template, or add stop strings"),
    )


def _broken_format(trace: Trace) -> Finding:
    return Finding(
        _("format broken"),
        len(trace.ids),
        _("the text does not have the format that was asked for"),
        _("a token outside the format was likely enough to be chosen once, or the text was cut"),
        _("lower the temperature, show an example in the prompt, force or ban tokens, or allow more tokens"),
    )
