"""Tokens per second of greedy decoding, beside transformers in the same run: python benchmarks/decode.py

Both sides take turns, so that a machine whose speed drifts treats them alike; the ratio of each turn is what counts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from llm_gen import generate, load_model, load_tokenizer
from llm_gen.weights.smollm2 import fetch

PROMPT = "The history of the city began when"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=32, help="new tokens a run")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    ids = torch.tensor([load_tokenizer("smollm2").encode(PROMPT)])
    sides = {"llm_gen": ours(ids, args.tokens), "transformers": theirs(ids, args.tokens)}
    texts = {name: run() for name, run in sides.items()}
    assert torch.equal(*texts.values()), "the two sides must write the same text"
    speeds = {name: [] for name in sides}
    for _ in range(args.turns):
        for name, run in sides.items():
            start = time.perf_counter()
            run()
            speeds[name].append(args.tokens / (time.perf_counter() - start))
    ratios = [a / b for a, b in zip(*speeds.values())]
    for name, values in speeds.items():
        print(f"{name:<14}{statistics.median(values):6.1f} tokens/s (from {min(values):.1f} to {max(values):.1f})")
    print(f"ratio         {statistics.median(ratios):6.2f} (from {min(ratios):.2f} to {max(ratios):.2f})")


def ours(ids: torch.Tensor, tokens: int) -> Callable[[], torch.Tensor]:
    model = load_model("smollm2")
    return lambda: generate(model, ids, tokens, False)


def theirs(ids: torch.Tensor, tokens: int) -> Callable[[], torch.Tensor]:
    from transformers import AutoModelForCausalLM

    file = fetch()
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None
    mask = torch.ones_like(ids)
    return lambda: model.generate(ids, attention_mask=mask, max_new_tokens=tokens, do_sample=False, pad_token_id=0)


if __name__ == "__main__":
    main()
