"""Searches beside transformers, or beside plain loops where it has none: whole texts and their scores."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import torch
from law_of_speculation import Parity, largest
from plain_search import best_of_by_loops, contrastive_by_loops, groups_by_loops
from stubs import FAMILIES, tiny
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from llm_gen import DecoderLM
from llm_gen.beyond import beam_search, best_of, contrastive_search, prompt_lookup, speculative_generate
from llm_gen.weights.hugging_face import save_hugging_face

PROMPTS = torch.tensor([[3, 1, 4, 1], [9, 2, 6, 5]])
PAD = 30  # transformers takes a pad of 0 for none and pads with the eos
BEAMS = [  # width, length penalty, early stopping, eos
    (2, 1.0, False, 3),
    (4, 0.0, "never", [3, 7, 9]),
    (4, 2.0, "never", [3, 7]),
    (3, 1.0, True, [3, 7, 9, 11]),
    (2, -1.0, False, [3, 7, 9]),
    (3, 1.0, False, None),
]


def parity_model(family: str) -> DecoderLM:
    # On the CPU transformers' experts take only widths that are multiples of 16 bytes.
    return tiny(family, mlp_dim=64) if family == "Mixtral" else tiny(family)


@cache
def reference(family: str) -> PreTrainedModel:
    with tempfile.TemporaryDirectory() as folder:
        save_hugging_face(Path(folder) / "model", parity_model(family))
        return AutoModelForCausalLM.from_pretrained(Path(folder) / "model", attn_implementation="eager").eval()


def beam(family: str) -> Parity:
    """Texts and scores of two results for two prompts under each of BEAMS."""
    model, other, same, compared, differences = parity_model(family), reference(family), 0, 0, []
    for width, length_penalty, early, eos in BEAMS:
        found = beam_search(
            model, PROMPTS, 10, width, length_penalty=length_penalty, early_stopping=early, results=2,
            eos_token_id=eos, pad_token_id=PAD,
        )  # fmt: skip
        wanted = other.generate(
            PROMPTS, attention_mask=torch.ones_like(PROMPTS), max_new_tokens=10, num_beams=width, do_sample=False,
            length_penalty=length_penalty, early_stopping=early, eos_token_id=eos, pad_token_id=PAD,
            num_return_sequences=2, output_scores=True, return_dict_in_generate=True,
        )  # fmt: skip
        ours, others = (padded(part) for part in (found.sequences.flatten(0, 1), wanted.sequences))
        same, compared = same + int((ours == others).all(dim=-1).sum()), compared + len(ours)
        differences.append(largest(found.scores.flatten(), wanted.sequences_scores))
    return Parity(f"beam_search, {family}", "transformers", same, compared, max(differences))


def padded(sequences: Tensor, width: int = 14) -> Tensor:
    return torch.nn.functional.pad(sequences, (0, width - sequences.shape[-1]), value=PAD)


def speculation() -> Parity:
    """Greedy text of every family, drafted by another model and by prompt lookup, beside transformers' own."""
    same = compared = 0
    for family in FAMILIES:
        x, model = PROMPTS[:1], parity_model(family)
        expected = reference(family).generate(x, attention_mask=torch.ones_like(x), max_new_tokens=40, do_sample=False)
        for draft in (tiny(family, seed=5), prompt_lookup):
            found = speculative_generate(model, draft, x, 40, False, guesses=3).sequences
            same, compared = same + int(torch.equal(found, expected)), compared + 1
    return Parity("speculative_generate, greedy", "transformers", same, compared, 0.0)


def contrastive() -> Parity:
    """Texts of every family, past the context too, beside a loop that reads everything anew (transformers has none)."""
    same = compared = 0
    for family in FAMILIES:
        model = tiny(family, max_len=16)
        for prompt in PROMPTS[:, :3]:
            found = contrastive_search(model, prompt[None], 16, top_k=3, alpha=0.5)[0].tolist()
            same += found == contrastive_by_loops(model, prompt.tolist(), 16, top_k=3, alpha=0.5)
            compared += 1
    return Parity("contrastive_search", "plain loop", same, compared, 0.0)


def groups() -> Parity:
    """Diverse groups, which transformers no longer has, beside a loop for groups of one beam."""
    same, compared, differences = 0, 0, []
    for family in FAMILIES:
        for diversity in (0.5, 4.0):
            x = PROMPTS[:1]
            found = beam_search(tiny(family), x, 6, 4, groups=4, diversity=diversity, results=4)
            scores, texts = groups_by_loops(tiny(family), x[0].tolist(), 6, 4, diversity)
            same, compared = same + int(found.sequences[0].tolist() == texts), compared + 1
            differences.append(largest(found.scores[0], torch.tensor(scores)))
    return Parity("beam_search, diverse groups", "plain loop", same, compared, max(differences))


def ranking() -> Parity:
    """The order of best_of and its scores, beside a pass over each text."""
    same, compared, differences = 0, 0, []
    for family in FAMILIES:
        dice = torch.Generator().manual_seed(0)
        found = best_of(tiny(family), PROMPTS, 12, 5, 1.3, eos_token_id=[3, 8], pad_token_id=PAD, generator=dice)
        for texts, scores in zip(found.sequences.tolist(), found.scores):
            wanted = [best_of_by_loops(tiny(family), PROMPTS.shape[1], text, [3, 8]) for text in texts]
            same, compared = same + int(sorted(wanted, reverse=True) == wanted), compared + 1
            differences.append(largest(scores, torch.tensor(wanted)))
    return Parity("best_of", "plain loop", same, compared, max(differences))
