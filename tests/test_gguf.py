"""GGUF files written here with the `gguf` package and read back by our own reader."""

from __future__ import annotations

import gguf
import numpy as np
import pytest
import torch
from gguf_files import CONFIG, FIELDS, MODEL, TENSORS, TOKENS, make_model, tensors_of, write, write_vocabulary

from llm_gen.model import DecoderLM
from llm_gen.weights import load_model, load_tokenizer
from llm_gen.weights.blank import blank_model
from llm_gen.weights.gguf_file import GGUFFile

IDS = torch.tensor([[5, 9, 200, 31, 2, 77, 8, 140]])


def same_model(loaded: DecoderLM, model: DecoderLM) -> bool:
    with torch.no_grad():
        return loaded.config == model.config and torch.equal(loaded(IDS), model(IDS))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tie_embeddings": True},
        {"qkv_bias": True},
        {"attention_out_bias": True, "mlp_bias": True},
    ],
)
def test_a_model_comes_back_bit_for_bit(tmp_path, changes):
    model = make_model(**changes)
    loaded = load_model(write(tmp_path / "m.gguf", tensors_of(model)))
    assert same_model(loaded, model)
    assert not loaded.training
    assert {parameter.device.type for parameter in loaded.parameters()} == {"cpu"}
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.float32}


def test_optional_fields_have_the_defaults_of_the_format(tmp_path):
    absent = (
        "attention.head_count_kv",
        "attention.key_length",
        "attention.value_length",
        "rope.freq_base",
        "vocab_size",
    )
    model = make_model(num_kv_heads=4, head_size=16, rope_theta=10000.0)
    fields = {**FIELDS, **dict.fromkeys(f"llama.{name}" for name in (*absent, "rope.dimension_count"))}
    assert same_model(load_model(write(tmp_path / "m.gguf", tensors_of(model), fields)), model)


@pytest.mark.parametrize(
    ("scaling", "expected"),
    [
        ({"type": "linear", "factor": 4.0}, {"rope_type": "linear", "factor": 4.0}),
        ({"factor": 2.0, "original_context_length": 16}, {"rope_type": "linear", "factor": 2.0}),
        ({"type": "none", "factor": 4.0}, None),
        ({"type": "linear", "factor": 1.0, "attn_factor": 1.0}, None),
    ],
)
def test_rope_scaling_is_honoured(tmp_path, scaling, expected):
    fields = {**FIELDS, **{f"llama.rope.scaling.{name}": value for name, value in scaling.items()}}
    assert load_model(write(tmp_path / "m.gguf", TENSORS, fields)).config.rope_scaling == expected


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_1", "Q4_0", "Q5_1", "Q6_K", "IQ4_NL"])
def test_numbers_expand_as_the_package_expands_them(tmp_path, kind):
    kind = gguf.GGMLQuantizationType[kind]
    values, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = np.random.default_rng(0).integers(0, 256, (6, 2 * size), dtype=np.uint8)
    # Scales that are NaN or infinite would compare unequal and say nothing: clear the top exponent bit everywhere.
    blocks &= 0xBF
    file = GGUFFile(write(tmp_path / "m.gguf", {"x": blocks}, kind=kind))
    ours = file.read("x", torch.empty(6, 2 * values))
    assert np.array_equal(ours.numpy(), gguf.dequantize(blocks, kind))


def test_weights_in_blocks_make_a_model(tmp_path):
    model = make_model()
    loaded = load_model(write(tmp_path / "m.gguf", tensors_of(model), kind=gguf.GGMLQuantizationType.Q8_0))
    for name, weight in model.state_dict().items():
        assert torch.allclose(loaded.state_dict()[name], weight, atol=weight.abs().max().item() / 127), name


def test_a_blank_model_draws_no_random_numbers():
    before = torch.get_rng_state()
    model = blank_model(CONFIG)
    assert torch.equal(torch.get_rng_state(), before)
    assert {name: p.shape for name, p in model.named_parameters()} == {n: p.shape for n, p in MODEL.named_parameters()}
    assert all(parameter.is_meta for parameter in model.parameters())


@pytest.fixture
def tokenizer_with(tmp_path):
    return lambda **changes: load_tokenizer(write_vocabulary(tmp_path / "t.gguf", **changes))


def test_the_tokenizer_is_cut_as_the_file_says(tokenizer_with):
    smollm = tokenizer_with()
    assert [smollm.token_text(token) for token in smollm.encode("x  12 th")] == ["x", "  ", "1", "2", " ", "th"]
    # GPT-2 leaves a number together with the space before it, so here the two spaces are cut apart.
    assert [*map(smollm.token_text, tokenizer_with(pre="gpt-2").encode("x  1"))] == ["x", " ", " ", "1"]


def test_the_tokenizer_has_the_names_of_the_file(tokenizer_with):
    tokenizer = tokenizer_with()
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id, tokenizer.vocab_size) == (0, 1, 1, len(TOKENS))
    assert tokenizer.chat_template == "{{ messages }}"
    assert tokenizer.encode("<|im_end|><file_sep>", allow_control=True) == [1, 2]
    assert not {1, 2} & set(tokenizer.encode("<|im_end|><file_sep>"))
    without = tokenizer_with(bos_token_id=None, padding_token_id=None)
    assert (without.bos_id, without.eos_id, without.pad_id) == (None, 1, None)


def test_bos_and_eos_are_added_where_the_file_wants_them(tokenizer_with):
    plain = tokenizer_with().encode("a")
    assert tokenizer_with(add_bos_token=True).encode("a") == [0, *plain]
    assert tokenizer_with(add_bos_token=True, add_eos_token=True).encode("a") == [0, *plain, 1]
    assert tokenizer_with(add_eos_token=True).encode("a", add_special_tokens=False) == plain
