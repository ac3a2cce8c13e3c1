"""Record the texts of the loop meter: `python -m notebooks.panels.record_texts` (needs SmolLM2, about a minute).

What the model writes greedily after some prompts, what it thinks of a sentence that is given to it many times, and of
a text that people wrote.
"""

from __future__ import annotations

import json
from typing import Any

import torch

from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer
from notebooks.panels.record_contexts import PROMPTS
from notebooks.panels.scored import TEXTS_FILE, ScoredText, greedy_text
from notebooks.panels.words import token_label

STEPS, DECIMALS = 160, 6
WRITTEN = ("dialogue", "story", "shopping", "animal")
KITE = "The kite flew over the hill."
OURS = (
    " Nobody ran after it, because nobody had believed that the string would hold. My brother said it was my turn to"
    " carry the reel home, and my sister laughed so hard that she had to sit down in the wet grass. We looked for it"
    " until the lamps came on in the village. In the end it was the baker who found it, two days later, in the pear"
    " tree behind his shop."
)
GIVEN = {  # a text, and how many times it is given
    "piano": (" Nobody had seen a piano so high in the air.", 12),
    "nonsense": (" Purple seven the under sing.", 12),
    "ours": (OURS, 1),
}


def main() -> None:
    texts = {text.name: fields(text) for text in scored_texts(load_model("smollm2"), load_tokenizer("smollm2"))}
    lines = [f"{json.dumps(name)}: {json.dumps(text)}" for name, text in texts.items()]
    TEXTS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def scored_texts(model: Any, tokenizer: Tokenizer) -> list[ScoredText]:
    written = [greedy_text(name, model, tokenizer, PROMPTS[name], STEPS) for name in WRITTEN]
    return written + [given_text(name, model, tokenizer, *given) for name, given in GIVEN.items()]


@torch.inference_mode()
def given_text(name: str, model: Any, tokenizer: Tokenizer, text: str, times: int) -> ScoredText:
    """The text so many times after the kite's sentence, scored in one pass."""
    start = tokenizer.encode(KITE)
    ids = tokenizer.encode(text, add_special_tokens=False) * times
    probs = model(torch.tensor([start + ids]))[0, len(start) - 1 : -1].double().softmax(dim=-1)
    own = probs.gather(-1, torch.tensor(ids)[:, None])[:, 0].tolist()
    return ScoredText(name, KITE, ids, own, [token_label(tokenizer, token) for token in ids], given=True)


def fields(text: ScoredText) -> dict[str, Any]:
    """What is stored; the labels are found again by the ids."""
    probs = [round(p, DECIMALS) for p in text.probs]
    return {"prompt": text.prompt, "given": text.given, "ended": text.ended, "ids": text.ids, "probs": probs}


if __name__ == "__main__":
    main()
