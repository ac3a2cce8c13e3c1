"""Reading Hugging Face folders: every field honoured or refused by name, every tensor accounted for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
from parity_table import BOUND, GPT_SIZES, LLAMA3, LLAMA_SIZES, Case, make_batch, make_reference
from safetensors.torch import load_file, save_file

from llm_gen import CheckpointError
from llm_gen import families as rows
from llm_gen.weights import load_model
from llm_gen.weights.blank import blank_model
from llm_gen.weights.hugging_face import is_hugging_face, load_hugging_face
from llm_gen.weights.hugging_face.config import read_config
from llm_gen.weights.hugging_face.families import ACTIVATIONS, FAMILIES

BASES = {
    "openai-gpt": Case("OpenAIGPT", "base", GPT_SIZES),
    "gpt2": Case("GPT2", "base", GPT_SIZES),
    "llama": Case("Llama", "base", LLAMA_SIZES),
    "mistral": Case("Mistral", "base", LLAMA_SIZES | {"sliding_window": 9}),
    "mixtral": Case("Mixtral", "base", LLAMA_SIZES | {"num_local_experts": 4}),
    "gemma": Case("Gemma", "base", LLAMA_SIZES | {"head_dim": 4}),
}
IDS = make_batch()[0]


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, Path]:
    """A folder of each family, as transformers writes it."""
    folders = {name: tmp_path_factory.mktemp(name) for name in BASES}
    for name, folder in folders.items():
        make_reference(BASES[name]).save_pretrained(folder)
    return folders


@pytest.fixture
def editable(written, tmp_path):
    """A function that copies a family's folder with changed config fields and tensors; None removes one."""

    def edit(family: str, fields: dict | None = None, tensors: dict | None = None) -> Path:
        config = json.loads((written[family] / "config.json").read_text()) | (fields or {})
        stored = load_file(written[family] / "model.safetensors") | (tensors or {})
        save_file({name: t for name, t in stored.items() if t is not None}, tmp_path / "model.safetensors")
        (tmp_path / "config.json").write_text(json.dumps(config))
        return tmp_path

    return edit


def logits(folder: Path) -> torch.Tensor:
    with torch.no_grad():
        return load_hugging_face(folder)(IDS)


# ---- Config: each field that transformers knows, changed

# Other values for the fields whose change is not obvious from the value they have.
OTHERS = {
    "activation_function": "silu",
    "afn": "silu",
    "architectures": ["Other"],
    "bos_token_id": 3,
    "dtype": "bfloat16",
    "eos_token_id": [3, 4],
    "head_dim": 6,
    "hidden_act": "relu",
    "intermediate_size": 40,
    "id2label": {"0": "no"},
    "label2id": {"no": 0},
    "n_embd": 24,
    "n_head": 2,
    "n_inner": 40,
    "hidden_size": 24,
    "num_attention_heads": 2,
    "num_key_value_heads": 4,
    "num_experts_per_tok": 3,
    "pad_token_id": 3,
    "problem_type": "regression",
    "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 300.0},
    "sliding_window": 5,
    "summary_activation": "tanh",
    "summary_type": "last",
    "transformers_version": "4.0.0",
    "use_bidirectional_attention": True,
}
# What a call of transformers gives back beside the logits; set in the file only.
OUTPUTS = {"_name_or_path": "x", "output_attentions": True, "return_dict": False}
FIXED = {"model_type"}


def other_value(name: str, value: object) -> object:
    if name in OTHERS:
        return OTHERS[name]
    if isinstance(value, bool):
        return not value
    return value * 2 + 1 if isinstance(value, int) else value * 3 + 0.01


def known_fields() -> list[tuple[str, str]]:
    configs = {name: make_reference(case).config.to_dict() for name, case in BASES.items()}
    return [(name, field) for name, config in configs.items() for field in sorted(config) if field not in FIXED]


