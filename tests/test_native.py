"""Own checkpoints: what is saved comes back, and a broken folder is refused in one sentence."""

import json
from copy import deepcopy

import pytest
import torch
from safetensors.torch import load_file, save_file

from llm_gen.checks import CheckpointError
from llm_gen.model import DecoderLM
from llm_gen.tokenizer import Tokenizer
from llm_gen.train_tiny import train_tokenizer
from llm_gen.weights.native import load_checkpoint, save_checkpoint

SIZES = {"embed_dim": 8, "num_heads": 2, "num_layers": 1, "max_position_embeddings": 16}


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(300, stories=20)


@pytest.fixture
def folder(tmp_path, tokenizer):
    model = DecoderLM({"vocab_size": 300, "num_kv_heads": 1, **SIZES})
    save_checkpoint(tmp_path / "new" / "checkpoint", model, tokenizer)
    return tmp_path / "new" / "checkpoint"


@pytest.mark.parametrize(
    "config", [{"num_kv_heads": 1}, {"tie_embeddings": True}, {"positions": "learned", "norm": "layer"}]
)
def test_a_model_comes_back_exactly_and_in_eval_mode(tmp_path, tokenizer, config):
    model = DecoderLM({"vocab_size": 300, **SIZES, **config}).train()
    save_checkpoint(tmp_path, model, tokenizer, dtype=torch.float32)
    loaded, _ = load_checkpoint(tmp_path)
    ids = torch.randint(0, 300, (2, 9))
    assert torch.equal(loaded(ids), model(ids))
    assert not loaded.training
    assert loaded.config == model.config
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]


def test_half_precision_on_disk_is_float32_in_memory_unless_another_dtype_is_wanted(folder):
    on_disk = load_file(folder / "model.safetensors")
    assert {tensor.dtype for tensor in on_disk.values()} == {torch.float16}
    for dtype, expected in [(torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16), (None, torch.float16)]:
        model, _ = load_checkpoint(folder, dtype)
        assert {p.dtype for p in model.parameters()} == {expected}
        assert torch.equal(model.embed.weight, on_disk["embed.weight"].to(expected))


def test_a_chat_template_is_saved_with_the_tokenizer(tmp_path, tokenizer):
    templated = Tokenizer(deepcopy(tokenizer).backend, eos_token="<eos>", chat_template="{{ messages }}")
    save_checkpoint(tmp_path, DecoderLM({"vocab_size": 300, **SIZES}), templated)
    assert load_checkpoint(tmp_path)[1].chat_template == "{{ messages }}"


def test_the_tokenizer_comes_back_with_its_control_tokens(folder, tokenizer):
    _, loaded = load_checkpoint(folder)
    text = "Once upon a time <eos> é 🦊\n\tthere"
    assert loaded.encode(text) == tokenizer.encode(text)
    assert (loaded.bos_id, loaded.eos_id, loaded.pad_id) == (1, 2, 0)


def test_saving_again_replaces_the_checkpoint(folder, tokenizer):
    model = DecoderLM({"vocab_size": 300, "num_kv_heads": 2, **SIZES})
    save_checkpoint(folder, model, tokenizer, dtype=torch.float32)
    assert torch.equal(load_checkpoint(folder)[0].embed.weight, model.embed.weight)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["json.dumps", "save_file"])
def test_a_save_that_fails_leaves_the_old_checkpoint_whole(folder, tokenizer, monkeypatch, name):
    def fail(*args, **kwargs):
        raise TypeError("cannot be written")

    before, model = contents(folder), DecoderLM({"vocab_size": 300, **SIZES})
    monkeypatch.setattr(f"llm_gen.weights.native.{name}", fail)
    with pytest.raises(TypeError, match="cannot be written"):
        save_checkpoint(folder, model, tokenizer)
    assert contents(folder) == before


def test_a_weight_too_large_for_the_dtype_is_refused_by_name(tmp_path, folder, tokenizer):
    before, model = contents(folder), DecoderLM({"vocab_size": 300, **SIZES})
    with torch.no_grad():
        model.head.weight[3, 1] = -1e6
    words = r"torch\.float16 has no -1e\+06, which is in head\.weight; torch\.float32 has"
    for target in (folder, tmp_path / "none"):
        with pytest.raises(ValueError, match=words):
            save_checkpoint(target, model, tokenizer)
    assert contents(folder) == before and not (tmp_path / "none").exists()
    save_checkpoint(folder, model, tokenizer, dtype=torch.float32)
    assert torch.equal(load_checkpoint(folder)[0].head.weight, model.head.weight)


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, "float32"])
def test_a_dtype_that_is_not_floating_is_refused(folder, tokenizer, dtype):
    with pytest.raises(TypeError, match="dtype must be a floating torch dtype, got"):
        save_checkpoint(folder, DecoderLM({"vocab_size": 300, **SIZES}), tokenizer, dtype=dtype)
    with pytest.raises(TypeError, match="dtype must be a floating torch dtype, got"):
        load_checkpoint(folder, dtype)


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool])
def test_weights_that_are_no_floating_numbers_are_refused(folder, dtype):
    change_tensors(folder, lambda tensors: tensors.update({"head.weight": tensors["head.weight"].to(dtype)}))
    with pytest.raises(CheckpointError, match=f"must hold floating-point numbers, got {dtype} in head.weight"):
        load_checkpoint(folder)


def test_a_chat_template_that_is_no_text_is_refused_at_loading(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "chat_template": 5}))
    with pytest.raises(CheckpointError, match=r"config\.json is broken: chat_template must be a text"):
        load_checkpoint(folder)


def change_tensors(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("embed.weight"), "misses embed.weight"),
        (lambda t: t.update(extra=torch.ones(1)), "has unknown extra"),
        (
            lambda t: t.update({"head.weight": torch.ones(300, 9)}),
            r"has the wrong shape of head.weight \(300, 9\) instead of \(300, 8\)",
        ),
        (lambda t: [t.pop(name) for name in list(t)[:5]], "misses .*, .*, .* and 2 more"),
    ],
)
def test_wrong_tensors_are_named(folder, change, message):
    change_tensors(folder, change)
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder)


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"\xff" * 64])
def test_a_broken_weight_file_is_refused_in_one_sentence(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"model\.safetensors is no readable safetensors file"):
        load_checkpoint(folder)


def test_a_cut_weight_file_is_refused(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="no readable safetensors file"):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "no JSON"),
        ('{"a":' * 100_000, "nested too deep"),
        ({"format": "llm_gen", "model": {**SIZES, "vocab_size": 10**18}}, "too large to be one"),
        ({"format": "llm_gen", "model": {**SIZES, "vocab_size": 10**30}}, "too large to be one"),
        ({"format": "llm_gen", "model": {**SIZES, "vocab_size": 300, "mlp_dim": 10**18}}, "too large to be one"),
        ({"format": "llm_gen", "model": {**SIZES, "vocab_size": 300, "num_layers": 10**9}}, "too few for 1000000000"),
        ({"model": {}}, "must have the format 'llm_gen', got None"),
        ({"format": "llm_gen"}, "must hold the object 'model', got None"),
        ({"format": "llm_gen", "model": {**SIZES, "vocab_size": 300, "wings": 2}}, "describes no model: .*wings"),
        ({"format": "llm_gen", "model": SIZES}, "describes no model: .*vocab_size"),
        ({"format": "llm_gen", "model": {**SIZES, "vocab_size": True}}, "describes no model: .*vocab_size"),
    ],
)
def test_a_broken_config_is_refused(folder, config, message):
    text = config if isinstance(config, str) else json.dumps(config)
    (folder / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder)
