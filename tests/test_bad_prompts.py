"""Every argument of the generation loop and of the small functions around it: wrong kind, wrong value, empty, NaN.

The message names the argument and the value, and the model has not run.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from stubs import MustNotRun, refused, tiny

import llm_gen
from llm_gen import generate, generate_steps

NAN, INF = math.nan, math.inf
X = torch.tensor([[1, 2, 3]])
GENERATE = [
    pytest.param({"x": [[1, 2]]}, TypeError, ["x", "tensor", "list"], id="list"),
    pytest.param({"x": np.array([[1]])}, TypeError, ["x", "tensor", "ndarray"], id="numpy"),
    pytest.param({"x": X.float()}, TypeError, ["x", "integer dtype", "float32"], id="float-ids"),
    pytest.param({"x": X.bool()}, TypeError, ["x", "integer dtype", "bool"], id="bool-ids"),
    pytest.param({"x": X + 0j}, TypeError, ["x", "integer dtype", "complex"], id="complex-ids"),
    pytest.param({"x": X[0]}, ValueError, ["x", "(B, T)", "(3,)"], id="one-axis"),
    pytest.param({"x": X[None]}, ValueError, ["x", "(B, T)", "(1, 1, 3)"], id="three-axes"),
    pytest.param({"x": X[:, :0]}, ValueError, ["x", "empty", "(1, 0)"], id="I01-empty-prompt"),
    pytest.param({"x": X[:0, :0]}, ValueError, ["x", "empty", "(0, 0)"], id="I01-nothing-at-all"),
    pytest.param({"x": X + 7}, ValueError, ["x", "0..9", "10"], id="I05-id-V"),
    pytest.param({"x": X - 2}, ValueError, ["x", "0..9", "-1"], id="I05-negative-id"),
    pytest.param({"max_new_tokens": -3}, ValueError, ["max_new_tokens", ">= 0", "-3"], id="E15-negative"),
    pytest.param({"max_new_tokens": 2.5}, TypeError, ["max_new_tokens", "integer", "2.5"], id="E15-float"),
    pytest.param({"max_new_tokens": 2.0}, TypeError, ["max_new_tokens", "integer", "2.0"], id="E15-whole-float"),
    pytest.param({"max_new_tokens": True}, TypeError, ["max_new_tokens", "integer", "True"], id="E15-bool"),
    pytest.param({"max_new_tokens": None}, TypeError, ["max_new_tokens", "integer", "None"], id="E15-none"),
    pytest.param({"max_new_tokens": NAN}, TypeError, ["max_new_tokens", "integer", "nan"], id="E15-nan"),
    pytest.param({"use_cache": 1}, TypeError, ["use_cache", "True or False", "1"], id="use_cache-int"),
    pytest.param({"use_cache": None}, TypeError, ["use_cache", "True or False", "None"], id="use_cache-none"),
    pytest.param({"eos_token_id": 10}, ValueError, ["eos_token_id", "0..9", "10"], id="eos-V"),
    pytest.param({"eos_token_id": -1}, ValueError, ["eos_token_id", ">= 0", "-1"], id="eos-negative"),
    pytest.param({"eos_token_id": [3, 10]}, ValueError, ["eos_token_id", "0..9", "10"], id="eos-list-V"),
    pytest.param({"eos_token_id": 9.0}, TypeError, ["eos_token_id", "integer", "9.0"], id="eos-float"),
    pytest.param({"eos_token_id": "9"}, TypeError, ["eos_token_id", "integer", "'9'"], id="eos-text"),
    pytest.param({"eos_token_id": [[9]]}, TypeError, ["eos_token_id", "integer", "[9]"], id="eos-nested"),
    pytest.param({"eos_token_id": True}, TypeError, ["eos_token_id", "integer", "True"], id="eos-bool"),
    pytest.param({"eos_token_id": torch.tensor([True])}, TypeError, ["eos_token_id", "integer"], id="eos-bools"),
    pytest.param({"pad_token_id": 10}, ValueError, ["pad_token_id", "0..9", "10"], id="E13-pad-V"),
    pytest.param({"pad_token_id": -100}, ValueError, ["pad_token_id", ">= 0", "-100"], id="E13-pad-negative"),
    pytest.param({"pad_token_id": 0.0}, TypeError, ["pad_token_id", "integer", "0.0"], id="pad-float"),
    pytest.param({"pad_token_id": [0]}, TypeError, ["pad_token_id", "integer", "[0]"], id="pad-list"),
    pytest.param({"attention_mask": [[1, 1, 1]]}, TypeError, ["attention_mask", "tensor", "list"], id="mask-list"),
    pytest.param({"processors": len}, TypeError, ["processors", "list of functions"], id="one-processor"),
    pytest.param({"processors": [3]}, TypeError, ["processors", "list of functions", "[3]"], id="no-functions"),
    pytest.param({"warpers": [None]}, TypeError, ["warpers", "list of functions", "[None]"], id="no-warpers"),
    pytest.param({"min_new_tokens": -1}, ValueError, ["min_new_tokens", ">= 0", "-1"], id="negative-minimum"),
    pytest.param({"min_new_tokens": 1.5}, TypeError, ["min_new_tokens", "integer", "1.5"], id="float-minimum"),
    pytest.param({"max_time": -1}, ValueError, ["max_time", ">= 0", "-1"], id="negative-time"),
    pytest.param({"max_time": NAN}, ValueError, ["max_time", "finite", "nan"], id="nan-time"),
    pytest.param({"max_time": "1"}, TypeError, ["max_time", "number", "'1'"], id="text-time"),
]
BAD_MASKS = [
    *(
        pytest.param(torch.ones(shape), ["shape", "(1, 3)", str(shape)], id=f"M08-{'x'.join(map(str, shape))}")
        for shape in ((1, 2), (1, 5), (3,), (1,), (2, 3), (1, 1, 3, 3), ())
    ),
    pytest.param(torch.tensor([[0.0, -INF, 0.0]]), ["0", "1", "-inf"], id="M10-additive"),
    pytest.param(torch.tensor([[0, 2, 1]]), ["0", "1", "2"], id="M10-two"),
    pytest.param(torch.tensor([[0.5, 1.0, 1.0]]), ["0", "1", "0.5"], id="M10-half"),
    pytest.param(torch.tensor([[NAN, 1.0, 1.0]]), ["0", "1", "nan"], id="M10-nan"),
    pytest.param(torch.tensor([[-1, 1, 1]]), ["0", "1", "-1"], id="M10-minus-one"),
    pytest.param(torch.tensor([[1, 1, 0]]), ["left", "row 0"], id="M06-right-padding"),
    pytest.param(torch.tensor([[1, 0, 1]]), ["left", "row 0"], id="M06-hole"),
    pytest.param(torch.tensor([[0, 0, 0]]), ["at least one", "row 0"], id="empty-row"),
]


@pytest.mark.parametrize(("arguments", "error", "words"), GENERATE)
@pytest.mark.parametrize("entry", [generate, generate_steps], ids=["generate", "generate_steps"])
def test_generation_arguments(entry, arguments, error, words):
    arguments = {"x": X, "max_new_tokens": 2, "do_sample": False, **arguments}
    refused(lambda: entry(MustNotRun(), **arguments), error, words)


@pytest.mark.parametrize(("mask", "words"), BAD_MASKS)
def test_attention_mask(mask, words):
    words = ["attention_mask", *words]
    refused(lambda: generate(MustNotRun(), X, 2, False, attention_mask=mask), ValueError, words)
    refused(lambda: generate_steps(MustNotRun(), X, 2, False, attention_mask=mask), ValueError, words)
    refused(lambda: llm_gen.check_generation_mask(mask, X), ValueError, words)
    refused(lambda: tiny("LLaMA")(X, mask), ValueError, words)


def test_unknown_keyword_and_missing_arguments():
    for entry in (generate, generate_steps):
        refused(lambda entry=entry: entry(MustNotRun(), X, 2, False, temprature=1.0), TypeError, ["temprature"])
        refused(lambda entry=entry: entry(MustNotRun(), X, 2), TypeError, ["do_sample"])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: llm_gen.cache_start_pos("a"), TypeError, ["cache", "'a'"]),
        (lambda: llm_gen.check_generation_mask(torch.ones(1, 3), [[1]]), TypeError, ["x", "tensor", "list"]),
        (lambda: llm_gen.next_generation_input([1], None, True, 4), TypeError, ["x", "tensor", "[1]"]),
        (lambda: llm_gen.next_generation_input(X, None, 1, 4), TypeError, ["use_cache", "1"]),
        (lambda: llm_gen.next_generation_input(X, None, True, 0), ValueError, ["max_seq_len", ">= 1", "0"]),
        (lambda: llm_gen.check_sequence_length(2, 7, 8), ValueError, ["seq_len", "max_seq_len", "8", "7 + 2"]),
        (lambda: llm_gen.check_sequence_length(-1, 0, 8), ValueError, ["seq_len", ">= 0", "-1"]),
        (lambda: llm_gen.check_sequence_length(1, -1, 8), ValueError, ["start_pos", ">= 0", "-1"]),
        (lambda: llm_gen.check_sequence_length(1, 0, 0), ValueError, ["max_seq_len", ">= 1", "0"]),
        (lambda: llm_gen.check_sequence_length(1.0, 0, 8), TypeError, ["seq_len", "integer", "1.0"]),
    ],
)
def test_small_functions(call, error, words):
    refused(call, error, words)
