"""llm_gen.beyond beside transformers, and beside plain loops where transformers has no such method.

`python -m tests.parity_table` prints these lines too; test_parity_beyond.py asserts each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from law_of_speculation import ENUMERATED, RUNS, Parity, enumeration, largest
from parity_search import FAMILIES, PAD, beam, contrastive, groups, parity_model, ranking, reference, speculation
from plain_search import mirostat_by_loops
from torch import Tensor
from transformers.generation import logits_process as theirs

from llm_gen import filter_logits, generate_steps
from llm_gen.beyond import (
    Mirostat,
    ban_tokens,
    bias_logits,
    epsilon_cut,
    eta_cut,
    force_tokens,
    frequency_penalty,
    min_p,
    minimum_length,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
    top_n_sigma,
    typical,
)

ROWS, VOCABULARY, LENGTH = 200, 60, 12


def some_rows(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Texts (ROWS, LENGTH) and logits (ROWS, VOCABULARY) without ties."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, VOCABULARY, (ROWS, LENGTH), generator=generator)
    return ids, torch.randn(ROWS, VOCABULARY, generator=generator) * 2.5


def compare_rows(method: str, beside: str, ours: Callable, others: Callable) -> Parity:
    """Kept sets and probabilities of two functions (ids, logits) -> logits."""
    ids, logits = some_rows()
    one, two = ours(ids, logits), others(ids, logits.clone())
    same = (one.isfinite() == two.isfinite()).all(dim=-1).sum()
    return Parity(method, beside, int(same), ROWS, largest(one.softmax(dim=-1), two.softmax(dim=-1)))


def forced(batch: int, text: Tensor) -> list[int]:
    """What transformers may write at this place: the second of two forced tokens."""
    return [[5, 9][len(text) - LENGTH + 1]]


PLUGGED = {
    "repetition_penalty": (
        partial(repetition_penalty, penalty=1.3), theirs.RepetitionPenaltyLogitsProcessor(1.3)),
    "repetition_penalty, prompt left out": (
        partial(repetition_penalty, penalty=1.3, skip=7),
        theirs.RepetitionPenaltyLogitsProcessor(1.3, prompt_ignore_length=7)),
    "no_repeat_ngram": (partial(no_repeat_ngram, size=2), theirs.NoRepeatNGramLogitsProcessor(2)),
    "bias_logits": (
        partial(bias_logits, biases={2: 1.5, 5: -3}), theirs.SequenceBiasLogitsProcessor([[[2], 1.5], [[5], -3.0]])),
    "ban_tokens": (partial(ban_tokens, tokens=[1, 4]), theirs.SuppressTokensLogitsProcessor([1, 4])),
    "force_tokens": (
        partial(force_tokens, tokens=[5, 9], skip=LENGTH - 1), theirs.PrefixConstrainedLogitsProcessor(forced, 1)),
    "minimum_length": (
        partial(minimum_length, length=8, eos=[3], skip=5),
        theirs.MinNewTokensLengthLogitsProcessor(5, 8, [3], device="cpu")),
    "min_p": (partial(min_p, share=0.07), theirs.MinPLogitsWarper(0.07)),
    "typical": (partial(typical, mass=0.6), theirs.TypicalLogitsWarper(0.6)),
    "epsilon_cut": (partial(epsilon_cut, epsilon=0.02), theirs.EpsilonLogitsWarper(0.02)),
    "eta_cut": (partial(eta_cut, epsilon=0.05), theirs.EtaLogitsWarper(0.05)),
}  # fmt: skip


def count_by_loops(ids: Tensor, logits: Tensor, once: bool) -> Tensor:
    result = logits.clone()
    for row, text in enumerate(ids.tolist()):
        for token in range(VOCABULARY):
            result[row, token] -= 0.7 * (token in text if once else text.count(token))
    return result


def sigma_by_loops(ids: Tensor, logits: Tensor) -> Tensor:
    result = logits.clone()
    for row, values in enumerate(logits.double().tolist()):
        mean = sum(values) / len(values)
        sigma = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
        for token, value in enumerate(values):
            if value < max(values) - 1.2 * sigma:
                result[row, token] = -torch.inf
    return result


LOOPS = {
    "frequency_penalty": (partial(frequency_penalty, penalty=0.7), partial(count_by_loops, once=False)),
    "presence_penalty": (partial(presence_penalty, penalty=0.7), partial(count_by_loops, once=True)),
    "top_n_sigma": (partial(top_n_sigma, n=1.2), sigma_by_loops),
}


def mirostat() -> Parity:
    """The sets that Mirostat keeps along one text of 40 tokens."""
    logits = some_rows()[1][:40]
    tokens = logits.argmax(dim=-1).tolist()
    warper, found = Mirostat(2.0, rate=0.3), []
    for place in range(len(logits)):
        found.append(warper(torch.tensor([[0, *tokens[:place]]]), logits[place : place + 1]))
    one, two = torch.cat(found), mirostat_by_loops(logits, tokens, target=2.0, rate=0.3)
    same = int((one.isfinite() == two.isfinite()).all(dim=-1).sum())
    return Parity("Mirostat", "plain loop", same, len(logits), largest(one.softmax(-1), two.softmax(-1)))


def everything_in_order() -> Parity:
    """A penalty, temperature, top-k, top-p and four warpers together, each side in its own order, at every prompt."""
    model, other = parity_model("LLaMA"), reference("LLaMA")
    prompts = torch.randint(0, 31, (ROWS, 6), generator=torch.Generator().manual_seed(3))
    chain = [partial(min_p, share=0.03), partial(typical, mass=0.95), partial(epsilon_cut, epsilon=0.01)]
    step = next(generate_steps(
        model, prompts, 1, True, 0.8, processors=[partial(repetition_penalty, penalty=1.4)],
        warpers=[_top_k_then_p, *chain, partial(eta_cut, epsilon=0.02)],
    ))  # fmt: skip
    scores = other.generate(
        prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=1, do_sample=True, temperature=0.8, top_k=12,
        top_p=0.9, min_p=0.03, typical_p=0.95, epsilon_cutoff=0.01, eta_cutoff=0.02, repetition_penalty=1.4,
        output_scores=True, return_dict_in_generate=True, pad_token_id=PAD,
    ).scores[0]  # fmt: skip
    same = int((step.filtered.isfinite() == scores.isfinite()).all(dim=-1).sum())
    return Parity("all of them in order", "transformers", same, ROWS, largest(step.probs, scores.softmax(-1)))


def _top_k_then_p(ids: Tensor, logits: Tensor) -> Tensor:
    """`generate` takes top_k or top_p; both together go in as a warper."""
    return filter_logits(logits, top_k=12, top_p=0.9)


def lines() -> Iterator[Parity]:
    """Every line of the table, as it is computed."""
    for method, (ours, others) in PLUGGED.items():
        yield compare_rows(method, "transformers", ours, others)
    for method, (ours, others) in LOOPS.items():
        yield compare_rows(method, "plain loop", ours, others)
    yield mirostat()
    yield everything_in_order()
    yield from map(beam, FAMILIES)
    yield groups()
    yield contrastive()
    yield ranking()
    yield speculation()
    for run in RUNS:
        yield enumeration(*run)


def print_table() -> None:
    """The lines, and under them what the enumeration proves."""
    print(f"\n| method | beside | sets or texts equal | largest difference |\n|{' --- |' * 4}")
    worst = 0.0
    for line in lines():
        print(f"| {line.method} | {line.beside} | {line.same} of {line.compared} | {line.difference:.1e} |", flush=True)
        worst = max(worst, line.difference if line.beside == ENUMERATED else 0.0)
    print(f"\nLargest deviation of speculative sampling from the target's law, over every run: {worst:.1e}")
