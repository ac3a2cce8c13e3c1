"""Slips that anybody makes: each is typed as a student would type it, and the card has to say what to do."""

from __future__ import annotations

import numpy
import pytest
import torch

import exercises
from exercises.grader import slips
from exercises.grader.answers import Given, Written
from exercises.grader.catalog import UnknownExercise, find
from exercises.grader.judge import judge
from exercises.grader.verdict import NOT_ATTEMPTED, WRONG, Failure
from exercises.grader.wording import verdict_card
from solutions.vocabulary import Check, Whole

SOFTMAX = find("softmax_temperature")
STUB = "def softmax_with_temperature(logits, temperature):\n    z = logits / temperature\n    "
SHIFTED = STUB + "e = (z - z.amax(-1, keepdim=True)).exp()\n    p = e / e.sum(-1, keepdim=True)\n    "


def likely_of_code(source: str) -> str:
    verdict = judge(SOFTMAX, Written("import math\nimport torch\n" + source, "softmax_with_temperature"))
    assert verdict.status == WRONG and not verdict.mistakes
    card = verdict_card(SOFTMAX, verdict).text
    assert len(card.splitlines()) <= 25
    return " ".join(verdict.likely)


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ("return logit.exp()", "Nothing is called logit here"),
        ("total = total + z\n    return total", "total is read before it has a value"),
        ("return (z - z.max(-1, keepdim=True)).exp()", "amax gives the values alone"),
        ("two = torch.cat([z, z], -1)\n    return z if two > 0 else -z", "take one truth value"),
        ("return torch.zeros(7) + torch.zeros(11)", "keepdim=True"),
        ("return z.softmax(2)", "dim=-1 is the last axis"),
        ("return z.softmax()", "Say along which axis"),
        ("return z.sort(-1, descending=True, stable=True).values", "by their names, as in x.sort(dim=-1"),
        ("return z.argsort(-1, stable=True)", "by their names, as in x.sort(dim=-1"),
        ("return torch.cat([z, z[..., 0]], -1)", "A tensor has fewer axes than you think"),
        ("return z[:, :, :, :, None]", "A tensor has fewer axes than you think"),
        ("return z.topk(99).values", "topk takes at most as many as there are"),
        ("low, high = [1]\n    return z", "As many names as things are needed"),
        ("return (z > 0) | torch.ones(1)", "&, | and ~ join and turn masks"),
        ("return z / z.sum", "x.sum() its result"),
        ("return z(0)", "square ones take an entry"),
        ("return math.exp(torch.cat([z, z], -1))", "there are torch.exp and the like"),
        ("return torch.log2(temperature)", "torch's functions take tensors"),
        ("return z / ...", "Three dots still stand"),
        ("return z / print()", "Something is None"),
        ("return z.tolist().exp()", "That is a "),
        ("return z.astype(float)", "Tensors have no .astype"),
        ("return [z][temperature]", "must be a whole number"),
        ("return z.reshape(-1)[z.numel()]", "Positions go from 0"),
        ("return z.index_add(-1, torch.zeros(1, dtype=torch.long), z.long())", "dtypes meet"),
        ("return z.real_part", "Tensors have no .real_part"),
        ("return torch.mm(torch.ones(2, 3), torch.ones(2, 3))", "as long as the last but one of b"),
        ("return torch.cat([torch.ones(2, 3), torch.ones(1, 2)])", "joins along dim"),
        ("return 'z'.size", "It has no .size"),
        ("return max(temperature)", "One thing stands there"),
        ("return 1 - (z > 0)", "A mask is turned round by ~"),
        ("return z * 1.5 + 0.5 * z.max(-1)", "amax gives the values alone"),
        ("return z.reshape(7, 11)", "Shapes do not fit"),
        ("return z / (1 // int(0 * temperature))", "What is divided by is 0"),
        ("return softmax_with_temperature(logits, temperature)", "calls itself without end"),
    ],
)
def test_errors_of_python_and_torch_come_with_advice(body, advice):
    assert advice in likely_of_code(STUB + body + "\n")


