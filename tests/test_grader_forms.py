"""Values in another form than is asked for, and wrong ones that say by themselves what went wrong."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction

import pytest

from exercises.grader import relations
from exercises.grader.answers import Given
from exercises.grader.catalog import all_exercises, find
from exercises.grader.judge import judge
from exercises.grader.verdict import WRONG
from solutions.vocabulary import Choice

RATIO = {"temperature 1": 2.718, "temperature 0.5": 7.389, "temperature 2": 1.649}
NUCLEI = find("nuclei").reference()
LETTERS = [each for each in all_exercises() if isinstance(each.checks[0], Choice)]
TABLES_OF_LETTERS = [each.name for each in LETTERS if isinstance(each.reference(), dict)]
ALL_END, TWO_TASKS = find("all_end").reference(), find("two_tasks").reference()


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("ratio", {key: str(number) for key, number in RATIO.items()}, "leave out the quotes"),
        ("ratio", RATIO | {"temperature 1": (2, 718)}, "written with a point"),
        ("ratio", RATIO | {"temperature 1": [2.718]}, "One number is asked for in 'temperature 1', and a list came"),
        ("ratio", RATIO | {"temperature 1": float("nan")}, "nan is no answer"),
        ("ratio", {key: round(number, 1) for key, number in RATIO.items()}, "rounded"),
        ("ratio", {key: 100 * number for key, number in RATIO.items()}, "per cent"),
        ("all_end", ALL_END | {"steps of the loop": 3.5}, "is asked for in 'steps of the loop', and 3.5 came."),
        ("all_end", ALL_END | {"steps of the loop": True}, "in 'steps of the loop', and True or False (bool) came."),
        ("two_tasks", TWO_TASKS | {"the beaten one": 1}, "A text is asked for in 'the beaten one', in quotes"),
        ("tau_nucleus", 1.6, "rounded"),
        ("tau_nucleus", "1.64", "A number is asked for in your answer"),
        ("nuclei", NUCLEI | {"ranks at 0.5": 2}, "A set such as {1, 2} is asked for in 'ranks at 0.5'"),
        ("nuclei", NUCLEI | {"ranks at 0.5": {"1", "2"}}, "Each item of the set"),
        ("tie_limits", {"temperature 1": [0.155, 0.422, 0.422], "to 0": [0, 0.5, 0.5], "to infinity": [1 / 3] * 3},
         "in other places"),
        ("what_tau_does", dict.fromkeys(find("what_tau_does").reference(), "sharper"), "'sharper' came"),
        ("which_p_is_greedy", "abc", 'such as ["a", "b"]'),
        ("which_p_is_greedy", ["b", "c"], "2 of your letters fit, 0 do not; 1 more would."),
    ],
)  # fmt: skip
def test_values_in_another_form_say_which_is_asked_for(name, value, advice):
    verdict = judge(find(name), Given(value))
    assert verdict.status == WRONG and advice in " ".join(verdict.likely)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("ratio", RATIO | {"temperature .5": 1.0}, "Keys that are not asked for: 'temperature .5'."),
        ("ratio", {"temperature 1": 1.0}, "Keys that are asked for and missing: 'temperature 0.5', 'temperature 2'."),
        ("ratio", [1.0], "'temperature 2' is asked for, a list came."),
        (
            "nuclei",
            NUCLEI | {"probabilities at 0.3": [1.0]},
            "In 'probabilities at 0.3': 4 entries are asked for, 1 came.",
        ),
        ("ratio", lambda: RATIO, "A function came, and what it gives is asked for."),
    ],
)
def test_tables_in_another_form_say_which_is_asked_for(name, value, problem):
    assert judge(find(name), Given(value)).problem.endswith(problem)


def test_a_row_that_agrees_by_chance_in_one_entry_is_not_taken_for_a_known_mistake():
    limits = find("tie_limits").reference() | {"to infinity": [0.0, 0.0, 0.0]}
    verdict = judge(find("tie_limits"), Given(limits))
    assert verdict.mistakes == ()
    assert verdict.likely == ("Shares of a whole sum to 1, and those in 'to infinity' do not.",)
    shares = {"temperature 1": 0.665, "temperature 0.5": 0.867, "temperature 2": 0.506}
    assert judge(find("ratio"), Given(shares)).mistakes == ()


@pytest.mark.parametrize(
    ("got", "words"),
    [
        ([0.25, 0.123], "rounded"),
        ([1 / 0.25, 1 / 0.12345], "upside down"),
        ([math.log(0.25), math.log(0.12345)], "logarithms"),
        ([math.exp(0.25), math.exp(0.12345)], "a logarithm missing"),
        ([0.25 * math.log(2), 0.12345 * math.log(2)], "in nats"),
        ([0.25 / math.log(2), 0.12345 / math.log(2)], "in bits"),
        ([0.0025, 0.0012345], "per cent are asked for"),
        ([0.0, 0.0], ""),
        ([math.nan, 0.12345], ""),
        ([0.7, 0.3], ""),
    ],
)
def test_relations_of_numbers(got, words):
    said = relations.in_words([*zip([0.25, 0.12345], got)])
    assert words in said and bool(words) == bool(said)


def test_a_whole_number_in_a_table_may_be_a_float_and_a_wrong_one_is_still_known():
    assert judge(find("all_end"), Given({key: float(value) for key, value in ALL_END.items()})).passed
    wrong = find("all_end").wrong["wrong_forgets_the_prompt"]()
    verdict = judge(find("all_end"), Given({key: float(value) for key, value in wrong.items()}))
    assert verdict.mistakes == ("wrong_forgets_the_prompt",) and "whole number" not in " ".join(verdict.likely)


def test_numbers_sets_and_dicts_of_the_standard_library_are_what_they_hold():
    exact = {key: Fraction(number) for key, number in find("ratio").reference().items()}
    assert judge(find("ratio"), Given(OrderedDict(reversed(exact.items())))).passed
    assert judge(find("ratio"), Given(defaultdict(float, {key: Decimal(float(x)) for key, x in exact.items()}))).passed
    frozen = {key: frozenset(value) if isinstance(value, set) else value for key, value in NUCLEI.items()}
    assert judge(find("nuclei"), Given(frozen)).passed
    for strange in (Fraction(10**5000), Decimal("sNaN")):
        assert "no float can hold" in judge(find("tau_nucleus"), Given(strange)).problem


@pytest.mark.parametrize("written", ["{}", " {} ", "{})", "({})", "{}.", "{}:"])
def test_a_letter_may_stand_as_it_stands_before_its_option(written):
    for name in ("five_steps", "which_p_is_greedy"):
        letters = [written.format(letter).upper() for letter in find(name).reference()]
        assert judge(find(name), Given(letters)).passed


def test_a_letter_that_is_none_of_the_options_is_told_in_an_order_too():
    verdict = judge(find("five_steps"), Given(["c", "e", "a", "d", "z"]))
    assert verdict.likely[0] == "One of the letters a, b, c, d, e is asked for, in quotes, and 'z' came."


def test_a_text_in_a_table_may_have_capital_letters():
    letters = find("two_tasks").reference()
    capitals = {key: value.upper() if isinstance(value, str) else value for key, value in letters.items()}
    assert judge(find("two_tasks"), Given(capitals)).passed


@pytest.mark.parametrize("name", TABLES_OF_LETTERS)
@pytest.mark.parametrize("open_entry", [..., None])
def test_letters_that_are_right_but_not_complete_are_counted(name, open_entry):
    right = find(name).reference()
    verdict = judge(find(name), Given(right | {next(iter(right)): open_entry}))
    assert verdict.status == WRONG and not verdict.likely
