"""All continuations compete in one list: beams are not lanes, and a good one may take every place.

Sums of logs are products of probabilities, so a total is the log-probability of the whole new text. Laid out flat, the
place of a continuation is beam * V + token, and a stable sort settles ties by the lower place: the better beam first,
then the lower id. `llm_gen.beyond.beam_search` does this, and looks after texts that end.
"""

import torch
from torch import Tensor

from llm_gen.beyond.beams import Beams, Plan
from solutions.vocabulary import Check, Logits, Reals, fails

Step = tuple[Tensor, Tensor, Tensor]


def beam_step(totals: Tensor, log_probs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(parents, tokens, new totals), each (W,), from totals (W,) and log_probs (W, V)."""
    width, vocab = log_probs.shape
    sums = (totals[:, None] + log_probs).flatten()
    ranked, places = sums.sort(descending=True, stable=True)
    best = places[:width]
    return best // vocab, best % vocab, ranked[:width]


check_steps = Check(
    beam_step,
    totals=Reals("W"),
    log_probs=Logits("W", "V"),
    examples=[
        (torch.tensor([-1.0, -2.0]), torch.tensor([[-1.0, -4.0, -3.0], [-0.5, -1.5, -4.0]])),
        (torch.tensor([-0.5, -4.0]), torch.tensor([[-1.0, -2.0, -3.0], [-0.5, -0.5, -0.5]])),
        (torch.tensor([-3.0, -1.0]), torch.tensor([[-1.0, -1.0, -2.0], [-3.0, -3.0, -3.0]])),
        (torch.tensor([0.0, 0.0]), torch.tensor([[-2.0, -1.0 - 2**-22], [-1.0, -3.0]])),
        (torch.tensor([5.0, 0.0, 0.0, 0.0, 0.0, 0.0]), torch.zeros(6, 8)),
    ],
    valid=lambda totals, log_probs: totals.dtype == log_probs.dtype,
)
not_checked = "speed, texts that end"


def ranked_by(scores: Tensor, totals: Tensor, log_probs: Tensor) -> Step:
    """The right totals of the continuations that have the largest scores (W, V)."""
    width, vocab = log_probs.shape
    best = scores.flatten().sort(descending=True, stable=True).indices[:width]
    return best // vocab, best % vocab, (totals[:, None] + log_probs).flatten()[best]


def wrong_lanes(totals: Tensor, log_probs: Tensor) -> Step:
    """lets every beam go on with its own best token, so that none can die and none can go on twice"""
    return torch.arange(len(totals)), log_probs.argmax(dim=-1), totals + log_probs.amax(dim=-1)


def wrong_each_its_own(totals: Tensor, log_probs: Tensor) -> Step:
    """takes the best token of every beam and then ranks these, although a good beam may take several places"""
    parents, tokens, sums = wrong_lanes(totals, log_probs)
    order = sums.sort(descending=True, stable=True).indices
    return parents[order], tokens[order], sums[order]


def wrong_forgets_the_past(totals: Tensor, log_probs: Tensor) -> Step:
    """ranks by the newest token alone, without the total so far"""
    return ranked_by(log_probs, totals, log_probs)


def wrong_total_of_the_step(totals: Tensor, log_probs: Tensor) -> Step:
    """gives the log-prob of the newest token as the new total"""
    parents, tokens, _total = beam_step(totals, log_probs)
    return parents, tokens, log_probs[parents, tokens]


def wrong_best_beam_only(totals: Tensor, log_probs: Tensor) -> Step:
    """goes on with the best beam alone, as far as it has tokens"""
    best = torch.full_like(log_probs, -torch.inf)
    beam = totals.argmax()
    best[beam] = log_probs[beam]
    return ranked_by(best, totals, log_probs)


def wrong_divides_by_width(totals: Tensor, log_probs: Tensor) -> Step:
    """divides the flat place by the number of beams instead of the number of tokens"""
    width, vocab = log_probs.shape
    parents, tokens, total = beam_step(totals, log_probs)
    return (parents * vocab + tokens) // width, (parents * vocab + tokens) % width, total


def wrong_swapped(totals: Tensor, log_probs: Tensor) -> Step:
    """gives tokens and parents the wrong way round"""
    parents, tokens, total = beam_step(totals, log_probs)
    return tokens, parents, total


def wrong_worst(totals: Tensor, log_probs: Tensor) -> Step:
    """sorts upwards and keeps the worst"""
    return ranked_by(-(totals[:, None] + log_probs), totals, log_probs)


def wrong_multiplies(totals: Tensor, log_probs: Tensor) -> Step:
    """multiplies log-probs; probabilities are multiplied, their logarithms added"""
    width, vocab = log_probs.shape
    sums, places = (totals[:, None] * log_probs).flatten().sort(descending=True, stable=True)
    return places[:width] // vocab, places[:width] % vocab, sums[:width]


def wrong_ties_to_the_higher(totals: Tensor, log_probs: Tensor) -> Step:
    """gives ties to the later beam and the higher id"""
    width, vocab = log_probs.shape
    sums, places = (totals[:, None] + log_probs).flatten().flip(0).sort(descending=True, stable=True)
    best = width * vocab - 1 - places[:width]
    return best // vocab, best % vocab, sums[:width]


def wrong_not_ranked(totals: Tensor, log_probs: Tensor) -> Step:
    """keeps the right ones, but in the order of the old beams"""
    vocab = log_probs.shape[1]
    parents, tokens, total = beam_step(totals, log_probs)
    order = (parents * vocab + tokens).argsort()
    return parents[order], tokens[order], total[order]


@fails("shape")
def wrong_all(totals: Tensor, log_probs: Tensor) -> Step:
    """ranks all continuations and forgets to keep W of them"""
    vocab = log_probs.shape[1]
    sums, places = (totals[:, None] + log_probs).flatten().sort(descending=True, stable=True)
    return places // vocab, places % vocab, sums


@fails("changed input")
def wrong_in_place(totals: Tensor, log_probs: Tensor) -> Step:
    """adds the totals into the caller's log_probs"""
    log_probs += totals[:, None]
    return beam_step(torch.zeros_like(totals), log_probs)


def right_loop(totals: Tensor, log_probs: Tensor) -> Step:
    width, vocab = log_probs.shape
    pairs = [(beam, token) for beam in range(width) for token in range(vocab)]
    sums = {pair: (totals[pair[0]] + log_probs[pair]).item() for pair in pairs}
    best = sorted(pairs, key=lambda pair: -sums[pair])[:width]
    parents, tokens = (torch.tensor(part) for part in zip(*best))
    return parents, tokens, torch.tensor([sums[pair] for pair in best], dtype=log_probs.dtype)


def right_nested(totals: Tensor, log_probs: Tensor) -> Step:
    width = len(totals)
    each = (totals[:, None] + log_probs).sort(dim=-1, descending=True, stable=True)
    sums, tokens = each.values[:, :width], each.indices[:, :width]
    best = sums.flatten().sort(descending=True, stable=True).indices[:width]
    return best // sums.shape[1], tokens.flatten()[best], sums.flatten()[best]


def right_library(totals: Tensor, log_probs: Tensor) -> Step:
    beams = Beams(Plan(len(totals), 1, 0.0, 1.0, False, (), 2))
    beams.totals = totals.double().clone()  # the search adds to its totals in place
    parents, tokens = beams.extend(torch.zeros((len(totals), 1)).long(), log_probs.double(), 1)
    return parents, tokens, beams.totals.to(log_probs.dtype)
