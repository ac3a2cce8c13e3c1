"""Record the contexts that the chapters use: `python -m notebooks.panels.record_contexts` (needs SmolLM2).

Writes the logits of the next token after each prompt, float32, and the bytes of every token of the vocabulary.
"""

from __future__ import annotations

import gzip
import json

import torch
from safetensors.torch import save_file
from torch import Tensor

from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer
from notebooks.panels.context import LOGITS_FILE, TOKENS_FILE

# From almost sure to spread out: prose, code, facts, a list, dialogue.
PROMPTS = {
    "night": "It was a dark and stormy",
    "numpy": "import numpy as",
    "capital": "The capital of France is",
    "story": "Once upon a time, there was a little",
    "shopping": "Shopping list:\n- milk\n- eggs\n- bread\n-",
    "range": "for i in range(",
    "dialogue": '"Where have you been?" she asked.\n\n"',
    "animal": "My favourite animal is the",
}


def main() -> None:
    logits, tokenizer = next_token_logits(), load_tokenizer("smollm2")
    LOGITS_FILE.parent.mkdir(exist_ok=True)
    save_file(logits, LOGITS_FILE, metadata=PROMPTS)
    TOKENS_FILE.write_bytes(packed_tokens(tokenizer, len(logits["night"])))


@torch.inference_mode()
def next_token_logits() -> dict[str, Tensor]:
    """The logits (V,) after each prompt, float32, by the names in `PROMPTS`."""
    model, tokenizer = load_model("smollm2"), load_tokenizer("smollm2")
    return {
        name: model(torch.tensor([tokenizer.encode(prompt)]))[0, -1].float().clone()
        for name, prompt in PROMPTS.items()
    }


def packed_tokens(tokenizer: Tokenizer, vocab_size: int) -> bytes:
    """The bytes of each token as a JSON list, one character a byte, compressed; the same each time."""
    pieces = [tokenizer.token_bytes(token).decode("latin-1") for token in range(vocab_size)]
    text = json.dumps(pieces, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


if __name__ == "__main__":
    main()
