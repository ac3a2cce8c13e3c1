"""ModelConfig: what it derives, what it refuses, and that each family is a row of data."""

from __future__ import annotations

import dataclasses
import json
import math
from types import MappingProxyType

import numpy as np
import pytest
from stubs import FAMILIES, refused

import llm_gen
from llm_gen import DecoderLM, LLaMA, ModelConfig
from llm_gen.families import FAMILIES as ROWS

SIZES = {"vocab_size": 31, "embed_dim": 32, "num_heads": 4, "num_layers": 2, "max_position_embeddings": 16}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
COUNTS = [*SIZES, "num_kv_heads", "head_size", "mlp_dim", "window_size", "num_experts", "top_k_experts"]
FLAGS = [field.name for field in dataclasses.fields(ModelConfig) if isinstance(field.default, bool)]


def test_defaults_are_derived_from_the_sizes():
    config = ModelConfig(**SIZES)
    assert (config.num_kv_heads, config.head_size, config.mlp_dim) == (4, 8, 85)
    assert ModelConfig(**SIZES, gated_mlp=False).mlp_dim == 128
    assert ModelConfig(**{**SIZES, "embed_dim": 30}, head_size=6).head_size == 6


def test_a_mapping_and_its_config_are_one_and_the_same_through_json():
    config = ModelConfig(**SIZES, num_kv_heads=2, window_size=4, rope_scaling=LLAMA3, norm_adds_one=True)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert set(config.to_dict()) == {field.name for field in dataclasses.fields(ModelConfig)}


def test_numpy_numbers_become_plain_ones():
    config = ModelConfig(**{name: np.int64(value) for name, value in SIZES.items()}, dropout=np.float32(0.5))
    json.dumps(config.to_dict())
    assert (config.vocab_size, config.dropout) == (31, 0.5)


def test_numbers_of_rope_scaling_become_plain_ones_too():
    numbers = {"factor": np.float32(8), "original_max_position_embeddings": np.int64(8192)}
    config = ModelConfig(**SIZES, rope_scaling={**LLAMA3, **numbers})
    assert json.loads(json.dumps(config.to_dict()))["rope_scaling"] == LLAMA3
    assert type(config.rope_scaling["original_max_position_embeddings"]) is int


def test_config_cannot_be_changed_not_even_through_the_callers_dict():
    scaling = {"rope_type": "linear", "factor": 2.0}
    config = ModelConfig(**SIZES, rope_scaling=scaling)
    scaling["factor"] = 9.0
    assert config.rope_scaling["factor"] == 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.vocab_size = 5
    assert ModelConfig(**SIZES, rope_scaling=MappingProxyType(scaling)).to_dict()["rope_scaling"] == scaling


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (0, ValueError, [">= 1", "0"]),
        (-1, ValueError, [">= 1", "-1"]),
        (2.0, TypeError, ["integer", "2.0"]),
        (math.nan, TypeError, ["integer", "nan"]),
        (True, TypeError, ["integer", "True"]),
        ("4", TypeError, ["integer", "'4'"]),
        ([4], TypeError, ["integer", "[4]"]),
    ],
)
def test_counts(name, value, error, words):
    experts = {"num_experts": 4, "top_k_experts": 2}
    refused(lambda: ModelConfig(**{**SIZES, **experts, name: value}), error, [name, *words])


