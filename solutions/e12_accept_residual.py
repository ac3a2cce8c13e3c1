"""Accepted mass plus residual mass is the target: draft * min(1, target / draft) is min(draft, target).

What is missing to the target is max(target - draft, 0), and it is drawn just as often as something is refused.

So the text is distributed as if the large model had written it alone (arXiv:2211.17192), however bad the
draft is; a bad draft only costs time. The residual is a distribution already: filtering it again would spoil
the proof.
"""

import torch
from torch import Tensor

from solutions.vocabulary import Check, Probs, fails


def accept_and_residual(target: Tensor, draft: Tensor) -> tuple[Tensor, Tensor]:
    """(acceptance, residual), each (B, V), from the distributions target and draft (B, V)."""
    acceptance = torch.where(draft > 0, target / draft, 1.0).clamp(max=1)
    missing = (target - draft).clamp(min=0)
    total = missing.sum(dim=-1, keepdim=True)
    residual = torch.where(total > 0, missing / total, target)
    return acceptance, residual


check_rows = Check(
    accept_and_residual,
    target=Probs("B", "V"),
    draft=Probs("B", "V"),
    examples=[
        (torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[0.25, 0.5, 0.25]])),
        (torch.tensor([[0.5, 0.5], [0.75, 0.25]]), torch.tensor([[0.5, 0.5], [0.25, 0.75]])),
        (torch.tensor([[0.25, 0.75, 0.0]]), torch.tensor([[0.0, 0.5, 0.5]])),
        (torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.25, 0.75, 0.0]])),
        (torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.5 - 2**-16, 0.5, 2**-16]])),
    ],
    valid=lambda target, draft: target.dtype == draft.dtype,
)
equivalent = {
    "acceptance = torch.where(draft > 0, target / draft, 1.0).clamp(max=1) -> "
    "acceptance = torch.where(draft > 0, target / draft, 2.0).clamp(max=1)": "the clamp makes it 1",
}
not_checked = "speed, the draw itself"

Pair = tuple[Tensor, Tensor]


def wrong_not_clamped(target: Tensor, draft: Tensor) -> Pair:
    """lets the acceptance exceed 1"""
    return torch.where(draft > 0, target / draft, 1.0), accept_and_residual(target, draft)[1]


def wrong_upside_down(target: Tensor, draft: Tensor) -> Pair:
    """divides draft by target"""
    acceptance = torch.where(draft > 0, draft / target, 1.0).clamp(max=1)
    return acceptance, accept_and_residual(target, draft)[1]


@fails("nan")
def wrong_zero_by_zero(target: Tensor, draft: Tensor) -> Pair:
    """divides by a draft of 0, which gives nan where the target is 0 too"""
    return (target / draft).clamp(max=1), accept_and_residual(target, draft)[1]


@fails("nan")
def wrong_equal_distributions(target: Tensor, draft: Tensor) -> Pair:
    """divides by a residual of 0 when the two distributions are equal"""
    missing = (target - draft).clamp(min=0)
    return accept_and_residual(target, draft)[0], missing / missing.sum(dim=-1, keepdim=True)


def wrong_residual_not_renormalised(target: Tensor, draft: Tensor) -> Pair:
    """does not renormalise the residual"""
    missing = (target - draft).clamp(min=0)
    return accept_and_residual(target, draft)[0], torch.where(missing.sum(dim=-1, keepdim=True) > 0, missing, target)


def wrong_residual_is_target(target: Tensor, draft: Tensor) -> Pair:
    """draws again from the target after a refusal, which gives too much to tokens that the draft likes"""
    return accept_and_residual(target, draft)[0], target.clone()


def wrong_residual_of_draft(target: Tensor, draft: Tensor) -> Pair:
    """takes max(draft - target, 0) for the residual"""
    missing = (draft - target).clamp(min=0)
    total = missing.sum(dim=-1, keepdim=True)
    return accept_and_residual(target, draft)[0], torch.where(total > 0, missing / total, target)


def wrong_absolute(target: Tensor, draft: Tensor) -> Pair:
    """takes the absolute difference for the residual"""
    missing = (target - draft).abs()
    total = missing.sum(dim=-1, keepdim=True)
    return accept_and_residual(target, draft)[0], torch.where(total > 0, missing / total, target)


def wrong_never_drafted(target: Tensor, draft: Tensor) -> Pair:
    """gives a token that is never drafted the acceptance 0"""
    acceptance, residual = accept_and_residual(target, draft)
    return acceptance * (draft > 0), residual


@fails("type")
def wrong_acceptance_only(target: Tensor, draft: Tensor) -> Tensor:
    """gives the acceptance and forgets the residual"""
    return accept_and_residual(target, draft)[0]


def right_overlap(target: Tensor, draft: Tensor) -> Pair:
    overlap = torch.minimum(target, draft)
    acceptance = torch.ones_like(target)
    acceptance[draft > 0] = overlap[draft > 0] / draft[draft > 0]
    refused = 1 - overlap.sum(dim=-1, keepdim=True)
    return acceptance, torch.where(refused > 1e-6, (target - overlap) / refused, target)


def right_loop(target: Tensor, draft: Tensor) -> Pair:
    acceptance, residual = torch.ones_like(target), target.clone()
    for b in range(len(target)):
        left = [max(p - q, 0.0) for p, q in zip(target[b].tolist(), draft[b].tolist())]
        for i, (p, q) in enumerate(zip(target[b].tolist(), draft[b].tolist())):
            acceptance[b, i] = min(1.0, p / q) if q > 0 else 1.0
            residual[b, i] = left[i] / sum(left) if sum(left) > 0 else p
    return acceptance, residual
