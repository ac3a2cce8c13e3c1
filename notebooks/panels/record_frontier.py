"""Measure decoding settings for the frontier: `python -m notebooks.panels.record_frontier` (about three minutes).

For each setting `tiny` tells as many stories from the same seeds, the judge reads them, and a few are kept.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from llm_gen.beyond import min_p
from llm_gen.generation import generate_steps
from llm_gen.model import DecoderLM
from llm_gen.story import Truth, judge
from llm_gen.story.metrics import Estimate, distinct_in_groups, mean_of, share_of
from llm_gen.story.report import held_out
from llm_gen.story.tell import read_row, tell
from llm_gen.text import _
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer
from notebooks.panels.measured import FRONTIER_FILE, GRAMMAR
from notebooks.panels.reshaping import GREEDY

TEXTS, GROUP, KEPT, DECIMALS = 64, 16, 6, 4
TEMPERATURES = (0.3, 0.7, 1.0, 1.2, 1.6, 2.0, 2.5)
CUTS: dict[str, dict[str, Any]] = {
    "off": {},
    "top-p 0.95": {"top_p": 0.95},
    "top-p 0.90": {"top_p": 0.9},
    "min-p 0.10": {"warpers": [partial(min_p, share=0.1)]},
}


def main(texts: int = TEXTS) -> None:
    model, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    rows = [row_of(GREEDY, "off", *greedy_texts(model, tokenizer))]
    for cut in CUTS:
        for tau in TEMPERATURES:
            rows.append(row_of(tau, cut, *sampled_texts(model, tokenizer, tau, cut, texts)))
            print(_("{tau} {cut}: {share:.0%} true").format(tau=tau, cut=cut, share=rows[-1]["true"][0]), flush=True)
    own = held_out(texts)
    grammar = row_of(GRAMMAR, "off", own, grammar_bits(Truth(tokenizer), own))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = f'{{"grammar": {json.dumps(grammar, ensure_ascii=False)},\n"settings": [\n{lines}\n]}}\n'
    FRONTIER_FILE.write_text(text, encoding="utf-8")


def sampled_texts(
    model: DecoderLM, tokenizer: Tokenizer, tau: float, cut: str, count: int
) -> tuple[list[str], list[float]]:
    """Stories from the empty prompt and the bits of each; story i has the same seed under every setting."""
    start = torch.tensor([tokenizer.encode("")]).expand(count, -1)
    dice = [torch.Generator().manual_seed(i) for i in range(count)]
    room, bits, columns = model.max_seq_len - start.shape[1], torch.zeros(count, dtype=torch.float64), [start]
    for step in generate_steps(
        model, start, room, True, tau, eos_token_id=tokenizer.eos_id, generator=dice, **CUTS[cut]
    ):
        columns.append(step.tokens)
        bits -= step.log_probs.double() / math.log(2)
    rows = torch.cat(columns, dim=1).tolist()
    return [read_row(tokenizer, row, start.shape[1]) for row in rows], bits.tolist()


def greedy_texts(model: DecoderLM, tokenizer: Tokenizer) -> tuple[list[str], list[float]]:
    """Greedy knows one story, so however many are asked for, they are all the same, and hold no bit."""
    return tell(model, tokenizer, 1, do_sample=False), [0.0]


def grammar_bits(truth: Truth, texts: Sequence[str]) -> list[float]:
    """-log2 of the probability with which the grammar tells each of its own stories."""
    ids = [[*truth.tokenizer.encode(text), truth.tokenizer.eos_id] for text in texts]
    return [-truth.log_prob(story) / math.log(2) for story in ids]


def row_of(tau: float | str, cut: str, texts: Sequence[str], bits: Sequence[float]) -> dict[str, Any]:
    """What is stored of a setting; each measure with its standard error."""
    verdicts = [judge(text) for text in texts]
    alone = len(texts) == 1
    kept = zip(texts[:KEPT], verdicts)
    return {
        "tau": tau,
        "cut": cut,
        "texts": len(texts),
        "true": pair(share_of(verdict.consistent for verdict in verdicts)),
        "grammatical": pair(share_of(verdict.grammatical for verdict in verdicts)),
        "diversity": pair(mean_of(bits * 2 if alone else bits)),
        "pairs": pair(distinct_in_groups([*texts] * 2 * GROUP if alone else texts, GROUP)),
        "stories": [[text, verdict.character, verdict.reason] for text, verdict in kept],
    }


def pair(estimate: Estimate) -> list[float]:
    return [round(estimate.value, DECIMALS), round(estimate.error, DECIMALS)]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
