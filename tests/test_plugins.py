"""Functions that plug into the loop, the shortest length and the time limit."""

from __future__ import annotations

import time
from functools import partial

import pytest
import torch
from stubs import Scripted, Stub, pad_left, refused, tiny

from llm_gen import generate, generate_steps
from llm_gen.beyond import bias_logits, describe_order, min_p, repetition_penalty

X = torch.tensor([[1, 2], [5, 6]])


def forbid(token):
    def processor(ids, logits):
        logits[:, token] = -torch.inf
        return logits

    return processor


def test_processors_act_on_greedy_decoding_in_their_order():
    shift = lambda ids, logits: logits.roll(1, dims=-1)  # noqa: E731
    mirror = lambda ids, logits: logits.flip(-1)  # noqa: E731
    assert generate(Stub("NEXT"), X, 2, False, processors=[shift])[:, 2:].tolist() == [[4, 6], [8, 0]]
    assert generate(Stub("NEXT"), X, 1, False, processors=[shift, mirror])[:, 2:].tolist() == [[5], [1]]
    assert generate(Stub("NEXT"), X, 1, False, processors=[mirror, shift])[:, 2:].tolist() == [[7], [3]]


@pytest.mark.parametrize("do_sample", [True, False])
def test_a_record_keeps_what_the_model_said_before_a_processor_wrote_into_it(do_sample):
    model = tiny("LLaMA")
    plain = next(generate_steps(model, X, 1, False))
    best = plain.tokens[0, 0].item()
    step = next(generate_steps(model, X, 1, do_sample, processors=[forbid(best)]))
    assert step.logits.equal(plain.logits)
    assert step.model_probs.equal(plain.model_probs)
    assert (step.processed[:, best] == -torch.inf).all()
    assert (step.probs[:, best] == 0).all()
    expected = step.processed.log_softmax(-1).gather(-1, step.tokens)[:, 0]
    torch.testing.assert_close(step.full_log_probs, expected)


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        ({"do_sample": False}, "logits -> tilt -> spy(name='b') -> largest"),
        ({"do_sample": True}, "logits -> tilt -> spy(name='b') -> temperature=1.0 -> spy(name='c') -> tilt -> draw"),
        (
            {"do_sample": True, "temperature": 0.5, "top_p": 0.8},
            "logits -> tilt -> spy(name='b') -> temperature=0.5 -> top_p=0.8 -> spy(name='c') -> tilt -> draw",
        ),
    ],
)
def test_the_order_that_is_told_is_the_order_that_is_kept(settings, order):
    """What a spy sees says where it stands: 20 from the model, 21 after tilt, 42 after a temperature of a half."""
    seen = []

    def tilt(ids, logits):
        return logits + 1

    def spy(ids, logits, name):
        seen.append((name, logits.amax().item(), int(logits.isfinite().sum())))
        return logits

    plugged = {"processors": [tilt, partial(spy, name="b")], "warpers": [partial(spy, name="c"), tilt]}
    assert describe_order(**settings, **plugged) == order
    generate(Stub("NEXT"), X[:1], 1, **settings, **plugged)
    heat = settings.get("temperature", 1.0)
    after_filters = ("c", 21.0 / heat, 1 if "top_p" in settings else 10)
    assert seen == [("b", 21.0, 10), *([after_filters] if settings["do_sample"] else [])]
    with pytest.raises(ValueError, match="temperature must be > 0"):
        describe_order(True, 0)


def test_warpers_act_after_the_filters_and_on_sampling_only():
    seen = []

    def keep_lowest_kept(ids, logits):
        seen.append(logits.isfinite().sum(-1).tolist())
        lowest = logits.isfinite().int().argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, lowest, 0.0)

    model = Scripted([[4], [9]])
    out = generate(model, torch.tensor([[1], [1]]), 1, True, top_k=3, warpers=[keep_lowest_kept])
    assert out[:, 1].tolist() == [0, 0]
    assert seen == [[3, 3]]
    assert generate(model, torch.tensor([[1], [1]]), 1, False, warpers=[keep_lowest_kept])[:, 1].tolist() == [4, 9]
    assert len(seen) == 1


def test_plug_ins_see_the_text_so_far_without_padding_and_cannot_change_it():
    texts = []

    def spy(ids, logits):
        texts.append(ids.tolist())
        ids.fill_(3)
        return logits

    ids, mask = pad_left([[3, 4], [1, 2, 3, 4]])
    out = generate(Stub("SUM"), ids, 2, True, attention_mask=mask, processors=[spy], warpers=[spy])
    assert out.tolist() == [[7, 7, 3, 4, 7, 4], [1, 2, 3, 4, 0, 0]]
    first = [[-1, -1, 3, 4], [1, 2, 3, 4]]
    second = [[-1, -1, 3, 4, 7], [1, 2, 3, 4, 0]]
    assert texts == [first, first, second, second]


@pytest.mark.parametrize("role", ["processors", "warpers"])
@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda ids, logits: None, ["shape (2, 10)", "None"]),
        (lambda ids, logits: logits[:, :5], ["shape (2, 10)", "(2, 5)"]),
        (lambda ids, logits: logits * torch.nan, ["row 0", "NaN"]),
        (lambda ids, logits: logits - torch.inf, ["row 0", "no token is allowed"]),
        (lambda ids, logits: logits.long(), ["floating", "int64"]),
    ],
)
def test_what_a_plug_in_returns_is_checked_and_its_name_given(role, result, words):
    def culprit(ids, logits):
        return result(ids, logits)

    refused(lambda: generate(Stub("NEXT"), X, 2, True, **{role: [culprit]}), ValueError, ["culprit", *words])


@pytest.mark.parametrize(
    ("processor", "error", "words"),
    [
        (partial(repetition_penalty, penalty=0), ValueError, "repetition_penalty(penalty=0) fails: penalty must be"),
        (partial(bias_logits, biases={99: 1.0}), ValueError, "bias_logits(biases={99: 1.0}) fails: biases must lie in"),
        (partial(min_p, share="a"), TypeError, "min_p(share='a') fails: share must be a number, got 'a'"),
    ],
)
def test_a_number_that_a_plug_in_refuses_is_told_with_its_name(processor, error, words):
    refused(lambda: generate(Stub("NEXT"), X, 2, True, processors=[processor]), error, [words])
    refused(lambda: generate(Stub("NEXT"), X, 2, True, warpers=[processor]), error, [words])


def test_no_eos_before_min_new_tokens():
    model = Scripted([[9, 9, 9, 9, 9], [9, 1, 9, 1, 9]])
    out = generate(model, torch.tensor([[5], [5]]), 5, False, eos_token_id=[9, 0], pad_token_id=8, min_new_tokens=2)
    assert out.tolist() == [[5, 1, 1, 9], [5, 1, 1, 9]]
    assert generate(model, torch.tensor([[5], [5]]), 5, False, min_new_tokens=3)[:, 1:].equal(model.rows)


def test_the_step_in_which_the_time_runs_out_is_the_last(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert generate(Stub("NEXT"), X, 9, False, max_time=3).shape == (2, 2 + 3)
    assert generate(Stub("NEXT"), X, 9, False, max_time=0).shape == (2, 2 + 1)
    assert generate(Stub("NEXT"), X, 9, False).shape == (2, 2 + 9)
