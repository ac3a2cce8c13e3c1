"""Record the conversation of chapter 13: `python -m notebooks.panels.record_conversation` (needs SmolLM2, 5 minutes).

Several answers to each question under each setting, from the same seeds; and texts that go wrong on purpose.
"""

from __future__ import annotations

import json
import math
from typing import Any

import torch

from llm_gen import generate_with_logprobs
from llm_gen.beyond import record_trace
from llm_gen.chat import find_template
from llm_gen.generation import generate_steps
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer
from notebooks.panels.conversation import CONVERSATION_FILE, QUESTIONS, Answers
from notebooks.panels.record_contexts import PROMPTS

ANSWERS, TOKENS, DIGITS = 6, 28, 6
GREEDY = {"top_k": 1}
SETTINGS: dict[str, dict[str, Any]] = {
    "greedy": GREEDY,
    "tau=0.7": {"temperature": 0.7},
    "tau=1.0 p=0.9": {"top_p": 0.9},
    "tau=1.0": {},
    "tau=1.5": {"temperature": 1.5},
}
HOT = {"do_sample": True, "temperature": 1.8}
COLD = {"do_sample": False}


def main() -> None:
    model, tokenizer = load_model("smollm2"), load_tokenizer("smollm2")
    pairs = [(question, setting) for question in QUESTIONS for setting in SETTINGS]
    answers = [vars(ask(model, tokenizer, *pair)) for pair in pairs]
    traces = {name: trace(model, tokenizer, *recipe) for name, recipe in recipes(tokenizer).items()}
    lines = ",\n".join(json.dumps(each) for each in answers)
    wrong = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in traces.items())
    CONVERSATION_FILE.write_text(f'{{"answers": [\n{lines}\n],\n"traces": {{\n{wrong}\n}}}}\n', encoding="utf-8")


def ask(model: Any, tokenizer: Tokenizer, question: str, setting: str, count: int = ANSWERS) -> Answers:
    """`count` answers (greedy: one) of at most `TOKENS` tokens; answer i has the same seed under every setting."""
    settings = SETTINGS[setting]
    count = 1 if settings is GREEDY else count
    prompt, ends = in_template(tokenizer, QUESTIONS[question].text)
    rollout = generate_with_logprobs(
        model, torch.tensor([prompt] * count), TOKENS, stop_tokens=ends, pad_id=ends[0],
        generator=[torch.Generator().manual_seed(i) for i in range(count)], **settings,
    )  # fmt: skip
    texts = [tokenizer.decode(row[own]) for row, own in zip(rollout.sequences, rollout.response_mask)]
    bits = -rollout.log_probs.double().sum(dim=1) / math.log(2)
    return Answers(question, setting, texts, [float(f"{each:.{DIGITS}g}") for each in bits.abs().tolist()])


def in_template(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int]]:
    """The ids of a first question in the form that the model was trained on, and the ids that end an answer."""
    template = find_template(tokenizer)
    return [*template.begin(template.default_system), *template.ask(text)], template.end_ids


def recipes(tokenizer: Tokenizer) -> dict[str, tuple]:
    """Name of a symptom -> how it is made in words, prompt, settings, ids that end it, tokens."""
    inside = {name: in_template(tokenizer, question.text) for name, question in QUESTIONS.items()}
    (spider, ends), (kite, _ends), (capital, _ends) = inside["spider"], inside["kite"], inside["capital"]
    bare = tokenizer.encode(QUESTIONS["spider"].text)
    return {
        "repeats": ("greedy, no template", tokenizer.encode(PROMPTS["dialogue"]), COLD, ends, 64),
        "ignores the instruction": ("greedy", kite, COLD, ends, 40),
        "wrong format": ("greedy", spider, COLD, ends, 20),
        "noise": ("temperature 1.8", kite, HOT, ends, 24),
        "runs on": ("greedy, no end-of-text id", capital, COLD, [], 40),
        "ends at once": ("greedy, no template", bare, COLD, ends, 20),
    }


def trace(
    model: Any, tokenizer: Tokenizer, made: str, prompt: list[int], settings: dict, ends: list[int], most: int
) -> dict:
    """What is stored of a text that goes wrong."""
    dice = torch.Generator().manual_seed(0)
    steps = generate_steps(model, torch.tensor([prompt]), most, eos_token_id=ends, generator=dice, **settings)
    found = record_trace(steps)
    numbers = {name: [float(f"{x:.{DIGITS}g}") for x in getattr(found, name)] for name in ("probs", "entropies")}
    text = tokenizer.decode(found.ids, show_control=True)
    return {"made": made, "text": text, "ids": found.ids, "ended": found.ended, **numbers}


if __name__ == "__main__":
    main()