@pytest.mark.parametrize(
    ("last", "advice"),
    [
        ("print(p)", "is a `return` missing?"),
        ("return p, e", "A comma after `return` makes a tuple"),
        ("return p.tolist()", "or make a tensor: torch.tensor(..., dtype=logits.dtype)"),
        ("return p.double() if p.dtype == torch.float32 else p.float()", ".to(logits.dtype)"),
        ("return p > 0.5", "A mask of True and False"),
        ("return p.flatten()[None]", "only the shape is not"),
        ("return 100 * p", "are they per cent?"),
        ("torch.rand(1)\n    return p", "Leave alone what the whole notebook shares"),
        ("return -p", "wrong sign"),
        ("return 1 - p", "what is missing to 1"),
        ("return p.round(decimals=2)", "but rounded"),
        ("return e", "divide it by its sum"),
        ("return p.flip(-1)", "in other places"),
        ("logits -= 1\n    return p", "work on x + 1, x.clone() or list(x)"),
        ("while temperature:\n        pass", "Does a loop never end?"),
        ("return (p - p) / (p - p)", "NaN comes from"),
        ("return torch.ones(1)", "the same answer whatever its arguments are"),
        ("return temperature", "gives back its argument temperature"),
    ],
)
def test_answers_that_are_nearly_right_come_with_advice(last, advice):
    assert advice in likely_of_code(SHIFTED + last + "\n")


def test_what_torch_has_not_implemented_is_not_taken_for_a_stub():
    """Some versions of torch raise NotImplementedError for a dtype that a function does not know."""
    for last in ("return logits.long().softmax(-1)", "return (logits > 0) | torch.ones(1)"):
        source = f"import torch\ndef softmax_with_temperature(logits, temperature):\n    {last}\n"
        verdict = judge(SOFTMAX, Written(source, "softmax_with_temperature"))
        assert verdict.status == WRONG and verdict.failure.got.message
    for last in ("raise NotImplementedError", "raise NotImplementedError('to do')"):
        source = f"def softmax_with_temperature(logits, temperature):\n    {last}\n"
        assert judge(SOFTMAX, Written(source, "softmax_with_temperature")).status == NOT_ATTEMPTED


def test_several_things_and_a_list_of_them_are_told_apart():
    stacked = judge(find("pad_trap"), Given(lambda *args: torch.stack(find("pad_trap").reference(*args))))
    assert stacked.likely == ("Several things are asked for: `return a, b` gives a tuple of them.",)
    wrapped = judge(find("check"), Given(lambda *args: tuple(find("check").reference(*args))))
    assert wrapped.likely == ("list(...) makes a list of it.",)


def test_an_axis_lost_to_a_sum_is_named():
    assert "keepdim=True keeps the axis" in likely_of_code(
        STUB + "e = (z - z.amax(-1)).exp()\n    return e / e.sum(-1)\n"
    )


def test_the_arguments_are_named_to_a_function_that_takes_others():
    assert "2 arguments: logits, temperature" in likely_of_code(
        "def softmax_with_temperature(logits):\n    return logits\n"
    )


def test_a_variable_of_the_notebook_in_the_place_of_an_argument_is_noted():
    room = {"logits": torch.tensor([2.0, 1.0, 0.0])}
    exec("def answer(x, temperature):\n    return (logits / temperature).softmax(-1)", room)
    notes = judge(SOFTMAX, Given(room["answer"])).notes
    assert len(notes) == 1 and "reads the notebook's own variable logits" in notes[0]
    assert judge(SOFTMAX, Given(lambda logits, temperature: logits * 2)).notes == ()


def test_a_numpy_array_is_led_back_to_tensors():
    verdict = judge(SOFTMAX, Given(lambda logits, temperature: numpy.ones(3)))
    assert "torch.tensor(...) makes a tensor of it" in verdict.failure.difference.text


def test_the_form_of_a_part_is_told_where_several_things_come_back():
    """Lists for tensors look alike; so the forms of both are written beside them."""
    reference = find("pad_trap").reference
    verdict = judge(
        find("pad_trap"), Given(lambda prompts, pad: tuple(part.tolist() for part in reference(prompts, pad)))
    )
    card = " ".join(verdict_card(find("pad_trap"), verdict).text.split())
    assert "Expected ([[0]], [[1]]) (1, 1) int64 and (1, 1) int64 Your answer ([[0]], [[1]]) Difference" in card
    assert "or make a tensor: torch.tensor(..., dtype=torch.int64)" in verdict.likely[0]