@pytest.mark.parametrize("name", SIZES)
def test_sizes_without_a_default_may_not_be_none_or_missing(name):
    refused(lambda: ModelConfig(**{**SIZES, name: None}), TypeError, [name, "integer", "None"])
    rest = {key: value for key, value in SIZES.items() if key != name}
    refused(lambda: ModelConfig.from_dict(rest), ValueError, ["missing", name])
    refused(lambda: LLaMA(rest), ValueError, ["missing", name])


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [1, None, "yes"])
def test_flags(name, value):
    refused(lambda: ModelConfig(**{**SIZES, name: value}), TypeError, [name, "True or False", repr(value)])


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"dropout": 1.0}, ValueError, ["dropout", "[0, 1)", "1.0"]),
        ({"dropout": -0.1}, ValueError, ["dropout", "[0, 1)", "-0.1"]),
        ({"dropout": math.nan}, ValueError, ["dropout", "finite", "nan"]),
        ({"dropout": "0"}, TypeError, ["dropout", "number", "'0'"]),
        ({"dropout": None}, TypeError, ["dropout", "number", "None"]),
        ({"rope_theta": 0}, ValueError, ["rope_theta", "> 0", "0"]),
        ({"rope_theta": math.inf}, ValueError, ["rope_theta", "finite", "inf"]),
        ({"norm_eps": -1e-5}, ValueError, ["norm_eps", "> 0", "-1e-05"]),
        ({"norm_eps": True}, TypeError, ["norm_eps", "number", "True"]),
        ({"positions": "sinus"}, ValueError, ["positions", "rope, learned", "'sinus'"]),
        ({"norm": "batch"}, ValueError, ["norm", "rms, layer", "'batch'"]),
        ({"activation": "swish"}, ValueError, ["activation", "silu, gelu, gelu_tanh, relu", "'swish'"]),
        ({"positions": 3}, TypeError, ["positions", "string", "3"]),
        ({"activation": None}, TypeError, ["activation", "string", "None"]),
        ({"norm": ["rms"]}, TypeError, ["norm", "string", "['rms']"]),
        ({"embed_dim": 30}, ValueError, ["embed_dim", "multiple of num_heads", "30", "4"]),
        ({"num_kv_heads": 3}, ValueError, ["num_heads", "multiple of num_kv_heads", "4", "3"]),
        ({"head_size": 5}, ValueError, ["head_size", "even", "5"]),
        ({"norm_adds_one": True, "norm": "layer"}, ValueError, ["norm_adds_one", "rms", "'layer'"]),
        ({"num_experts": 4}, ValueError, ["num_experts", "top_k_experts", "together", "4", "None"]),
        ({"top_k_experts": 4}, ValueError, ["num_experts", "top_k_experts", "together", "None"]),
        ({"num_experts": 2, "top_k_experts": 3}, ValueError, ["top_k_experts", "num_experts 2", "3"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_choices_and_numbers(fields, error, words):
    refused(lambda: ModelConfig(**{**SIZES, **fields}), error, words)
    refused(lambda: LLaMA({**SIZES, **fields}), error, words)


def without(name):
    return {key: value for key, value in LLAMA3.items() if key != name}


@pytest.mark.parametrize(
    ("scaling", "error", "words"),
    [
        ("linear", TypeError, ["mapping", "'linear'"]),
        ({}, ValueError, ["rope_type", "linear", "llama3", "{}"]),
        ({"rope_type": "yarn", "factor": 2.0}, ValueError, ["rope_type", "linear", "llama3", "yarn"]),
        ({"rope_type": ["linear"], "factor": 2.0}, ValueError, ["rope_type", "['linear']"]),
        ({"rope_type": "linear"}, ValueError, ["factor"]),
        ({"rope_type": "linear", "factor": 2.0, "beta": 1}, ValueError, ["nothing else", "beta"]),
        ({"rope_type": "linear", "factor": 0}, ValueError, ["factor", "> 0", "0"]),
        ({"rope_type": "linear", "factor": math.nan}, ValueError, ["factor", "finite", "nan"]),
        ({"rope_type": "linear", "factor": "2"}, TypeError, ["factor", "number", "'2'"]),
        (without("high_freq_factor"), ValueError, ["high_freq_factor"]),
        ({**LLAMA3, "high_freq_factor": 1.0}, ValueError, ["high_freq_factor", "> low_freq_factor", "1.0"]),
    ],
)
def test_rope_scaling(scaling, error, words):
    refused(lambda: ModelConfig(**SIZES, rope_scaling=scaling), error, ["rope_scaling", *words])


def test_rope_scaling_is_not_ignored_where_positions_are_learned():
    fields = {**SIZES, "positions": "learned", "rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    refused(lambda: ModelConfig(**fields), ValueError, ["rope_scaling", "positions", "'learned'"])


@pytest.mark.parametrize("value", [None, "tiny", 3, [("vocab_size", 3)]])
def test_a_config_is_a_mapping(value):
    refused(lambda: ModelConfig.from_dict(value), TypeError, ["config", "mapping", repr(value)])
    refused(lambda: LLaMA(value), TypeError, ["config", "mapping", repr(value)])


def test_unknown_fields_are_named():
    refused(lambda: LLaMA({**SIZES, "n_head": 4, "bias": True}), ValueError, ["known fields", "bias, n_head"])
    refused(lambda: ModelConfig.from_dict({**SIZES, 3: 4}), ValueError, ["known fields", "3"])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_its_row_and_its_name_changes_nothing(family):
    named = getattr(llm_gen, family)(SIZES)
    assert named.config == ModelConfig(**{**ROWS[family], **SIZES})
    plain = DecoderLM(named.config)
    assert {k: v.shape for k, v in plain.state_dict().items()} == {k: v.shape for k, v in named.state_dict().items()}
    assert getattr(llm_gen, family)({**SIZES, "norm_eps": 0.25}).config.norm_eps == 0.25, "a user's field wins"
