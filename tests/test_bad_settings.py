"""Every argument of sampling: wrong kind, wrong value, empty, NaN.

The message names the argument and the value, and the model has not run.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from stubs import MustNotRun, Stub, refused

from llm_gen import filter_logits, generate, generate_steps, sample_next_token, validate_sampling_args

NAN, INF = math.nan, math.inf
X = torch.tensor([[1, 2, 3]])
SETTINGS = [
    pytest.param({"temperature": 0}, ValueError, ["temperature", "> 0", "0", "do_sample=False"], id="T01-zero"),
    pytest.param({"temperature": 0.0}, ValueError, ["temperature", "> 0"], id="T01-zero-float"),
    pytest.param({"temperature": -1.0}, ValueError, ["temperature", "> 0", "-1"], id="T03-negative"),
    pytest.param({"temperature": INF}, ValueError, ["temperature", "finite", "inf"], id="T05-infinite"),
    pytest.param({"temperature": -INF}, ValueError, ["temperature", "finite", "-inf"], id="minus-infinite"),
    pytest.param({"temperature": NAN}, ValueError, ["temperature", "finite", "nan"], id="nan-temperature"),
    pytest.param({"temperature": 10**400}, ValueError, ["temperature", "finite"], id="integer-beyond-float"),
    pytest.param({"temperature": "1"}, TypeError, ["temperature", "number", "'1'"], id="text-temperature"),
    pytest.param({"temperature": None}, TypeError, ["temperature", "number", "None"], id="no-temperature"),
    pytest.param({"temperature": True}, TypeError, ["temperature", "number", "True"], id="bool-temperature"),
    pytest.param({"temperature": 1j}, TypeError, ["temperature", "number", "1j"], id="complex-temperature"),
    pytest.param({"temperature": np.True_}, TypeError, ["temperature", "number", "True"], id="numpy-bool"),
    pytest.param({"temperature": torch.tensor([1.0, 2.0])}, TypeError, ["temperature", "number"], id="two-numbers"),
    pytest.param({"top_k": 0}, ValueError, ["top_k", ">= 1", "0"], id="zero-top_k"),
    pytest.param({"top_k": -1}, ValueError, ["top_k", ">= 1", "-1"], id="K07-minus-one"),
    pytest.param({"top_k": -5}, ValueError, ["top_k", ">= 1", "-5"], id="K07-minus-five"),
    pytest.param({"top_k": 2.0}, TypeError, ["top_k", "integer", "2.0"], id="float-top_k"),
    pytest.param({"top_k": NAN}, TypeError, ["top_k", "integer", "nan"], id="nan-top_k"),
    pytest.param({"top_k": True}, TypeError, ["top_k", "integer", "True"], id="bool-top_k"),
    pytest.param({"top_k": "5"}, TypeError, ["top_k", "integer", "'5'"], id="text-top_k"),
    pytest.param({"top_k": [2]}, TypeError, ["top_k", "integer", "[2]"], id="list-top_k"),
    pytest.param({"top_p": 0.0}, ValueError, ["top_p", "(0, 1]", "0.0"], id="P07-zero"),
    pytest.param({"top_p": -0.1}, ValueError, ["top_p", "(0, 1]", "-0.1"], id="P10-negative"),
    pytest.param({"top_p": 1.0000001}, ValueError, ["top_p", "(0, 1]", "1.0000001"], id="P10-a-hair-too-much"),
    pytest.param({"top_p": 1.5}, ValueError, ["top_p", "(0, 1]", "1.5"], id="P10-over-one"),
    pytest.param({"top_p": 2}, ValueError, ["top_p", "(0, 1]", "2"], id="P10-two"),
    pytest.param({"top_p": INF}, ValueError, ["top_p", "finite", "inf"], id="P10-infinite"),
    pytest.param({"top_p": -INF}, ValueError, ["top_p", "finite", "-inf"], id="P10-minus-infinite"),
    pytest.param({"top_p": NAN}, ValueError, ["top_p", "finite", "nan"], id="nan-top_p"),
    pytest.param({"top_p": True}, TypeError, ["top_p", "number", "True"], id="bool-top_p"),
    pytest.param({"top_p": "0.9"}, TypeError, ["top_p", "number", "'0.9'"], id="text-top_p"),
]
NEVER_BOTH = pytest.param({"top_k": 3, "top_p": 0.5}, ValueError, ["top_k", "top_p", "3", "0.5"], id="P21-both")
SAMPLERS = {
    "validate": lambda **more: validate_sampling_args(True, **more),
    "sample": lambda **more: sample_next_token(torch.zeros(1, 5), True, **more),
    "generate": lambda **more: generate(MustNotRun(), X, 2, True, **more),
    "generate_steps": lambda **more: generate_steps(MustNotRun(), X, 2, True, **more),
}
FILTERS = {"filter": lambda **more: filter_logits(torch.zeros(1, 5), **more), **SAMPLERS}


@pytest.mark.parametrize("entry", FILTERS)
@pytest.mark.parametrize(("settings", "error", "words"), SETTINGS)
def test_sampling_settings(entry, settings, error, words):
    refused(lambda: FILTERS[entry](**settings), error, words)


@pytest.mark.parametrize("entry", SAMPLERS)
@pytest.mark.parametrize(("settings", "error", "words"), [NEVER_BOTH])
def test_top_k_and_top_p_are_combined_in_filter_logits_only(entry, settings, error, words):
    refused(lambda: SAMPLERS[entry](**settings), error, words)
    filter_logits(torch.zeros(1, 5), **settings)


@pytest.mark.parametrize("value", [1, 0, None, "yes", 1.0])
def test_do_sample_is_true_or_false(value):
    for call in (
        lambda: validate_sampling_args(value, 1.0, None, None),
        lambda: sample_next_token(torch.zeros(1, 5), value),
        lambda: generate(MustNotRun(), X, 2, value),
    ):
        refused(call, TypeError, ["do_sample", "True or False", repr(value)])


BAD_LOGITS = [
    pytest.param(torch.tensor([[1.0, NAN, 5.0]]), ValueError, ["row 0", "NaN"], id="L03-nan"),
    pytest.param(torch.tensor([[1.0, 2.0], [0.0, NAN]]), ValueError, ["row 1", "NaN"], id="L03-nan-in-row-1"),
    pytest.param(torch.tensor([[NAN, INF], [0.0, 0.0]]), ValueError, ["row 0", "NaN"], id="nan-beside-inf"),
    pytest.param(torch.tensor([[0.0, INF, 3.0]]), ValueError, ["row 0", "+inf"], id="L04-inf"),
    pytest.param(torch.full((1, 3), -INF), ValueError, ["row 0", "no token is allowed"], id="L01-nothing-allowed"),
    pytest.param(torch.tensor([[0.0, 1.0], [-INF, -INF]]), ValueError, ["row 1", "no token"], id="L01-row-1"),
    pytest.param(torch.tensor([1.0, 5.0, 2.0]), ValueError, ["(B, V)", "(3,)"], id="L06-one-axis"),
    pytest.param(torch.zeros(2, 3, 5), ValueError, ["(B, V)", "(2, 3, 5)"], id="L06-three-axes"),
    pytest.param(torch.tensor(1.0), ValueError, ["(B, V)", "()"], id="L06-no-axis"),
    pytest.param(torch.zeros(2, 0), ValueError, ["V >= 1", "(2, 0)"], id="empty-vocabulary"),
    pytest.param(torch.zeros(1, 3, dtype=torch.long), TypeError, ["floating", "int64"], id="integers"),
    pytest.param(torch.zeros(1, 3, dtype=torch.bool), TypeError, ["floating", "bool"], id="bools"),
    pytest.param([[1.0, 2.0]], TypeError, ["tensor", "list"], id="list"),
    pytest.param(np.zeros((1, 3)), TypeError, ["tensor", "ndarray"], id="numpy"),
    pytest.param(None, TypeError, ["tensor", "NoneType"], id="none"),
]


@pytest.mark.parametrize(("logits", "error", "words"), BAD_LOGITS)
def test_logits(logits, error, words):
    refused(lambda: sample_next_token(logits, False), error, ["logits", *words])
    refused(lambda: sample_next_token(logits, True), error, ["logits", *words])
    refused(lambda: filter_logits(logits, top_p=0.9), error, ["logits", *words])
    refused(lambda: filter_logits(logits), error, ["logits", *words])


def test_l03_logits_of_a_model_are_checked_in_every_step():
    class Faulty(Stub):
        def __call__(self, ids, attention_mask=None, cache=None):
            logits = super().__call__(ids, attention_mask, cache)
            return torch.where(torch.tensor(ids.shape[1] >= 5), NAN, logits)

    for do_sample in (True, False):
        model = Faulty("NEXT")
        refused(lambda model=model, d=do_sample: generate(model, X, 9, d), ValueError, ["logits", "row 0", "NaN"])
        assert len(model.fed) == 3


def generators(count):
    return [torch.Generator().manual_seed(i) for i in range(count)]


@pytest.mark.parametrize(
    ("generator", "error", "words"),
    [
        (3, TypeError, ["torch.Generator", "int"]),
        ("seed", TypeError, ["torch.Generator", "str"]),
        ([1, 2], TypeError, ["torch.Generator", "int"]),
        (generators(1), ValueError, ["one per row", "2 here", "got 1"]),
        (generators(3), ValueError, ["one per row", "2 here", "got 3"]),
        ([], ValueError, ["one per row", "got 0"]),
        (generators(1) * 2, ValueError, ["different", "same one twice"]),
    ],
    ids=["int", "text", "ints", "too-few", "too-many", "empty", "twice"],
)
def test_generator(generator, error, words):
    logits, x = torch.zeros(2, 5), torch.tensor([[1], [2]])
    refused(lambda: sample_next_token(logits, True, generator=generator), error, ["generator", *words])
    refused(lambda: generate(MustNotRun(), x, 2, True, generator=generator), error, ["generator", *words])


def test_r08_generator_on_another_device():
    from llm_gen.sampling import check_generator

    logits = torch.empty(1, 5, device="meta")
    refused(lambda: check_generator(torch.Generator(), logits), ValueError, ["generator", "meta", "cpu"])
    refused(lambda: check_generator([torch.Generator()], logits), ValueError, ["generator", "meta", "cpu"])