@pytest.mark.parametrize(("family", "field"), known_fields())
def test_each_field_of_transformers_is_honoured_or_refused_by_name(family, field, tmp_path):
    """Whatever transformers makes of another value, we make the same of it or say that we do not."""
    case = BASES[family]
    before = make_reference(case).config.to_dict()[field]
    value = OUTPUTS[field] if field in OUTPUTS else other_value(field, before)
    changed = case.config if field in OUTPUTS else {**case.config, field: value}
    reference = make_reference(Case(case.family, "changed", changed))
    reference.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, field: value}))
    try:
        found = logits(tmp_path)
    except CheckpointError as error:
        assert field in str(error)
        assert field in REFUSED
        return
    with torch.no_grad():
        expected = reference(IDS).logits
    assert (found - expected).abs().max() <= BOUND * max(1, expected.abs().max() / 2)
    assert field not in REFUSED


REFUSED = {
    "add_cross_attention",
    "is_encoder_decoder",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "use_bidirectional_attention",
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_each_activation_is_the_one_of_transformers(name, tmp_path):
    reference = make_reference(Case("GPT2", name, GPT_SIZES | {"activation_function": name}))
    reference.save_pretrained(tmp_path)
    with torch.no_grad():
        assert (logits(tmp_path) - reference(IDS).logits).abs().max() < 3 * BOUND


@pytest.mark.parametrize(("family", "fields", "expected"), [
    ("gemma", {"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"}, {"activation": "gelu_tanh"}),
    ("gemma", {"hidden_act": "gelu", "hidden_activation": None}, {"activation": "gelu_tanh"}),
    ("openai-gpt", {"afn": "gelu"}, {"activation": "gelu_tanh"}),
    ("llama", {"rope_parameters": None}, {"rope_theta": 10000.0, "rope_scaling": None}),
    ("mixtral", {"rope_parameters": None}, {"rope_theta": 1e6}),
    ("llama", {"rope_parameters": None, "rope_theta": 7.0, "rope_scaling": None}, {"rope_theta": 7.0}),
    ("llama", {"rope_parameters": None, "rope_scaling": {"type": "linear", "factor": 2}},
     {"rope_scaling": {"rope_type": "linear", "factor": 2}}),
    ("llama", {"rope_parameters": LLAMA3 | {"rope_theta": 9.0}}, {"rope_theta": 9.0, "rope_scaling": LLAMA3}),
    ("llama", {"rope_parameters": {**LLAMA3, "original_max_position_embeddings": None}},
     {"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 96}}),
    ("llama", {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1.0}}, {"rope_scaling": None}),
    ("llama", {"head_dim": None}, {"head_size": 4}),
    ("mistral", {"sliding_window": None}, {"window_size": None}),
    ("mistral", {"layer_types": ["sliding_attention"] * 2}, {"window_size": 9}),
    ("llama", {"layer_types": ["full_attention"] * 2, "sliding_window": None}, {"window_size": None}),
    ("gpt2", {"attn_pdrop": 0.3, "resid_pdrop": 0.3, "n_ctx": 96, "mystery": None}, {"dropout": 0.0}),
])  # fmt: skip
def test_other_spellings_mean_the_same(family, fields, expected, editable):
    config = load_hugging_face(editable(family, fields)).config.to_dict()
    assert {name: config[name] for name in expected} == expected


@pytest.mark.parametrize(("family", "absent", "expected"), [
    ("llama", ["num_key_value_heads"], {"num_kv_heads": 4}),
    ("gpt2", ["n_inner"], {"mlp_dim": 64}),
    ("mixtral", ["sliding_window"], {"window_size": None}),
    ("mistral", ["sliding_window"], {"window_size": 4096}),
    ("llama", ["rms_norm_eps"], {"norm_eps": 1e-6}),
    ("mixtral", ["rms_norm_eps"], {"norm_eps": 1e-5}),
    ("gemma", ["tie_word_embeddings", "hidden_act"], {"tie_embeddings": True, "activation": "gelu_tanh"}),
])  # fmt: skip
def test_an_absent_field_has_the_default_of_transformers(family, absent, expected, written, tmp_path):
    config = json.loads((written[family] / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({k: v for k, v in config.items() if k not in absent}))
    _, found = read_config(tmp_path / "config.json")
    assert {name: getattr(found, name) for name in expected} == expected


COMMON = {"attention_dropout": 0.0, "initializer_range": 0.02, "torch_dtype": "bfloat16", "use_cache": True}
COMMON |= {"transformers_version": "4.40.0", "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu"}
# The fields of well-known models, as they were published.
PUBLISHED = {
    "SmolLM2-135M": COMMON | {
        "architectures": ["LlamaForCausalLM"], "attention_bias": False, "hidden_size": 576, "intermediate_size": 1536,
        "is_llama_config": True, "max_position_embeddings": 8192, "mlp_bias": False, "model_type": "llama",
        "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3, "pad_token_id": 2,
        "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": False, "rope_scaling": None,
        "rope_theta": 100000, "tie_word_embeddings": True, "vocab_size": 49152,
        "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16"}},
    },
    "Llama-3.2-1B": COMMON | {
        "attention_bias": False, "eos_token_id": [128001, 128008], "head_dim": 64, "hidden_size": 2048,
        "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": False, "model_type": "llama",
        "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8, "pretraining_tp": 1,
        "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": True, "vocab_size": 128256,
        "rope_scaling": LLAMA3 | {"factor": 32.0, "original_max_position_embeddings": 8192},
    },
    "Mistral-7B": COMMON | {
        "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": False, "vocab_size": 32000,
    },
    "Mixtral-8x7B": COMMON | {
        "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mixtral",
        "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "num_local_experts": 8, "output_router_logits": False, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0,
        "router_aux_loss_coef": 0.02, "sliding_window": None, "tie_word_embeddings": False, "vocab_size": 32000,
    },
    "gemma-2b": COMMON | {
        "attention_bias": False, "head_dim": 256, "hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size": 2048, "intermediate_size": 16384, "max_position_embeddings": 8192, "model_type": "gemma",
        "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "pad_token_id": 0,
        "rms_norm_eps": 1e-06, "rope_scaling": None, "rope_theta": 10000.0, "vocab_size": 256000,
    },
    "gpt2": {
        "activation_function": "gelu_new", "attn_pdrop": 0.1, "bos_token_id": 50256, "embd_pdrop": 0.1,
        "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
        "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1,
        "summary_activation": None, "summary_first_dropout": 0.1, "summary_proj_to_labels": True,
        "summary_type": "cls_index", "summary_use_proj": True, "vocab_size": 50257,
        "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    },
    "openai-gpt": {
        "afn": "gelu", "attn_pdrop": 0.1, "embd_pdrop": 0.1, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
        "model_type": "openai-gpt", "n_ctx": 512, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 512,
        "n_special": 0, "predict_special_tokens": True, "resid_pdrop": 0.1, "vocab_size": 40478,
    },
}  # fmt: skip
PARAMETERS = {
    "SmolLM2-135M": 134_515_008,
    "Llama-3.2-1B": 1_235_814_400,
    "Mistral-7B": 7_241_732_096,
    "Mixtral-8x7B": 46_702_792_704,
    "gemma-2b": 2_506_172_416,
    "gpt2": 124_439_808,
    "openai-gpt": 116_534_784,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_configs_of_published_models_are_understood(name, tmp_path):
    """Down to the number of parameters that the model is known to have."""
    (tmp_path / "config.json").write_text(json.dumps(PUBLISHED[name]))
    _, config = read_config(tmp_path / "config.json")
    assert sum(tensor.numel() for tensor in blank_model(config).parameters()) == PARAMETERS[name]


@pytest.mark.parametrize(("family", "fields", "named"), [
    ("llama", {"rope_scaling": {"rope_type": "yarn", "factor": 2.0}, "rope_parameters": None}, ["yarn"]),
    ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, ["dynamic"]),
    ("llama", {"rope_parameters": {"rope_type": "default", "factor": 2.0}}, ["factor"]),
    ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "partial_rotary_factor": 0.5}},
     ["partial_rotary_factor"]),
    ("llama", {"rope_parameters": {"full_attention": {"rope_type": "default"}}}, ["full_attention"]),
    ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 2.0}, "rope_scaling": {"factor": 3.0}},
     ["rope_parameters", "rope_scaling"]),
    ("llama", {"rope_parameters": {"rope_theta": 5.0}, "rope_theta": 6.0}, ["rope_theta", "5.0", "6.0"]),
    ("llama", {"rope_parameters": 3}, ["rope_parameters"]),
    ("llama", {"rope_interleaved": True}, ["rope_interleaved"]),
    ("llama", {"partial_rotary_factor": 0.5}, ["partial_rotary_factor"]),
    ("llama", {"sliding_window": 8}, ["sliding_window = 8"]),
    ("llama", {"quantization_config": {"quant_method": "gptq"}}, ["quantization_config", "gptq"]),
    ("llama", {"is_causal": False}, ["is_causal"]),
    ("llama", {"layer_types": ["full_attention", "sliding_attention"]}, ["layer_types"]),
    ("mistral", {"layer_types": ["full_attention"] * 2}, ["layer_types"]),
    ("mistral", {"attention_bias": True}, ["attention_bias"]),
    ("mistral", {"mlp_bias": True}, ["mlp_bias"]),
    ("gemma", {"final_logit_softcapping": 30.0}, ["final_logit_softcapping"]),
    ("gemma", {"hidden_activation": "gelu"}, ["hidden_activation"]),
    ("gpt2", {"pruned_heads": {"0": [1]}}, ["pruned_heads"]),
    ("gpt2", {"num_key_value_heads": 2, "mystery": 0}, ["num_key_value_heads = 2", "mystery = 0"]),
    ("openai-gpt", {"afn": "gelu_new"}, ["afn", "gelu, relu, silu, swish"]),
    ("llama", {"hidden_act": "mish"}, ["hidden_act", "mish"]),
    ("llama", {"hidden_act": ["silu"]}, ["hidden_act"]),
    ("llama", {"hidden_size": "16"}, ["hidden_size must be an integer, got '16'"]),
    ("llama", {"num_attention_heads": 0}, ["num_attention_heads must be an integer >= 1, got 0"]),
    ("llama", {"rms_norm_eps": float("nan")}, ["rms_norm_eps must be finite"]),
    ("llama", {"tie_word_embeddings": "yes"}, ["tie_word_embeddings"]),
    ("llama", {"intermediate_size": None}, ["intermediate_size"]),
    ("mixtral", {"num_experts_per_tok": 9}, ["num_experts_per_tok must be <= num_local_experts 4, got 9"]),
    ("llama", {"num_hidden_layers": 10**9}, ["too few for 1000000000 blocks"]),
    ("llama", {"vocab_size": 10**18}, ["config.json describes no usable model: it is too large to be one"]),
    ("llama", {"vocab_size": 10**30}, ["config.json describes no usable model: it is too large to be one"]),
    ("llama", {"vocab_size": 10**12}, ["model.embed_tokens.weight", "lm_head.weight"]),
])  # fmt: skip
def test_what_is_not_honoured_is_refused_by_name(family, fields, named, editable):
    folder = editable(family, fields)
    with pytest.raises(CheckpointError) as refusal:
        load_hugging_face(folder)
    assert [words for words in [str(folder), *named] if words not in str(refusal.value)] == []