def test_an_error_of_another_kind_and_a_missing_one_are_told():
    def complains(prompt_lens, context, max_new_tokens):
        assert context > max(prompt_lens)
        return min(context - max(prompt_lens), max_new_tokens)

    def silent(prompt_lens, context, max_new_tokens):
        return "no room" if context <= max(prompt_lens) else min(context - max(prompt_lens), max_new_tokens)

    def seldom(prompt_lens, context, max_new_tokens):
        if context < max(prompt_lens):
            raise ValueError("no room")
        return min(context - max(prompt_lens), max_new_tokens) if context > max(prompt_lens) else -1

    def often(prompt_lens, context, max_new_tokens):
        if context - max(prompt_lens) < max(1, max_new_tokens):
            raise ValueError("no room")
        return max_new_tokens

    def hands_it_over(prompt_lens, context, max_new_tokens):
        return min(context - max(prompt_lens), max_new_tokens) if context > max(prompt_lens) else ValueError("no room")

    told = {answer.__name__: judge(find("budget"), Given(answer)) for answer in (complains, silent, seldom, often)}
    assert "Another error is asked for: ValueError." in told["complains"].likely
    assert "`raise ValueError(...)` is asked for here: it ends the call" in told["silent"].likely[0]
    assert "raises ValueError on other inputs, and not on this one" in told["seldom"].likely[0]
    assert "your own line stops the call: is its condition too wide?" in told["often"].likely[0]
    returned = judge(find("budget"), Given(hands_it_over)).failure.difference.text
    assert "an error came back as an answer: `raise` ends the call with it" in returned


def parts(answer, wrong):
    """A check of an answer that gives a list and a number of its own for each size."""
    check = Check(answer, size=Whole(1, 9), examples=[(3,)])
    outcomes = [check.observe(wrong, case.args) for case in check.cases]
    found = [check.difference(*pair) for pair in zip(check.answers, outcomes)]
    first = next(i for i, difference in enumerate(found) if difference)
    case, pair = check.cases[first], (check.answers[first], outcomes[first])
    return slips.in_code(check, outcomes, Failure(check.names, case.args, *pair, found[first]))


def test_where_a_tensor_differs_here_and_a_list_there_nothing_is_said_of_all():
    answer = lambda size: ([0] * size, torch.zeros(()))  # noqa: E731
    assert parts(answer, lambda size: ([0] * size + [0] * (size > 3), torch.zeros(1))) == ()
    assert parts(answer, lambda size: ([0] * size + [1], torch.zeros(()))) == (
        "Too long by 1: leave out what stands last, and the rest is right.",
    )


def settings_with(cold, warm):
    """An answer to greedy_settings: what it gives at temperature 0, and above."""
    return Given(lambda temperature, top_k, top_p: (cold if temperature == 0 else warm)(temperature, top_k, top_p))


def plain(temperature, top_k, top_p):
    return find("greedy_settings").reference(temperature, top_k, top_p)


@pytest.mark.parametrize(
    ("cold", "warm", "advice"),
    [
        (lambda t, k, p: (1.0, 1, p), plain, "None is asked for at [2] on this input, and top_p came as it was given"),
        (plain, lambda t, k, p: (t, k or 0, plain(t, k, p)[2]), "None is asked for at [1] on this input, and a whole "
         "number (int) came: which of your lines"),
        (lambda t, k, p: (None, 1, None), plain, "None came at [0] on this input, and a number (float) is asked for"),
        (plain, lambda t, k, p: None, "Does every way through the function end in a `return`?"),
        (lambda t, k, p: (1.0, 1), plain, "Too short by 1: what should stand last is missing, and the rest is right."),
    ],
)  # fmt: skip
def test_none_inside_an_answer_is_told_from_none_in_its_place(cold, warm, advice):
    (words,) = judge(find("greedy_settings"), settings_with(cold, warm)).likely
    assert advice in words


