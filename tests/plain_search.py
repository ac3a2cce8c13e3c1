"""Some methods once more as plain loops that compute everything anew: slow, and easy to believe."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def contrastive_by_loops(model: Any, prompt: list[int], steps: int, top_k: int, alpha: float) -> list[int]:
    """Contrastive search for one prompt: for every candidate a pass over the whole text, or what fits the context."""
    text = list(prompt)
    for _ in range(steps):
        probs = model(torch.tensor([text[-model.max_seq_len :]]))[0, -1].double().softmax(-1).tolist()
        candidates = sorted(range(len(probs)), key=lambda token: (-probs[token], token))[:top_k]
        best, chosen = -math.inf, None
        for token in candidates:
            states = model.hidden(torch.tensor([[*text, token][-model.max_seq_len :]]))[0].double()
            cosines = [float(state @ states[-1] / state.norm() / states[-1].norm()) for state in states[:-1]]
            score = (1 - alpha) * probs[token] - alpha * max(cosines, default=-1.0)
            if score > best:
                best, chosen = score, token
        text.append(chosen)
    return text


@torch.no_grad()
def groups_by_loops(
    model: Any, prompt: list[int], steps: int, groups: int, diversity: float
) -> tuple[list[float], list[list[int]]]:
    """Diverse beam search with one beam a group: means of the log-probs less deductions, and texts, best first."""
    texts, totals = [list(prompt) for _ in range(groups)], [0.0] * groups
    for _ in range(steps):
        taken: list[int] = []
        for group, text in enumerate(texts):
            log_probs = model(torch.tensor([text]))[0, -1].double().log_softmax(-1).tolist()
            values = [value - diversity * taken.count(token) for token, value in enumerate(log_probs)]
            token = values.index(max(values))
            totals[group] += values[token]
            taken.append(token)
            text.append(token)
    ranked = sorted(zip(totals, texts), key=lambda pair: -pair[0])
    return [total / steps for total, _text in ranked], [text for _total, text in ranked]


@torch.no_grad()
def best_of_by_loops(model: Any, prompt_len: int, text: list[int], eos: list[int]) -> float:
    """The mean log-prob of what comes after the prompt, up to the first eos, by one pass over the text."""
    new = text[prompt_len:]
    end = next((place + 1 for place, token in enumerate(new) if token in eos), len(new))
    log_probs = model(torch.tensor([text[: prompt_len + end]]))[0].double().log_softmax(-1)
    return sum(log_probs[prompt_len - 1 + place, token].item() for place, token in enumerate(new[:end])) / end


def mirostat_by_loops(logits: Tensor, tokens: list[int], target: float, rate: float) -> Tensor:
    """What Mirostat 2 keeps at each place, logits (T, V), if these tokens are drawn one after another."""
    mu, result = 2 * target, logits.clone()
    for place, row in enumerate(logits.double()):
        surprise = [-math.log2(share) for share in row.softmax(-1).tolist()]
        likeliest = surprise.index(min(surprise))
        for token, bits in enumerate(surprise):
            if bits > mu and token != likeliest:
                result[place, token] = -torch.inf
        mu -= rate * (surprise[tokens[place]] - target)
    return result