@pytest.mark.parametrize("model_type", ["qwen2", None, ["llama"], "LLAMA"])
def test_an_unknown_family_lists_the_known_ones(model_type, editable):
    with pytest.raises(CheckpointError, match="openai-gpt, gpt2, llama, mistral, mixtral, gemma, got"):
        load_hugging_face(editable("llama", {"model_type": model_type}))


# ---- Tensors


def test_conv1d_weights_are_transposed(editable):
    """x W with W (in, out): the square projection would load the wrong way round without a murmur."""
    stored = torch.arange(256.0).view(16, 16)
    model = load_hugging_face(editable("gpt2", tensors={"transformer.h.0.attn.c_proj.weight": stored}))
    x = torch.zeros(16)
    x[:2] = torch.tensor([1.0, 10.0])
    expected = 1 * torch.arange(0.0, 16) + 10 * torch.arange(16.0, 32)
    out = model.blocks[0].attn.out
    assert torch.equal(torch.nn.functional.linear(x, out.weight), expected)


OTHER_NAMES = {
    "openai-gpt": {"transformer.": ""},
    "gpt2": {"transformer.": ""},
    "llama": {"model.": ""},
    "mixtral": {"block_sparse_moe": "mlp"},
    "gemma": {"model.": ""},
}


@pytest.mark.parametrize("family", OTHER_NAMES)
def test_prefixes_and_older_names_give_the_same_model(family, written, editable):
    tensors = load_file(written[family] / "model.safetensors")
    renamed: dict = dict.fromkeys(tensors)
    for name, tensor in tensors.items():
        for old, new in OTHER_NAMES[family].items():
            name = name.replace(old, new, 1)
        renamed[name] = tensor
    assert torch.equal(logits(editable(family, tensors=renamed)), logits(written[family]))


