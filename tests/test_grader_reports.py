"""What a student reads: cards, hints, solutions, progress, and the same verdict from a cell and from a file."""

from __future__ import annotations

import html
import json
import re

import pytest
import torch

import exercises
from exercises.grader import api, progress
from exercises.grader.answers import Given, Written
from exercises.grader.card import BAD, Card, Row
from exercises.grader.catalog import UnknownExercise, all_exercises, find, read_task
from exercises.grader.judge import judge
from exercises.grader.verdict import NOT_ATTEMPTED, PASSED, WRONG
from exercises.grader.wording import show, verdict_card

TOP_P = find("top_p")


@pytest.fixture(autouse=True)
def progress_file(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    monkeypatch.setenv("LLM_COURSE_PROGRESS", str(path))
    monkeypatch.delenv("LLM_COURSE_SOLUTIONS", raising=False)
    api._hints_given.clear()
    return path


def text_of(name, answer):
    exercise = find(name)
    return verdict_card(exercise, judge(exercise, Given(answer))).text


def test_the_card_of_the_commonest_mistake():
    assert text_of("top_p", TOP_P.wrong["wrong_one_more_at_boundary"]) == (
        "✗ top_p: not right yet, 54 of 61 inputs right\n"
        "  Smallest input   probs = [[0.25, 0.75]]   (1, 2) float32\n"
        "                   top_p = 0.75\n"
        "  Expected         [[0, 1]]\n"
        "  Your answer      [[0.25, 0.75]]\n"
        "  Difference       at [0, 0]: expected 0, got 0.25\n"
        "  Likely mistake   Your answers equal those of a version that keeps one token too many when the\n"
        "                   mass is exactly top_p (`<=` where `<` is meant).\n"
        "  Not checked      speed, half precision, logits instead of probabilities\n"
        '  Help             hint("top_p") gives 3 hints, one at a time'
    )


def test_text_and_html_say_the_same_words():
    for name in ("wrong_drops_crossing", "wrong_writes_to_probs", "wrong_threshold_ties"):
        card = verdict_card(TOP_P, judge(TOP_P, Given(TOP_P.wrong[name])))
        bundle = card._repr_mimebundle_()
        words = html.unescape(re.sub(r"<[^>]+>", " ", bundle["text/html"])).split()
        assert words == bundle["text/plain"].split()


def test_html_escapes_what_a_student_wrote():
    card = Card("<b>", [Row("<i>", "<script>alert(1)</script>"), Row("code", "a < b", code=True)], BAD)
    assert "<script>" not in card.html and "&lt;script&gt;" in card.html and "a &lt; b" in card.html


def test_a_long_card_is_cut_at_its_longest():
    lines = Card("title", [Row("row", str(n)) for n in range(50)]).text.splitlines()
    assert len(lines) == 25 and lines[-1] == "  ..."


@pytest.mark.parametrize(
    ("answer", "likely"),
    [
        (lambda probs, top_p: None, "is a `return` missing?"),
        (lambda probs, top_p: probs * 1, "version that ignores top_p"),
        (lambda probs, top_p: torch.tensor([[1.0]]), "the same answer whatever its arguments are"),
        (lambda probs, top_p: top_p, "gives back its argument top_p as it is"),
    ],
)
def test_mistakes_that_anybody_can_make_are_named(answer, likely):
    assert likely in " ".join(judge(TOP_P, Given(answer)).likely)


def test_a_second_mistake_does_not_hide_the_first():
    """Wrong on some inputs like a known mistake, and changed elsewhere: the words say so."""
    right, wrong = TOP_P.reference, TOP_P.wrong["wrong_drops_crossing"]
    verdict = judge(TOP_P, Given(lambda probs, top_p: (wrong if len(probs) == 1 else right)(probs, top_p)))
    assert verdict.mistakes == ("wrong_drops_crossing",)
    assert verdict.likely[0].startswith("Where your answers are wrong")


def test_the_line_that_raised_is_shown_and_nothing_of_the_grader():
    source = "def keep_top_p(probs, top_p):\n    rows = probs.tolist()\n    return rows.softmax()\n"
    verdict = judge(TOP_P, Written(source, "keep_top_p"))
    text = verdict_card(TOP_P, verdict).text
    assert "At your line     return rows.softmax()" in text
    assert "AttributeError: 'list' object has no attribute 'softmax'" in text
    assert "Traceback" not in text and ".py" not in text


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def keep_top_p(probs, top_p)\n    return probs\n", "SyntaxError"),
        ("x = 1\n", "The file does not define keep_top_p."),
        ("import nonsense_that_is_not_there\n", "ModuleNotFoundError"),
        ("raise SystemExit\n", "SystemExit"),
        ("keep_top_p = 3\n", "without brackets"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(source, problem):
    verdict = judge(TOP_P, Written(source, "keep_top_p"))
    assert verdict.status == WRONG and problem in verdict.problem


@pytest.mark.parametrize("answer", [torch.ones(2, 2), 3, "keep_top_p", [1]])
def test_a_result_instead_of_the_function_is_explained(answer):
    assert "The function keep_top_p itself is asked for" in judge(TOP_P, Given(answer)).problem


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.name)
def test_cell_and_file_get_the_same_card(exercise):
    """The first wrong answer, once as an object and once as source that a file could hold."""
    name, function = next(iter(exercise.wrong.items()))
    page, call = f"solutions.{exercise.name}", "" if exercise.is_code else "()"
    source = f"from {page} import {name}\n{exercise.answer_name} = {name}{call}\n"
    in_cell = judge(exercise, Given(function if exercise.is_code else function()))
    in_file = judge(exercise, Written(source, exercise.answer_name))
    assert verdict_card(exercise, in_file).text == verdict_card(exercise, in_cell).text
    assert in_cell.status == WRONG


ENDLESS: list = []
ENDLESS.append(ENDLESS)
STRANGE = [
    object(), TOP_P.reference, (n for n in range(3)), ENDLESS, 10**5000, float("nan"), float("inf"), 1j, b"b",
    "a" * 10**6, torch.ones(10**6), torch.tensor(float("nan")), torch.ones(2, device="meta"), True, int,
    [], {}, [[]], [[["a"]]], {"a"}, {1: 2}, {("rule A", 1): "a"}, {"rule A": "a"},
    {"rule A": [["a"]], "rule B": [], "rule C": {}, "rule D": {"a"}},
]  # fmt: skip


@pytest.mark.parametrize("name", ["which_p_is_greedy", "tau_nucleus", "wrong_rule", "nuclei", "five_steps"])
def test_no_value_is_too_strange_to_be_refused(name):
    for value in STRANGE:
        assert len(text_of(name, value).splitlines()) <= 25
        assert judge(find(name), Given(value)).status == WRONG


@pytest.mark.parametrize("exercise", [e for e in all_exercises() if e.is_code], ids=lambda exercise: exercise.name)
def test_the_weaker_isolation_gives_the_same_verdicts(exercise, monkeypatch):
    monkeypatch.setenv("LLM_COURSE_ISOLATION", "thread")
    name, function = next(iter(exercise.wrong.items()))
    right, wrong = judge(exercise, Given(exercise.reference)), judge(exercise, Given(function))
    assert right.passed and right.isolation == "thread"
    assert wrong.mistakes == (name,)


def test_a_fake_model_is_described():
    text = text_of("generate_loop", find("generate_loop").wrong["wrong_feeds_one"])
    assert "Used with        a model whose next id depends on every id so far and on the place of" in text


def test_an_unfilled_table_is_not_attempted_and_a_half_filled_one_is_judged():
    exercise = find("tie_limits")
    blank = {"temperature 1": [..., ..., ...], "to 0": ..., "to infinity": None}
    assert judge(exercise, Given(blank)).status == NOT_ATTEMPTED
    assert judge(exercise, Given(...)).status == NOT_ATTEMPTED
    half = judge(exercise, Given(blank | {"to 0": torch.tensor([1.0, 0.0, 0.0])}))
    text = verdict_card(exercise, half).text
    assert half.status == WRONG and half.mistakes == ("wrong_one_hot",)
    assert "to 0: entry 1 is 1, entry 2 is 0" in text and "To fill in       temperature 1; to infinity" in text
    assert "0.5" not in text.replace("0.005", "")


def test_a_prediction_shows_what_happens_after_any_attempt():
    exercise = find("predict_kept_set")
    wrong, right = (
        judge(exercise, Given(value)) for value in (exercise.wrong["wrong_other_way"](), exercise.reference())
    )
    assert all("What happens" in verdict_card(exercise, verdict).text for verdict in (wrong, right))
    assert right.passed
    blank = judge(exercise, Given({"top-k, then top-p": ..., "top-p, then top-k": ...}))
    assert "What happens" not in verdict_card(exercise, blank).text


def test_check_shows_the_card_and_remembers(capsys, progress_file):
    assert exercises.check("keep_top_p", TOP_P.wrong["wrong_stays_sorted"]).status == WRONG
    assert exercises.check("e05_top_p", TOP_P.reference).status == PASSED
    assert exercises.check("top_p").status == NOT_ATTEMPTED
    shown = capsys.readouterr().out
    assert "not right yet" in shown and "passed" in shown and "not attempted" in shown
    remembered = json.loads(progress_file.read_text(encoding="utf-8"))["exercises"]["e05_top_p"]
    assert remembered == {"attempts": 2, "mistakes": ["wrong_stays_sorted"], "passed_at_attempt": 2}


@pytest.mark.parametrize(("name", "close"), [("topp", "top_p"), ("e05_nucleus", "nuclei"), ("softmax", "softmax")])
def test_an_unknown_name_offers_close_ones(name, close):
    with pytest.raises(UnknownExercise, match=close):
        exercises.check(name, None)


def test_a_name_must_be_a_text():
    with pytest.raises(TypeError, match="must be a text"):
        exercises.check(TOP_P.reference, "top_p")


def test_hints_come_one_at_a_time(capsys):
    for step in (1, 2, 3, 3):
        exercises.hint("top_p")
        shown = capsys.readouterr().out
        assert f"hint {step} of 3" in shown
        assert TOP_P.task.hints[step - 1].split()[-1] in shown
    exercises.hint("top_p", 1)
    assert "hint 1 of 3" in capsys.readouterr().out
    exercises.hint("top_p")
    assert "hint 2 of 3" in capsys.readouterr().out


@pytest.mark.parametrize("step", [4, 0, -1, "2", 2.0, True])
def test_a_hint_that_is_not_there_is_refused_in_one_line(step):
    with pytest.raises(ValueError, match=r"top_p has 3 hints: step must lie in 1\.\.3, got") as caught:
        exercises.hint("top_p", step)
    assert caught.value._render_traceback_() == [f"NoHint: top_p has 3 hints: step must lie in 1..3, got {step!r}"]


@pytest.mark.parametrize("call", [exercises.check, exercises.hint, exercises.solution])
def test_a_name_that_is_not_there_is_refused_in_one_line(call):
    with pytest.raises(LookupError, match="Did you mean ratio / which_ratio") as caught:
        call("rati")
    told = "UnknownExercise: There is no exercise called 'rati'. Did you mean ratio / which_ratio?"
    assert caught.value._render_traceback_() == [told]


def test_the_solution_is_shown_when_the_instructor_says_so(capsys, monkeypatch):
    exercises.solution("top_p")
    assert "cumsum" not in capsys.readouterr().out
    exercises.check("top_p", lambda probs, top_p: probs)
    exercises.solution("top_p")
    assert "ranked.cumsum(dim=-1) - ranked" in capsys.readouterr().out
    monkeypatch.setenv("LLM_COURSE_SOLUTIONS", "on request")
    exercises.solution("tie_limits")
    assert "'to 0': [0.5, 0.5, 0]" in capsys.readouterr().out
    monkeypatch.setenv("LLM_COURSE_SOLUTIONS", "never")
    exercises.solution("top_p")
    assert "not shown in this course" in capsys.readouterr().out
    monkeypatch.setenv("LLM_COURSE_SOLUTIONS", "sometimes")
    with pytest.raises(ValueError, match="got 'sometimes'"):
        exercises.solution("top_p")


def test_progress_goes_by_chapter_and_objective(capsys):
    exercises.progress()
    assert f"0 of {len(all_exercises())} exercises passed" in capsys.readouterr().out
    exercises.check("ratio", find("ratio").reference())
    capsys.readouterr()
    exercises.progress()
    shown = capsys.readouterr().out
    assert "Progress: 1 of" in shown and "Chapter 03" in shown
    assert "○ Explain what the temperature does to the ratio of two probabilities (what_tau_does)" in shown
    exercises.check("what_tau_does", find("what_tau_does").reference())
    exercises.progress()
    assert "✓ Explain what the temperature does to the ratio of two probabilities\n" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "{", "[]", '{"exercises": 3}', '{"exercises": {"e05_top_p": 1}}', "\x00"])
