"""Detectors: each fault produced on purpose and found where it starts; healthy text is left in peace."""

import json

import pytest
import torch
from stubs import Stub

from llm_gen import generate_steps
from llm_gen.beyond import Trace, diagnose, find_loop, record_trace


def trace(ids, prob=0.5, ended=True, **odd):
    probs = [odd.get(f"at_{place}", prob) for place in range(len(ids))]
    return Trace(list(ids), probs, [1.0] * len(ids), ended)


def names(*args, **settings):
    return [finding.name for finding in diagnose(*args, **settings)]


def test_a_loop_is_found_with_its_period_and_its_start():
    growing = Trace([9, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3], [0.2] * 2 + [0.3] * 3 + [0.6] * 3 + [0.9] * 3, [1.0] * 11, False)
    loop = find_loop(growing)
    assert (loop.start, loop.period) == (2, 3)
    assert loop.strengths == pytest.approx([0.3, 0.6, 0.9])
    finding = diagnose(growing)[0]
    assert finding.name == "repetition loop" and finding.at == 2
    assert "3 times" in finding.seen and "30%" in finding.seen and "90%" in finding.seen


@pytest.mark.parametrize("ids", [[1, 2, 3, 4, 5], [1, 2, 1, 2, 3], [7, 7], [], [1, 2, 3, 1, 2, 3]])
def test_no_loop_where_the_end_does_not_repeat_three_times(ids):
    assert find_loop(trace(ids)) is None


def test_the_end_token_does_not_hide_a_loop():
    assert find_loop(trace([4, 5, 4, 5, 4, 5, 0])).period == 2


def test_a_real_loop_is_seen_through_the_steps():
    model = Stub("NEXT", vocab_size=4)
    steps = generate_steps(model, torch.tensor([[0]]), 13, False, eos_token_id=None)
    seen = record_trace(steps)
    assert seen.ids[:5] == [1, 2, 3, 0, 1] and not seen.ended
    assert find_loop(seen).period == 4 and names(seen) == ["repetition loop", "runs on"]


def test_the_trace_of_a_row_ends_with_its_end():
    steps = generate_steps(Stub("NEXT"), torch.tensor([[1], [5]]), 9, False, eos_token_id=7, pad_token_id=0)
    seen = record_trace(steps, row=1)
    assert seen.ids == [6, 7] and seen.ended and names(seen) == ["early end"]
    assert seen.probs == pytest.approx([1, 1], abs=1e-4) and seen.entropies == pytest.approx([0, 0], abs=1e-3)


def test_sudden_surprise_is_measured_against_the_entropy():
    ids = range(10)
    assert names(trace(ids, at_4=1e-4)) == ["sudden surprise"]
    assert diagnose(trace(ids, at_4=1e-4))[0].at == 4
    assert names(trace(ids, at_4=0.01)) == []
    assert names(trace(ids, at_4=0.01), bits=5) == ["sudden surprise"]


def test_a_healthy_text_has_no_findings():
    assert names(trace(range(30))) == []


def test_format_is_judged_by_the_callers_function():
    def is_json(text):
        try:
            json.loads(text)
        except ValueError:
            return False
        return True

    assert names(trace(range(9)), text='{"a": 1}', is_valid=is_json) == []
    assert names(trace(range(9)), text='{"a": 1', is_valid=is_json) == ["format broken"]


def test_every_finding_says_cause_and_remedy():
    everything = diagnose(trace([1, 1, 1, 1], ended=False, at_0=1e-9), text="x", is_valid=lambda text: False)
    assert [finding.name for finding in everything] == [
        "repetition loop",
        "sudden surprise",
        "runs on",
        "format broken",
    ]
    assert all(len(finding.cause) > 20 and len(finding.remedy) > 20 and finding.seen for finding in everything)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"shortest": -1}, ValueError, "shortest must be an integer >= 0"),
        ({"bits": "many"}, TypeError, "bits must be a number"),
        ({"text": "x"}, ValueError, "text and is_valid must be given together"),
    ],
)
def test_wrong_arguments_are_refused_by_name(settings, error, words):
    with pytest.raises(error, match=words):
        diagnose(trace([1]), **settings)
    with pytest.raises(ValueError, match="repeats must be an integer >= 2"):
        find_loop(trace([1]), repeats=1)


def test_the_order_is_told_in_one_line():
    from functools import partial

    from llm_gen.beyond import describe_order, min_p, repetition_penalty

    def mine(ids, logits):
        return logits

    penalty, cut = partial(repetition_penalty, penalty=1.2), partial(min_p, share=0.1)
    assert describe_order(True, 0.8, top_p=0.9, processors=[penalty, mine], warpers=[cut]) == (
        "logits -> repetition_penalty(penalty=1.2) -> mine -> temperature=0.8 -> top_p=0.9 -> min_p(share=0.1) -> draw"
    )
    assert describe_order(False, processors=[mine], warpers=[cut]) == "logits -> mine -> largest"
    with pytest.raises(ValueError, match="top_p"):
        describe_order(True, top_p=2)