@pytest.mark.parametrize(("family", "buffers"), [
    ("gpt2", ["transformer.h.0.attn.bias", "transformer.h.1.attn.masked_bias"]),
    ("openai-gpt", ["transformer.h.0.attn.bias", "transformer.position_ids"]),
    ("llama", ["model.layers.1.self_attn.rotary_emb.inv_freq"]),
])  # fmt: skip
def test_buffers_of_older_versions_are_ignored(family, buffers, written, editable):
    extra = {name: torch.ones(1, 1, 4, 4, dtype=torch.uint8) for name in buffers}
    assert torch.equal(logits(editable(family, tensors=extra)), logits(written[family]))


def test_a_tied_head_may_be_stored_but_not_differ(written, editable):
    embedding = load_file(written["gpt2"] / "model.safetensors")["transformer.wte.weight"]
    folder = editable("gpt2", tensors={"lm_head.weight": embedding.clone()})
    assert torch.equal(logits(folder), logits(written["gpt2"]))
    folder = editable("gpt2", tensors={"lm_head.weight": embedding + 1})
    with pytest.raises(CheckpointError, match=r"lm_head\.weight differs from transformer\.wte\.weight"):
        load_hugging_face(folder)


def test_faults_of_tensors_are_named_all_at_once(editable):
    q = "model.layers.0.self_attn.{}_proj.weight"
    folder = editable("llama", tensors={
        "model.norm.weight": None,
        "lm_head.weight": None,
        "score.weight": torch.ones(2),
        # q, k and v have as many rows as they should have together
        q.format("q"): torch.ones(8, 16), q.format("k"): torch.ones(16, 16),
    })  # fmt: skip
    with pytest.raises(CheckpointError) as refusal:
        load_hugging_face(folder)
    message = str(refusal.value)
    assert "missing: lm_head.weight, model.norm.weight" in message or (
        "missing: model.norm.weight, lm_head.weight" in message
    )
    assert "not expected: score.weight;" in message
    assert f"{q.format('q')} (8, 16) instead of (16, 16), {q.format('k')} (16, 16) instead of (8, 16)" in message