def test_a_broken_progress_file_counts_as_none(text, progress_file):
    progress_file.write_text(text, encoding="utf-8")
    assert progress.read() == {}
    exercises.check("ratio", find("ratio").reference())
    assert list(progress.read()) == ["e03_ratio"]
    assert [path.name for path in progress_file.parent.iterdir()] == ["progress.json"]


def test_no_progress_file_is_no_trouble(monkeypatch, tmp_path):
    for place in ("off", str(tmp_path / "missing folder" / "progress.json")):
        monkeypatch.setenv("LLM_COURSE_PROGRESS", place)
        assert exercises.check("ratio", find("ratio").reference()).passed
        assert progress.read() == {}


def test_a_page_is_read_without_being_run():
    task = read_task('"""Title.\n\nText."""\nimport nowhere\nminutes = 3\nhints = (1 / 0,)\nx: int = ...\n')
    assert (task.title, task.text, task.minutes, task.hints, task.stub) == ("Title", "Text.", 3, (), "x: int = ...")
    assert read_task("def broken(").title == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 - 2**-24, "0.99999994"),
        (1 - 2**-53, "0.99999999999999989"),
        (2.0, "2"),
        (-0.0, "0"),
        (1e-9, "1e-09"),
        (0.123456, "0.1235"),
        (12345.6, "12345.6"),
        (1e300, "1e+300"),
    ],
)
def test_a_number_is_never_rounded_to_a_whole_one_that_it_is_not(value, text):
    assert show(value) == text


def test_values_are_shown_as_a_student_would_write_them():
    assert show(torch.tensor([[0.5, 1 / 3]])) == "[[0.5, 0.3333]]"
    assert show([1e-9, float("nan"), float("-inf"), -0.0, True, None]) == "[1e-09, nan, -inf, 0, True, None]"
    assert show(torch.arange(40)) == "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...]"
    assert show({2, 1}) == "{1, 2}" and show({"a": (1.0, 2)}) == "{'a': (1, 2)}"
    assert len(show(torch.rand(9, 9)).splitlines()) == 5
