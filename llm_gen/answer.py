"""Text as it is written: from steps to whole characters, up to an end id, a stop string or a limit.

What has been given out is never taken back: half a character and the possible beginning of a stop string wait.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Generator

from llm_gen.checks import check_flag, check_integer, check_real, check_token_ids
from llm_gen.generation import generate_steps
from llm_gen.sampling import check_settings, validate_sampling_args
from llm_gen.tokenizer import Tokenizer


@dataclass(frozen=True)
class TextSettings:
    """How a text is written. temperature 0 means greedy, top_p of 1 or more means off.

    max_new_tokens: at most so many; min_new_tokens: no end before, so a stop string that comes sooner is text like any
    other; max_time: seconds; stop: strings that end the text and are not part of it. Raises TypeError or ValueError
    naming the argument, the rule and the value.
    """

    temperature: float = 0.8
    top_k: int | None = None
    top_p: float | None = 0.95
    max_new_tokens: int = 256
    greedy: bool = False
    stop: tuple[str, ...] = ()
    min_new_tokens: int = 0
    max_time: float | None = None

    def __post_init__(self) -> None:
        check_integer("max_new_tokens", self.max_new_tokens, minimum=0)
        check_integer("min_new_tokens", self.min_new_tokens, minimum=0)
        check_flag("greedy", self.greedy)
        if self.max_time is not None and check_real("max_time", self.max_time) < 0:
            raise ValueError(f"max_time must be >= 0 seconds, got {self.max_time!r}")
        StopStrings(self.stop)
        if self.do_sample:
            validate_sampling_args(**self.sampling)
            check_settings(self.temperature, self.top_k, self.sampling["top_p"])

    @property
    def do_sample(self) -> bool:
        return not (self.greedy or check_real("temperature", self.temperature) == 0)

    @property
    def sampling(self) -> dict[str, Any]:
        """do_sample, temperature, top_k and top_p as `generate` takes them."""
        if not self.do_sample:
            return {"do_sample": False}
        off = self.top_p is None or check_real("top_p", self.top_p) >= 1
        top_p = None if off else self.top_p
        return {"do_sample": True, "temperature": self.temperature, "top_k": self.top_k, "top_p": top_p}

    def changed(self, **values: Any) -> TextSettings:
        """The same settings but for `values`, checked again."""
        return replace(self, **values)

    def __str__(self) -> str:
        sampling = self.sampling
        if not sampling.pop("do_sample"):
            return "greedy"
        return ", ".join(f"{name} {value:g}" for name, value in sampling.items() if value is not None)


class StopStrings:
    """Finds the first of several strings in a text that comes in pieces."""

    def __init__(self, stops: Collection[str]) -> None:
        # No iterator: it would be spent by this very check.
        is_list = isinstance(stops, Collection) and not isinstance(stops, str)
        if not is_list or not all(isinstance(stop, str) for stop in stops):
            raise TypeError(f"stop must be a list of strings, got {stops!r}")
        if "" in stops:
            raise ValueError(f"stop must hold strings of at least one character, got {list(stops)!r}")
        self.stops, self.held = tuple(stops), ""

    def feed(self, piece: str, may_stop: bool = True) -> tuple[str, bool]:
        """The text that may be shown now, and whether a stop string has come: it and what follows are cut off.

        may_stop=False: a stop string that is complete now does not count.
        """
        text = self.held + piece
        starts = [start for stop in self.stops if (start := text.find(stop)) >= 0]
        if starts and may_stop:
            self.held = ""
            return text[: min(starts)], True
        open_ends = [n for stop in self.stops for n in range(1, len(stop)) if text.endswith(stop[:n])]
        safe = len(text) - max(open_ends, default=0)
        self.held = text[safe:]
        return text[:safe], False


@dataclass
class Answer:
    """What was written: ids (with the end id, if one came), their log-probs, the text, and why it ended.

    log_probs are under the distribution drawn from, full_log_probs under the whole softmax at the temperature.
    finish: "end", "stop string", "length", "time" or "interrupted". seconds: since the start, for each token.
    """

    ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    full_log_probs: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    text: str = ""
    finish: str = "interrupted"


def write(
    model: Any,
    tokenizer: Tokenizer,
    prompt: Sequence[int],
    settings: TextSettings,
    *,
    end_ids: int | Sequence[int] = (),
    generator: Generator | None = None,
    answer: Answer | None = None,
) -> Iterator[str]:
    """Pieces of text after the ids `prompt`, as they come; the record is kept in `answer`.

    end_ids: one or several ids that end the text and are not shown. Ids that the tokenizer does not know (a model may
    have more rows than tokens) are never drawn. Raises like `generate`; arguments are checked at the first piece.
    """
    answer = Answer() if answer is None else answer
    x, end_ids = _row(model, prompt), check_token_ids("end_ids", end_ids, model.vocab_size)
    stream, stops, start = tokenizer.stream(), StopStrings(settings.stop), time.monotonic()
    steps = generate_steps(
        model, x, settings.max_new_tokens, **settings.sampling,
        eos_token_id=end_ids, generator=generator, processors=_only_known(model, tokenizer),
        min_new_tokens=settings.min_new_tokens, max_time=settings.max_time,
    )  # fmt: skip
    for step in steps:
        token = int(step.tokens)
        answer.ids.append(token)
        answer.log_probs.append(float(step.log_probs))
        answer.full_log_probs.append(float(step.full_log_probs))
        answer.seconds.append(time.monotonic() - start)
        may_stop = len(answer.ids) >= settings.min_new_tokens
        shown, stopped = ("", False) if token in end_ids else stops.feed(stream.feed(token), may_stop)
        answer.text += shown
        if shown:
            yield shown
        if stopped:
            answer.finish = "stop string"
            return
    last, stopped = stops.feed(stream.finish(), len(answer.ids) >= settings.min_new_tokens)
    last += stops.held
    answer.text += last
    answer.finish = "stop string" if stopped else _why_it_ended(answer, settings, end_ids)
    if last:
        yield last


def _why_it_ended(answer: Answer, settings: TextSettings, end_ids: Sequence[int]) -> str:
    if answer.ids and answer.ids[-1] in end_ids:
        return "end"
    return "length" if len(answer.ids) >= settings.max_new_tokens else "time"


def _only_known(model: Any, tokenizer: Tokenizer) -> list[Any]:
    """A processor against rows of the head that stand for no token; none is needed where the sizes agree."""
    known = tokenizer.vocab_size
    if model.vocab_size <= known:
        return []

    def known_tokens_only(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        logits[:, known:] = -torch.inf
        return logits

    return [known_tokens_only]


def _row(model: Any, prompt: Sequence[int]) -> torch.Tensor:
    """The prompt (1, P) where the model is. Raises TypeError or ValueError naming it, also when it is empty."""
    ids = check_token_ids("prompt", prompt, model.vocab_size)
    if not ids:
        raise ValueError(f"prompt must hold at least one token, got {prompt!r}")
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    return torch.tensor([ids], device=device)