def test_a_long_list_of_faults_is_cut(editable, written):
    names = load_file(written["mixtral"] / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"missing: .*, \.\.\. \(24 in all\)$"):
        load_hugging_face(editable("mixtral", tensors={name: None for name in names if ".experts." in name}))


def test_experts_that_are_joined_must_have_the_right_shape(editable, written):
    names = load_file(written["mixtral"] / "model.safetensors")
    gone = {name: None for name in names if "layers.0.block_sparse_moe.experts." in name}
    up, down = (f"model.layers.0.mlp.experts.{name}_proj" for name in ("gate_up", "down"))
    folder = editable("mixtral", tensors={**gone, up: torch.ones(4, 16, 48), down: torch.ones(5, 16, 24)})
    with pytest.raises(CheckpointError, match=f"not expected: {down}; .*: {up} .8, 48. instead of .24, 16."):
        load_hugging_face(folder)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn])
def test_quantised_numbers_are_refused(dtype, editable):
    folder = editable("llama", tensors={"model.norm.weight": torch.ones(16).to(dtype)})
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight must hold floating-point numbers"):
        load_hugging_face(folder)


def test_a_name_that_stands_twice_is_refused(editable):
    with pytest.raises(CheckpointError, match=r"twice: (norm|model\.norm)\.weight and"):
        load_hugging_face(editable("llama", tensors={"norm.weight": torch.ones(16)}))


# ---- Files


def test_pickles_are_refused_with_the_reason(editable):
    """Neither a folder of pickles nor a pickle by its name is opened: the bytes here are no pickle at all."""
    folder = editable("llama")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    for path in (folder, folder / "pytorch_model.bin"):
        with pytest.raises(CheckpointError, match=r"pickle.* can run .*code when.* opened"):
            load_model(path)


