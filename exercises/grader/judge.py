"""From an answer to a verdict; only an answer that came and was compared adds to the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from exercises.grader import codec, diagnose, forms, slips
from exercises.grader.answers import Answer, Given, Written
from exercises.grader.catalog import Exercise
from exercises.grader.isolate import STUDENT, Limits, Worker, open_worker
from exercises.grader.state import clean_state
from exercises.grader.verdict import DEADLY, NOT_ATTEMPTED, PASSED, WRONG, Failure, Verdict
from llm_gen.text import _
from solutions.vocabulary import Case, Check, Difference, Outcome, ValueCheck
from solutions.vocabulary.compare import kind_of

Place = Callable[[Exercise, Answer, Check | None], Worker]  # where an answer runs; the check says how it is called


def judge(exercise: Exercise, answer: Answer, limits: Limits = STUDENT, place: Place | None = None) -> Verdict:
    """The verdict on one answer. Nothing that the answer does outlives the call. `place`: the default is `here`."""
    place = place or here(limits)
    with clean_state() as replaced:
        verdict = (_judge_code if exercise.is_code else _judge_value)(exercise, answer, place)
    notes = [
        _("{name} is not the original function here; the check used the original.").format(name=n) for n in replaced
    ]
    if exercise.is_code and verdict.status == WRONG and isinstance(answer, Given):
        notes += slips.of_names(answer.value, exercise.checks[0].names)
    return replace(verdict, notes=(*verdict.notes, *notes[:2]))


def here(limits: Limits) -> Place:
    """Beside this process, which knows the answers: for the student's own check."""
    return lambda exercise, answer, check: open_worker(answer.load, check.call if check else None, limits)


def _judge_code(exercise: Exercise, answer: Answer, place: Place) -> Verdict:
    """The verdicts of the page's checks added up, until one is not passed."""
    total = Verdict(exercise.name, PASSED)
    for check in exercise.checks:
        worker = place(exercise, answer, check)
        try:
            part = _run(exercise, check, worker)
        finally:
            worker.close()
        total = replace(part, isolation=worker.level, right=total.right + part.right, total=total.total + part.total)
        if not part.passed:
            break
    return total


def _run(exercise: Exercise, check: Check, worker: Worker) -> Verdict:
    loaded = worker.load()
    if loaded.kind != "answer" or loaded.value is not None:
        return _nothing_to_call(exercise, loaded)
    outcomes = [worker.observe(check.cases[0].args)]
    if _is_stub(outcomes[0]):
        return Verdict(exercise.name, NOT_ATTEMPTED, total=len(check.cases))
    outcomes += worker.observe_all([case.args for case in check.cases[1:]])
    return _compare(exercise, check, worker, outcomes)


def _is_stub(outcome: Outcome) -> bool:
    """Whether `raise NotImplementedError` was reached; torch raises it too, for a dtype that it does not know there."""
    return outcome.error[:1] == ("NotImplementedError",) and (not outcome.message or "raise" in outcome.line)


def _nothing_to_call(exercise: Exercise, loaded: Outcome) -> Verdict:
    if loaded.kind == "answer" and loaded.value is Ellipsis:
        return Verdict(exercise.name, NOT_ATTEMPTED)
    if loaded.kind != "answer":
        return _not_read(exercise, loaded)
    text = _("The function {name} itself is asked for, without brackets; {kind} came.")
    return Verdict(exercise.name, WRONG, problem=text.format(name=exercise.answer_name, kind=kind_of(loaded.value)))


def _not_read(exercise: Exercise, loaded: Outcome) -> Verdict:
    """The verdict on an answer that could not even be made: a file that does not run, a strange value."""
    if loaded.error[:1] == ("NoAnswer",):
        problem = _("The file does not define {name}.").format(name=exercise.answer_name)
    else:
        problem = ": ".join([*loaded.error[:1], loaded.message]).rstrip(".") + "."
    return Verdict(exercise.name, WRONG, problem=problem[:1].upper() + problem[1:])


def _compare(exercise: Exercise, check: Check, worker: Worker, outcomes: list[Outcome]) -> Verdict:
    found = [check.difference(expected, got) for expected, got in zip(check.answers, outcomes)]
    verdict = Verdict(
        exercise.name,
        PASSED,
        right=found.count(None),
        total=len(check.cases),
        groups=groups_of(check.cases, found),
        notes=_notes(check, outcomes),
        unchecked=_unchecked(exercise, check, outcomes),
    )
    if verdict.right == verdict.total:
        return verdict
    mistakes = diagnose.known_mistakes(exercise, check, outcomes, found)
    failure = _smallest(check, worker, outcomes, found, lambda args, got: diagnose.agree(check, mistakes, args, got))
    likely = diagnose.in_words(mistakes) or slips.in_code(check, outcomes, failure)
    return replace(verdict, status=WRONG, failure=failure, mistakes=mistakes.names, likely=likely)


