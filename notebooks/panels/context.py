"""What a model says after a prompt: next-token logits with the tokens' texts, made by hand or stored in the repo."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from string import ascii_uppercase

import torch
from safetensors import safe_open
from torch import Tensor

from llm_gen.checks import check_logits
from llm_gen.text import _
from notebooks.panels.words import shortened, visible

DATA = Path(__file__).parent.parent / "data"
LOGITS_FILE = DATA / "next_token_logits.safetensors"
TOKENS_FILE = DATA / "tokens.json.gz"


@dataclass(frozen=True, eq=False)
class Context:
    """Next-token logits (V,) after `prompt`; `labels` are V texts to show, A, B, C and so on if left out.

    Logits may be a list; -inf stands for a token that cannot come. Raises ValueError for logits that
    `filter_logits` refuses and for another number of labels than logits.
    """

    name: str
    prompt: str
    logits: Tensor
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        logits = torch.as_tensor(self.logits)
        logits = check_logits((logits if logits.is_floating_point() else logits.double())[None])[0]
        labels = self.labels or _letters(len(logits))
        if len(labels) != len(logits):
            raise ValueError(f"labels must name each of the {len(logits)} tokens, got {len(labels)}")
        object.__setattr__(self, "logits", logits)
        object.__setattr__(self, "labels", labels)

    @classmethod
    def from_probs(cls, name: str, probs: Mapping[str, float] | Sequence[float], prompt: str = "") -> Context:
        """A handmade distribution: `{"cat": 0.5, "dog": 0.3, ...}` or a plain list; it must sum to 1."""
        labels = list(probs) if isinstance(probs, Mapping) else ()
        values = list(probs.values()) if isinstance(probs, Mapping) else list(probs)
        shares = torch.tensor(values, dtype=torch.float64)
        if (shares < 0).any() or not abs(float(shares.sum()) - 1) < 1e-6:
            raise ValueError(f"probs must be >= 0 and sum to 1, got {values}")
        return cls(name, prompt, shares.log(), labels)

    @cached_property
    def order(self) -> Tensor:
        """Ids (V,) from the likeliest down, ties by id. Temperature never changes it, so it is found once."""
        return self.logits.sort(descending=True, stable=True).indices

    @cached_property
    def ranked(self) -> Tensor:
        """Logits (V,) in that order."""
        return self.logits[self.order]

    @cached_property
    def own(self) -> Tensor:
        """The model's own distribution (V,) in that order, float64."""
        return self.ranked.double().softmax(dim=-1)

    @cached_property
    def title(self) -> str:
        """How the context is called in a list: its name, how sure the model is, the prompt."""
        if not self.prompt:
            return self.name
        return f"{self.name} ({self.mood}): {shortened(visible_prompt(self.prompt), 42)}"

    @property
    def mood(self) -> str:
        bits = entropy_bits(self.own)
        return _("sure") if bits < 2 else _("in between") if bits < 6 else _("unsure")

    def label_at(self, rank: int) -> str:
        return self.labels[int(self.order[rank])]

    def top_labels(self, count: int) -> list[str]:
        """The texts of the likeliest tokens."""
        return [self.labels[token] for token in self.order[:count].tolist()]


def entropy_bits(probs: Tensor) -> float:
    """Shannon entropy of a distribution (V,) in bits; 2 to that power is its number of equally likely tokens."""
    return float(-torch.special.xlogy(probs, probs).sum() / torch.log(torch.tensor(2.0, dtype=probs.dtype)))


def visible_prompt(prompt: str) -> str:
    """A prompt on one line: newlines made visible, spaces left as they are."""
    return prompt.replace("\n", "\u21b5")


@cache
def stored_contexts() -> dict[str, Context]:
    """The recorded contexts of SmolLM2-135M by name, from the surest to the least sure. No download."""
    with safe_open(LOGITS_FILE, framework="pt") as file:
        prompts, logits = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    contexts = [Context(name, prompts[name], logits[name], stored_labels()) for name in logits]
    return {context.name: context for context in sorted(contexts, key=lambda each: entropy_bits(each.own))}


@cache
def stored_labels() -> list[str]:
    """The tokens of SmolLM2-135M as panels show them, by id."""
    pieces = json.loads(gzip.decompress(TOKENS_FILE.read_bytes()))
    return [visible(piece.encode("latin-1")) for piece in pieces]


def _letters(count: int) -> list[str]:
    return [ascii_uppercase[i] if count <= 26 else str(i) for i in range(count)]
