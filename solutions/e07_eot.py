"""An id means nothing by itself: 50256 is the end for GPT-2, no id at all for tiny, a piece of a word for others.

Too large an id is the friendly case, because `generate` refuses it. An id that the model never writes lets every text
run to the budget; an id that is an ordinary token cuts texts off. In the prompt an end finishes nothing.

The key is computed: in each case a model of that vocabulary writes ten tokens and its own end, and `generate` says
where the row stops.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from llm_gen import generate
from solutions.vocabulary import Choice

GPT2_END, WORD = 50256, 5
TEXT = (WORD,) * 10


@dataclass
class Writer:
    """A model that writes ten tokens, then its end, then more words, whatever the prompt is."""

    vocab_size: int
    text: tuple[int, ...]
    prompt: tuple[int, ...] = (WORD, WORD)
    waits_for: int | None = GPT2_END
    max_seq_len = 100

    def __call__(self, ids: Tensor, attention_mask: Tensor | None = None, cache: None = None) -> Tensor:
        written = ids.shape[1] - len(self.prompt)
        token = self.text[written] if written < len(self.text) else WORD
        return torch.nn.functional.one_hot(torch.tensor([[token]]), self.vocab_size).float()

    def make_cache(self, batch_size: int) -> None:
        return None


CASES = {
    "GPT-2: 50,257 tokens, ends with 50256": Writer(50257, (*TEXT, GPT2_END)),
    "GPT-2, and the prompt has a 50256 between two examples": Writer(50257, (*TEXT, GPT2_END), (WORD, GPT2_END, WORD)),
    "a model like GPT-2, trained on texts without any end": Writer(50257, TEXT),
    "GPT-2, but the program is given no end id": Writer(50257, (*TEXT, GPT2_END), waits_for=None),
    "tiny: 1,024 tokens, ends with 2": Writer(1024, (*TEXT, 2)),
    "SmolLM2: 49,152 tokens, ends with 2": Writer(49152, (*TEXT, 2)),
    "a model of 128,256 tokens, for which 50256 is a piece of a word": Writer(
        128256, (*TEXT[:4], GPT2_END, *TEXT[5:], 2)
    ),
}


def eot() -> dict[str, str]:
    return {name: effect(model) for name, model in CASES.items()}


def effect(model: Writer, budget: int = 20) -> str:
    try:
        text = generate(model, torch.tensor([model.prompt]), budget, False, eos_token_id=model.waits_for)
    except ValueError:
        return "d"
    written = text.shape[1] - len(model.prompt)
    return {0: "e", len(TEXT) + 1: "a", budget: "b"}.get(written, "c")


check_letters = Choice(eot)


def changed(part: str, letter: str) -> dict[str, str]:
    return {name: letter if part in name else right for name, right in eot().items()}


def wrong_every_end_is_the_same() -> dict[str, str]:
    """You take 50256 for the end of text everywhere; it is a row of GPT-2's table, and another table has other rows."""
    return changed("128,256", "a") | {name: "a" for name in CASES if name.startswith(("tiny", "SmolLM2"))}


def wrong_waits_in_silence() -> dict[str, str]:
    """You expect a model with a smaller vocabulary to run on, but `generate` looks at the ids first and refuses."""
    return eot() | {name: "b" for name in CASES if name.startswith(("tiny", "SmolLM2"))}


def wrong_near_miss() -> dict[str, str]:
    """Count again: 49,152 tokens have the ids 0 to 49,151, so 50256 is not among them and cannot cut anything off."""
    return changed("SmolLM2", "c")


def wrong_prompt_finishes() -> dict[str, str]:
    """You let an end in the prompt finish the row; only a token that the model writes can do that."""
    return changed("between two examples", "e")


def wrong_end_comes_by_itself() -> dict[str, str]:
    """You expect every model to know its end, but a token that stood in no training text is (almost) never written."""
    return changed("without any end", "a")


def wrong_default_end() -> dict[str, str]:
    """You assume that the loop knows the end by itself; without an id, nothing ends but the budget."""
    return changed("no end id", "a")


def wrong_word_is_harmless() -> dict[str, str]:
    """You think that a wrong id is never met; but this one is an ordinary token, and ordinary tokens come."""
    return changed("128,256", "b")


def wrong_outside_is_silence() -> dict[str, str]:
    """You expect an empty answer where the id does not exist; it is an error, and it says so."""
    return eot() | {name: "e" for name in CASES if name.startswith(("tiny", "SmolLM2"))}


def wrong_prompt_cuts() -> dict[str, str]:
    """You let an end in the prompt cut the text off; the loop asks only for tokens that the model has written."""
    return changed("between two examples", "c")


def wrong_no_end_is_an_error() -> dict[str, str]:
    """You expect an error where no end is given; it is allowed, and then the budget alone ends the text."""
    return changed("no end id", "d")


def right_by_hand() -> dict[str, str]:
    return dict(zip(CASES, "aabbddc"))