@pytest.mark.parametrize(("name", "content", "message"), [
    ("config.json", None, "has no config.json"),
    ("config.json", "{", "is no JSON"),
    ("config.json", "[]", "must hold a JSON object"),
    ("config.json", "\udc80", "no text in UTF-8"),
    ("model.safetensors", None, "holds no safetensors file"),
    ("model.safetensors", "", "is no usable safetensors file"),
    ("model.safetensors", "not a header", "is no usable safetensors file"),
])  # fmt: skip
def test_a_missing_or_broken_file_is_named(name, content, message, editable):
    folder = editable("llama")
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(CheckpointError, match=message) as refusal:
        load_hugging_face(folder)
    assert str(folder) in str(refusal.value)


def test_a_file_that_is_cut_short_is_named(editable):
    path = editable("llama") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(CheckpointError, match=r"model\.safetensors is no usable safetensors file"):
        load_hugging_face(path.parent)


def split_in_two(folder: Path, weight_map: dict | None = None) -> dict:
    """The folder's weights in two files and an index; the map of the index."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    halves = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, half in halves.items():
        save_file({name: tensors[name] for name in half}, folder / file)
    found = {name: file for file, half in halves.items() for name in half}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map or found}))
    return found


def test_shards_are_read_by_the_index_and_without_it(editable, written):
    folder = editable("llama")
    split_in_two(folder)
    save_file({"other": torch.ones(1)}, folder / "consolidated.safetensors")
    assert torch.equal(logits(folder), logits(written["llama"]))
    (folder / "consolidated.safetensors").unlink()
    (folder / "model.safetensors.index.json").unlink()
    assert torch.equal(logits(folder), logits(written["llama"]))


@pytest.mark.parametrize(("weight_map", "message"), [
    ({"x": "c.safetensors"}, "names files that are not in the folder: c.safetensors"),
    ({"x": "../a.safetensors"}, "names files that are not in the folder: ../a.safetensors"),
    ({"x": "a.safetensors"}, "does not hold the tensors"),
    ([1], "must hold a weight_map"),
])  # fmt: skip
def test_a_wrong_index_is_named(weight_map, message, editable):
    folder = editable("llama")
    split_in_two(folder, weight_map)
    with pytest.raises(CheckpointError, match=re.escape(message)):
        load_hugging_face(folder)


# ---- What comes back


def test_the_model_is_in_eval_mode_in_the_dtype_asked_for(written):
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        model = load_hugging_face(written["mixtral"], dtype=dtype)
        assert not model.training
        assert {tensor.dtype for tensor in model.parameters()} == {dtype}
        assert all(tensor.requires_grad for tensor in model.parameters())
    for wrong in ("float32", torch.int64, None):
        with pytest.raises(TypeError, match="dtype must be a floating torch dtype"):
            load_hugging_face(written["llama"], dtype=wrong)


@pytest.mark.parametrize("family", FAMILIES)
def test_loading_draws_no_random_number(family, written):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_hugging_face(written[family])
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_as_near_to_float32_as_that_of_transformers(dtype, written):
    """With 8 or 11 bits no equality is claimed: at most twice the distance of transformers in the same dtype."""
    exact = logits(written["llama"])
    with torch.no_grad():
        ours = load_hugging_face(written["llama"], dtype=dtype)(IDS)
        theirs = make_reference(BASES["llama"]).to(dtype)(IDS).logits
    assert 0 < (ours - exact).abs().max() < 2 * (theirs - exact).abs().max()


def test_a_folder_is_recognised_by_its_model_type(written, tmp_path):
    assert is_hugging_face(written["llama"])
    assert not is_hugging_face(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"format": "other"}))
    assert not is_hugging_face(tmp_path)


def test_load_model_takes_the_folder(written):
    assert load_model(written["gemma"]).config == load_hugging_face(written["gemma"]).config


def test_class_and_folder_of_a_family_agree(written):
    """The row that fills in a class (llm_gen.families) and the table that reads a folder are two spellings of one."""
    names = dict(zip(FAMILIES, ("GPT", "GPT2", "LLaMA", "Mistral", "Mixtral", "Gemma")))
    for family, name in names.items():
        row = {k: v for k, v in rows.FAMILIES[name].items() if k not in ("num_experts", "window_size")}
        config = load_hugging_face(written[family]).config
        assert {k: getattr(config, k) for k in row} == row
