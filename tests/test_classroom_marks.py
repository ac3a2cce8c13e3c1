"""Points for a verdict: partial credit by groups of inputs, nothing for constants."""

from __future__ import annotations

import pytest

from exercises.classroom.marks import POINTS, points
from exercises.grader.answers import Given
from exercises.grader.audit import universal_wrong
from exercises.grader.catalog import all_exercises, find
from exercises.grader.judge import groups_of, judge
from exercises.grader.verdict import NOT_ATTEMPTED, WRONG, Verdict


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.name)
def test_constants_and_arguments_earn_nothing(exercise):
    """None, zeros, a constant, an argument as it is: nothing, although some inputs come out right by chance."""
    for name, wrong in universal_wrong(exercise).items():
        check = exercise.checks[0]
        observed = [check.observe(wrong, case.args) for case in check.cases]
        found = [check.difference(expected, got) for expected, got in zip(check.answers, observed)]
        verdict = Verdict(exercise.name, WRONG, groups=groups_of(check.cases, found))
        assert points(verdict) == 0, name


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"basic": (9, 10), "shapes": (5, 5), "edges": (5, 5)}, 0),
        ({"basic": (10, 10), "shapes": (0, 5), "edges": (4, 5)}, 5),
        ({"basic": (10, 10), "shapes": (5, 5), "edges": (4, 5)}, 7.5),
        ({"basic": (10, 10), "edges": (0, 5)}, 6.67),
        ({"shapes": (5, 5)}, 0),
        ({}, 0),
    ],
)
def test_points_by_groups_of_inputs(groups, expected):
    assert points(Verdict("e05_top_p", WRONG, groups=groups)) == expected
    assert points(Verdict("e05_top_p", NOT_ATTEMPTED, groups=groups)) == 0


def test_a_table_earns_the_share_of_its_right_entries_but_not_by_repeating_one():
    exercise = find("nuclei")
    right = exercise.reference()
    half = right | {"ranks at 0.75": {4}, "probabilities at 0.75": [0.1, 0.2, 0.3, 0.4]}
    assert points(judge(exercise, Given(half))) == pytest.approx(POINTS * 10 / 15, abs=0.01)
    zeros = {key: 0 if "ranks" in key else [0, 0, 0, 0] for key in right}
    assert points(judge(exercise, Given(zeros))) == 0