def groups_of(cases: list[Case], found: list[Difference | None]) -> dict[str, tuple[int, int]]:
    """For each group of inputs how many are right, of how many. An input that was not reached is not right."""
    groups: dict[str, tuple[int, int]] = {}
    for i, case in enumerate(cases):
        right, total = groups.get(case.group, (0, 0))
        groups[case.group] = (right + (i < len(found) and found[i] is None), total + 1)
    return groups


def _notes(check: Check, outcomes: list[Outcome]) -> tuple[str, ...]:
    shared = sorted({i for own, right in zip(outcomes, check.answers) for i in own.shared if i not in right.shared})
    text = _("The result shares memory with the argument {name}: who writes to one changes the other.")
    return tuple(text.format(name=check.names[i]) for i in shared)


def _unchecked(exercise: Exercise, check: Check, outcomes: list[Outcome]) -> tuple[str, ...]:
    said = getattr(exercise.page, "not_checked", "")
    left = len(check.cases) - len(outcomes)
    stopped = [_("{n} further inputs, because the call was stopped").format(n=left)] if left else []
    return (*([said] if said else []), *stopped)


def _smallest(
    check: Check, worker: Worker, outcomes: list[Outcome], found: list[Difference | None], agrees: Any
) -> Failure:
    """The smallest failing input: the smallest of the cases, made smaller while it fails in the same way."""
    first = diagnose.smallest(check, found)
    case, kind, usable = check.cases[first], found[first].kind, check.answers[first].kind

    def look(args: tuple) -> tuple[Outcome, Outcome, Difference | None]:
        expected, got = check.expected(args), worker.observe(args)
        return expected, got, check.difference(expected, got)

    def fails(args: tuple) -> bool:
        if not worker.alive:
            return False
        expected, got, difference = look(args)
        same = difference is not None and difference.kind == kind and expected.kind == usable
        return same and agrees(args, got)

    args = check.shrink(case.args, fails) if worker.alive and kind not in DEADLY else case.args
    seen = (case.args, check.answers[first], outcomes[first], found[first])
    if args is not case.args and worker.alive:
        expected, got, difference = look(args)
        if difference is not None:  # else the answer has changed its mind: keep what was seen
            seen = (args, expected, got, difference)
    return Failure(check.names, *seen, used_with=check.used_with)


def _judge_value(exercise: Exercise, answer: Answer, place: Place) -> Verdict:
    made, level = _make_value(exercise, answer, place)
    if made.kind != "answer":
        return replace(_not_read(exercise, made), isolation=level)
    check: ValueCheck = exercise.checks[0]
    try:
        entries = check.entries(_as_lists(made.value))
    except ValueError as error:
        return Verdict(exercise.name, WRONG, problem=f"{str(error)[:1].upper()}{str(error)[1:]}.")
    right = sum(entry.right for entry in entries)
    verdict = Verdict(exercise.name, PASSED, right, len(entries), entries=entries, isolation=level)
    if not any(entry.filled for entry in entries):
        return replace(verdict, status=NOT_ATTEMPTED)
    if right == len(entries):
        return verdict
    mistakes = diagnose.known_values(exercise, check, entries)
    likely = (*forms.of_first(check, entries, exercise.task.options), *diagnose.in_words(mistakes, check))
    likely = likely or forms.of_numbers(check, entries)
    return replace(verdict, status=WRONG, mistakes=mistakes.names, likely=likely)


def _make_value(exercise: Exercise, answer: Answer, place: Place) -> tuple[Outcome, str]:
    """The value as plain data and how it was isolated: a notebook's is read here, a file's is made under the limits."""
    if isinstance(answer, Written):
        worker = place(exercise, answer, None)
        try:
            return worker.load(), worker.level
        finally:
            worker.close()
    try:
        return Outcome("answer", codec.decode(codec.encode(answer.value))), ""
    except codec.Unreadable as error:
        return Outcome("unreadable", message=str(error)), ""


def _as_lists(value: Any) -> Any:
    """Tensors as nested lists, at any depth."""
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value