def scored(logits, ids):
    return find("logprob_shift").reference(logits, ids)


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (lambda z, ids: torch.nn.functional.pad(scored(z, ids), (1, 0)), "Too long by 1 along dim=-1: leave out what "
         "stands first, and the rest is right."),
        (lambda z, ids: torch.nn.functional.pad(scored(z, ids), (0, 1)), "leave out what stands last"),
        (lambda z, ids: scored(z, ids)[:, 1:], "Too short by 1 along dim=-1: what should stand first is missing"),
        (lambda z, ids: scored(z, ids)[:, :-1], "what should stand last is missing, and the rest is right."),
        (lambda z, ids: torch.zeros(len(ids), ids.shape[1] + 2), "Too long by 3 along dim=-1. What stands there"),
        (lambda z, ids: torch.zeros(len(ids), max(0, ids.shape[1] - 2)), "Too short by 1 along dim=-1. What is asked"),
        (lambda z, ids: scored(z, ids).T, "Rows and columns are swapped"),
        (lambda z, ids: z[:, 1:].float(), "There is an axis too many"),
        (lambda z, ids: z[:, 0, 0].float(), "An axis is lost"),
        (lambda z, ids: scored(z, ids)[..., None], "only the shape is not"),
        (lambda z, ids: scored(z, ids).double(), "only their dtype is not: .to(torch.float32) makes it so"),
        (lambda z, ids: z[:, :-1].log_softmax(-1).gather(-1, ids[:, :, None]), "are both cut alike?"),
        (lambda z, ids: ids.mean(-1), "mean, softmax, log and the like need floats"),
    ],
)  # fmt: skip
def test_a_shape_that_is_wrong_alike_on_all_inputs_says_what_to_leave_out_or_add(answer, advice):
    (words,) = judge(find("logprob_shift"), Given(answer)).likely
    assert advice in words


def lost(log_probs, mask, rewards):
    return find("reinforce_loss").reference(log_probs, mask, rewards)


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (lambda p, m, r: lost(p, m, r).double(), ".to(torch.promote_types(log_probs.dtype, rewards.dtype)) makes it"),
        (lambda p, m, r: lost(p, m, r).long(), "Whole numbers came (int64), so what stands behind the point is lost"),
        (lambda p, m, r: lost(p.half(), m, r.half()), "float16 has lost digits on the way"),
        (lambda p, m, r: lost(p, m, r) > 0, "A mask of True and False came back"),
        (lambda p, m, r: 2 * lost(p, m, r).double(), "and not all numbers are right"),
    ],
)
def test_a_dtype_that_is_wrong_says_whether_the_numbers_are_lost(answer, advice):
    (words,) = judge(find("reinforce_loss"), Given(answer)).likely
    assert advice in words


@pytest.mark.parametrize(
    ("name", "change", "advice"),
    [
        ("positions", lambda answer: answer.int(), "only their dtype is not: .to(torch.int64)"),
        ("positions", lambda answer: answer + 0.5, "Whole numbers are asked for (torch.int64)"),
        ("sliding_mask", lambda answer: answer.long(), "True and False are asked for: what a comparison"),
    ],
)
def test_whole_numbers_and_masks_are_asked_for_by_name(name, change, advice):
    reference = find(name).reference
    (words,) = judge(find(name), Given(lambda *args: change(reference(*args)))).likely
    assert advice in words


def test_of_two_faults_that_which_changes_the_kind_does_not_hide_the_other():
    """float64 became float32, and no gradient flows: the example is of the second."""
    verdict = judge(find("reinforce_loss"), Given(lambda p, m, r: torch.tensor(lost(p, m, r).item())))
    assert verdict.mistakes == ("wrong_no_gradient",)
    assert verdict.likely[0].startswith("Where your answers are wrong in this way, they equal those of a version that")


def test_a_check_without_an_answer_says_where_it_looked(capsys, monkeypatch):
    monkeypatch.setenv("LLM_COURSE_PROGRESS", "off")
    exercises.check("top_p")
    shown = " ".join(capsys.readouterr().out.split())
    assert "This is what stands in exercises/e05_top_p.py." in shown and 'check("top_p", keep_top_p)' in shown


def test_an_exercise_called_by_its_number_is_led_to_the_names_of_its_chapter():
    with pytest.raises(UnknownExercise, match=r"Did you mean .*ratio / softmax_temperature") as caught:
        exercises.hint("3.1")
    assert caught.value._render_traceback_() == [f"UnknownExercise: {caught.value}"]


def test_an_answer_in_the_place_of_the_name_is_told_briefly():
    with pytest.raises(TypeError, match=r'must be a text, such as "top_p", got function; an answer') as caught:
        exercises.check(find("top_p").reference)
    assert caught.value._render_traceback_() == [f"NoName: {caught.value}"]


@pytest.mark.parametrize(("name", "close"), [("softmaks", "softmax_temperature"), ("nuclues", "nuclei")])
def test_a_misspelt_word_of_a_name_is_enough(name, close):
    with pytest.raises(UnknownExercise, match=f"Did you mean .*{close}"):
        exercises.hint(name)
