"""Answers that loop, crash, cheat or make a mess: each gets its verdict in bounded time, and nothing of it stays."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
import torch

from exercises.grader import state
from exercises.grader.answers import Given
from exercises.grader.catalog import find
from exercises.grader.isolate import Limits, isolation_level, open_worker
from exercises.grader.judge import judge
from exercises.grader.verdict import PASSED, WRONG
from exercises.grader.wording import verdict_card
from solutions.e05_top_p import keep_top_p

BUSY = Limits(processor=0.2, clock=20.0)  # a crowded machine may be slow; the processor's time is the answer's own
SLEEPY = Limits(processor=0.2, clock=3.0)
EXERCISE = find("top_p")
needs_fork = pytest.mark.skipif(isolation_level() != "process", reason="this system isolates by threads only")


def loops(probs, top_p):
    while True:
        pass


def loops_and_catches(probs, top_p):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def loops_in_c(probs, top_p):
    return sum(range(10**12))


def sleeps(probs, top_p):
    time.sleep(1000)


def recurses(probs, top_p):
    return recurses(probs, top_p)


def exits(probs, top_p):
    raise SystemExit(0)


def exits_at_once(probs, top_p):
    os._exit(0)


def interrupts(probs, top_p):
    raise KeyboardInterrupt


def kills_itself(probs, top_p):
    os.kill(os.getpid(), 9)


def closes_all_files(probs, top_p):
    os.closerange(3, 1000)
    return keep_top_p(probs, top_p)


def allocates_a_list(probs, top_p):
    return [0] * 10**11


def allocates_a_tensor(probs, top_p):
    return torch.zeros(10**11)


def changes_dtype(probs, top_p):
    torch.set_default_dtype(torch.float64)
    return keep_top_p(probs, top_p)


def changes_seed(probs, top_p):
    torch.manual_seed(0)
    return keep_top_p(probs, top_p)


def draws(probs, top_p):
    random.random()
    return keep_top_p(probs, top_p)


def stops_gradients(probs, top_p):
    torch.set_grad_enabled(False)
    return keep_top_p(probs, top_p)


def changes_folder(probs, top_p):
    os.chdir("/")
    return keep_top_p(probs, top_p)


def silences_warnings(probs, top_p):
    warnings.simplefilter("ignore")
    return keep_top_p(probs, top_p)


def sets_a_variable(probs, top_p):
    os.environ["SEEN"] = "1"
    return keep_top_p(probs, top_p)


def patches_torch(probs, top_p):
    torch.softmax = torch.Tensor.tolist = lambda *args, **kwargs: [1.0]
    return keep_top_p(probs, top_p)


def patches_equality(probs, top_p):
    torch.Tensor.__eq__ = lambda self, other: torch.ones_like(self, dtype=torch.bool)
    return probs


class AlwaysEqual(torch.Tensor):
    def __eq__(self, other):
        return True


class Liar(float):
    def __eq__(self, other):
        return True


def gives_an_equal_to_all(probs, top_p):
    return probs.as_subclass(AlwaysEqual)


def gives_a_lying_float(probs, top_p):
    return Liar(0.5)


def gives_nan(probs, top_p):
    return probs * torch.nan


def gives_a_generator(probs, top_p):
    yield keep_top_p(probs, top_p)


async def gives_a_coroutine(probs, top_p):
    return keep_top_p(probs, top_p)


def gives_a_function(probs, top_p):
    return lambda: keep_top_p(probs, top_p)


def gives_another_device(probs, top_p):
    return probs.to("meta")


def gives_sparse(probs, top_p):
    return keep_top_p(probs, top_p).to_sparse()


def gives_too_much(probs, top_p):
    return torch.zeros(10**6)


def gives_a_loop(probs, top_p):
    endless = []
    endless.append(endless)
    return endless


def gives_one_row_for_all(probs, top_p):
    return keep_top_p(probs[:1], top_p)


def raises_its_own(probs, top_p):
    class Nasty(Exception):
        def __str__(self):
            raise ValueError

    raise Nasty


def asks(probs, top_p):
    return input("The answer, please: ")


FATAL = {
    loops: "time-out",
    loops_and_catches: "time-out",
    loops_in_c: "time-out",
    sleeps: "time-out",
    exits_at_once: "crash",
    kills_itself: "crash",
    closes_all_files: "crash",
    allocates_a_list: "memory",
    allocates_a_tensor: "memory",
}
ORDINARY = {
    recurses: "error",
    exits: "error",
    interrupts: "error",
    raises_its_own: "error",
    asks: "error",
    changes_dtype: "side effect",
    changes_seed: "side effect",
    draws: "side effect",
    stops_gradients: "side effect",
    changes_folder: "side effect",
    silences_warnings: "side effect",
    sets_a_variable: "side effect",
    patches_torch: "side effect",
    gives_an_equal_to_all: "unreadable",
    gives_a_lying_float: "unreadable",
    gives_nan: "nan",
    gives_a_generator: "unreadable",
    gives_a_coroutine: "unreadable",
    gives_a_function: "unreadable",
    gives_another_device: "unreadable",
    gives_sparse: "unreadable",
    gives_too_much: "unreadable",
    gives_a_loop: "unreadable",
    gives_one_row_for_all: "shape",
    patches_equality: "side effect",
}


def everything():
    """All that a check may not change."""
    now = state.State()
    return [
        now.values[0],
        now.values[2:5],
        now.values[5].tolist(),
        now.values[6:],
        state.replaced(),
        sys.stdout,
        sys.stderr,
        threading.active_count(),
    ]


def refuse(answer, kind):
    before = everything()
    verdict = judge(EXERCISE, Given(answer), SLEEPY if answer is sleeps else BUSY)
    assert everything() == before
    assert (verdict.status, verdict.failure.difference.kind) == (WRONG, kind)
    assert verdict.failure.difference.text
    assert len(verdict_card(EXERCISE, verdict).text.splitlines()) <= 25
    assert judge(EXERCISE, Given(keep_top_p)).status == PASSED


@needs_fork
@pytest.mark.parametrize("answer", FATAL, ids=lambda answer: answer.__name__)
def test_an_answer_that_takes_its_process_with_it(answer):
    refuse(answer, FATAL[answer])


@pytest.mark.parametrize("level", ["process", "thread"])
@pytest.mark.parametrize("answer", ORDINARY, ids=lambda answer: answer.__name__)
def test_an_answer_that_misbehaves(answer, level, monkeypatch):
    monkeypatch.setenv("LLM_COURSE_ISOLATION", level)
    refuse(answer, ORDINARY[answer])


@pytest.mark.parametrize("level", ["process", "thread"])
def test_megabytes_of_prints_are_cut_and_cost_nothing(level, monkeypatch, capsys):
    monkeypatch.setenv("LLM_COURSE_ISOLATION", level)

    def prints(probs, top_p):
        print("first line")
        for _ in range(100):
            print("x" * 10_000)
        return probs

    verdict = judge(EXERCISE, Given(prints))
    assert verdict.failure.got.printed.startswith("first line\nxxx")
    assert "first line" in verdict_card(EXERCISE, verdict).text
    assert capsys.readouterr().out == ""
    assert judge(EXERCISE, Given(lambda probs, top_p: print("noise") or keep_top_p(probs, top_p))).passed


def test_a_loop_is_interrupted_where_there_are_only_threads(monkeypatch):
    monkeypatch.setenv("LLM_COURSE_ISOLATION", "thread")
    before = everything()
    verdict = judge(EXERCISE, Given(loops), SLEEPY)
    assert verdict.failure.difference.kind == "time-out"
    assert everything() == before


@needs_fork
def test_a_child_of_the_answer_ends_with_it(tmp_path):
    note = tmp_path / "child"

    def leaves_a_child(probs, top_p):
        if not note.exists():
            note.write_text("0")  # what it stays if this user may not start processes
            child = os.fork()
            if child == 0:
                time.sleep(1000)
            note.write_text(str(child))
        return keep_top_p(probs, top_p)

    verdict = judge(EXERCISE, Given(leaves_a_child))
    child = int(note.read_text())
    assert verdict.passed == (child > 0)
    assert child == 0 or is_gone(child)


def is_gone(pid):
    """Whether a process ends within a few seconds; one that nobody has reaped yet counts as gone."""
    for _wait in range(500):
        try:
            state_line = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True
        if state_line.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


@needs_fork
def test_forged_replies_are_no_answers():
    """An answer that looks for the pipe to the grader and writes to it."""

    def forges(probs, top_p):
        frame = sys._getframe()
        while frame and "replies" not in frame.f_locals:
            frame = frame.f_back
        os.write(frame.f_locals["replies"], b'{"kind": "answer"}\n[1]\nnonsense\n')
        return keep_top_p(probs, top_p)

    worker = open_worker(lambda: forges, None, BUSY)
    worker.load()
    outcome = worker.observe((torch.ones(1, 1), 1.0))
    worker.close()
    assert outcome.kind == "unreadable"


def test_a_patch_made_before_the_check_is_put_aside_and_put_back(monkeypatch):
    fake = lambda *args, **kwargs: torch.ones(1)  # noqa: E731
    monkeypatch.setattr(torch, "where", fake)
    verdict = judge(EXERCISE, Given(keep_top_p))
    assert verdict.passed
    assert "torch.where is not the original function" in " ".join(verdict.notes)
    assert torch.where is fake


def test_a_notebook_with_other_settings_gets_the_same_verdict():
    kept = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        assert judge(EXERCISE, Given(keep_top_p)).passed
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(kept)


def test_a_view_of_an_input_is_right_and_remarked_upon():
    exercise = find("top_k")
    verdict = judge(exercise, Given(lambda logits, top_k: exercise.reference(logits, top_k).where(logits > 9, logits)))
    assert verdict.status == WRONG
    looked_at = judge(EXERCISE, Given(lambda probs, top_p: keep_top_p(probs, top_p) if top_p < 1 else probs))
    assert looked_at.passed
    assert "shares memory with the argument probs" in " ".join(looked_at.notes)


def test_names_of_the_notebook_stay_as_they_were():
    counter = []

    def counts(probs, top_p):
        counter.append(1)
        return keep_top_p(probs, top_p)

    assert judge(EXERCISE, Given(counts)).passed
    assert counter == [] or isolation_level() == "thread"


def imports_a_library_with_warnings_of_its_own(probs, top_p):
    class OfTheLibrary(UserWarning):
        """As the first call of torch.unravel_index brings one in."""

    warnings.filterwarnings("ignore", category=OfTheLibrary)
    return keep_top_p(probs, top_p)


def test_a_filter_for_the_warnings_of_an_imported_library_is_no_side_effect():
    assert judge(EXERCISE, Given(imports_a_library_with_warnings_of_its_own)).status == PASSED
    assert judge(EXERCISE, Given(silences_warnings)).status == WRONG
