"""Points for a verdict. Only an answer that was received and compared earns any."""

from __future__ import annotations

from exercises.grader.verdict import NOT_ATTEMPTED, Verdict

POINTS = 10.0  # for each exercise
BASIC = "basic"
WEIGHTS = {BASIC: 2, "shapes": 1, "edges": 1}


def points(verdict: Verdict) -> float:
    """Out of POINTS. A function that is not passed gets half for the ordinary inputs, and then a quarter each for
    awkward shapes and awkward values, if it is right on all inputs of the group; nothing without the ordinary ones. A
    table gets the share of its right entries, unless it says the same everywhere."""
    if verdict.passed:
        return POINTS
    if verdict.status == NOT_ATTEMPTED:
        return 0.0
    share = _share_of_entries(verdict) if verdict.entries else _share_of_groups(verdict)
    return round(POINTS * share, 2)


def _share_of_groups(verdict: Verdict) -> float:
    whole = {group: right == total for group, (right, total) in verdict.groups.items()}
    if not whole.get(BASIC):
        return 0.0
    weights = {group: WEIGHTS.get(group, 1) for group in whole}
    return sum(weights[group] for group in whole if whole[group]) / sum(weights.values())


def _share_of_entries(verdict: Verdict) -> float:
    filled = [entry.got for entry in verdict.entries if entry.filled]
    if all(repr(value) == repr(filled[0]) for value in filled):
        return 0.0
    return verdict.right / verdict.total
