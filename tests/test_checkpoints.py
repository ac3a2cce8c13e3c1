"""Saving: what is written here loads in transformers and here again; and what loading costs in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from parity_table import BOUND, LLAMA3, make_batch
from safetensors import safe_open
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from tokenizers import Tokenizer as Backend
from transformers import AutoModelForCausalLM, AutoTokenizer

import llm_gen
from llm_gen import GPT, GPT2, DecoderLM, Gemma, LLaMA, Mistral, Mixtral
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer
from llm_gen.weights.hugging_face import load_hugging_face, save_hugging_face, writing

SIZES = {"vocab_size": 61, "embed_dim": 16, "num_heads": 4, "num_layers": 2, "max_position_embeddings": 64}
GQA = {"num_kv_heads": 2, "head_size": 6}
MODELS = {
    "openai-gpt": (GPT, {"norm_eps": 1e-3}),
    "gpt2": (GPT2, {"mlp_dim": 24, "activation": "gelu", "tie_embeddings": False}),
    "llama": (LLaMA, {**GQA, "rope_scaling": LLAMA3, "qkv_bias": True, "attention_out_bias": True, "mlp_bias": True}),
    "mistral": (Mistral, {**GQA, "window_size": 5, "rope_theta": 123.0}),
    "mixtral": (Mixtral, {**GQA, "num_experts": 3, "window_size": 9, "mlp_dim": 24}),
    "gemma": (Gemma, {"num_kv_heads": 1, "head_size": 8, "norm_eps": 1e-2}),
}
IDS, MASK = make_batch()


def make_model(family: str) -> DecoderLM:
    make, fields = MODELS[family]
    model = make({**SIZES, **fields}).eval()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.normal_(std=0.35, generator=generator)
    return model


@pytest.fixture(params=MODELS)
def family(request) -> str:
    return request.param


@pytest.mark.parametrize("name", ["tiny", "tiny-draft", "tiny-undertrained"])
def test_each_model_that_ships_has_a_name(name):
    model = load_model(name)
    same = load_model(Path(llm_gen.__file__).parent / "data" / name)
    assert not model.training and model.config == same.config
    assert torch.equal(model.embed.weight, same.embed.weight)
    assert load_tokenizer(name).encode("Once upon a time") == load_tokenizer("tiny").encode("Once upon a time")


@torch.no_grad()
def test_transformers_reads_what_is_saved_here(family, tmp_path):
    model = make_model(family)
    save_hugging_face(tmp_path / "saved", model)
    theirs, report = AutoModelForCausalLM.from_pretrained(tmp_path / "saved", output_loading_info=True)
    assert {kind: found for kind, found in report.items() if found} == {}
    assert theirs.config.model_type == family
    expected, found = model(IDS), theirs.eval()(IDS).logits
    assert (found - expected).abs().max() <= BOUND * max(1, expected.abs().max() / 2)
    text = theirs.generate(IDS, attention_mask=MASK, max_new_tokens=20, do_sample=False, pad_token_id=0)
    assert torch.equal(model.generate(IDS, 20, False, attention_mask=MASK), text)


@torch.no_grad()
def test_what_is_saved_comes_back_unchanged(family, tmp_path):
    model = make_model(family)
    save_hugging_face(tmp_path / "saved", model)
    again = load_model(tmp_path / "saved")
    assert again.config == model.config
    assert {name: tensor.tolist() for name, tensor in again.state_dict().items()} == {
        name: tensor.tolist() for name, tensor in model.state_dict().items()
    }
    assert torch.equal(again(IDS, attention_mask=MASK), model(IDS, attention_mask=MASK))


@torch.no_grad()
def test_large_models_are_written_in_shards(family, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SHARD_BYTES", 3000)
    model = make_model(family)
    save_hugging_face(tmp_path / "saved", model)
    index = json.loads((tmp_path / "saved/model.safetensors.index.json").read_text())
    files = sorted(path.name for path in (tmp_path / "saved").glob("*.safetensors"))
    assert len(files) > 2
    assert sorted(set(index["weight_map"].values())) == files
    assert index["metadata"]["total_size"] == sum(tensor.nbytes for tensor in model.parameters())
    assert torch.equal(load_hugging_face(tmp_path / "saved")(IDS), model(IDS))
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
    assert (theirs(IDS).logits - model(IDS)).abs().max() <= 4 * BOUND


def test_the_dtype_is_kept(tmp_path):
    model = make_model("gemma").to(torch.bfloat16)
    save_hugging_face(tmp_path / "saved", model)
    with safe_open(tmp_path / "saved/model.safetensors", "pt") as file:
        assert {file.get_tensor(name).dtype for name in file.keys()} == {torch.bfloat16}  # noqa: SIM118
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "saved").dtype == torch.bfloat16
    again = load_hugging_face(tmp_path / "saved", dtype=torch.bfloat16)
    assert all(torch.equal(one, two) for one, two in zip(again.parameters(), model.parameters()))


def test_dropout_is_not_kept_because_it_is_of_training(tmp_path):
    save_hugging_face(tmp_path / "saved", GPT2({**SIZES, "dropout": 0.5}))
    assert load_hugging_face(tmp_path / "saved").config.dropout == 0
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "saved").config.resid_pdrop == 0


def test_a_model_of_any_class_is_saved_by_what_it_is(tmp_path):
    """Mistral without a window is LLaMA, and LLaMA with a window is Mistral; a hidden size of 18 for 4 heads too."""
    for number, (fields, expected) in enumerate([
        ({"window_size": None}, "llama"),
        ({"window_size": 6}, "mistral"),
        ({"window_size": None, "embed_dim": 18, "head_size": 4}, "mistral"),
        ({"window_size": None, "norm_adds_one": True, "scale_embeddings": True}, "gemma"),
    ]):  # fmt: skip
        save_hugging_face(tmp_path / str(number), Mistral({**SIZES, **fields}))
        assert json.loads((tmp_path / str(number) / "config.json").read_text())["model_type"] == expected
        AutoModelForCausalLM.from_pretrained(tmp_path / str(number))


@pytest.mark.parametrize(("fields", "named"), [
    ({"norm": "layer"}, "llama, cannot have norm='layer'"),
    ({"qkv_bias": True}, "llama, cannot have attention_out_bias=False"),
    ({"gated_mlp": False}, "llama, cannot have gated_mlp=False"),
    ({"positions": "learned"}, "llama, cannot have positions='learned'"),
    ({"num_experts": 2, "top_k_experts": 1, "mlp_bias": True}, "mixtral, cannot have mlp_bias=True"),
    ({"norm_adds_one": True}, "cannot have"),
])  # fmt: skip
def test_a_config_that_fits_no_family_is_refused_by_name(fields, named, tmp_path):
    with pytest.raises(ValueError, match=f"openai-gpt, gpt2, llama, mistral, mixtral, gemma; .*{named}"):
        save_hugging_face(tmp_path / "saved", LLaMA({**SIZES, **fields}))
    assert list(tmp_path.iterdir()) == []


def test_gpt_with_heads_of_another_size_is_refused(tmp_path):
    for sizes in ({"head_size": 6}, {"embed_dim": 18, "head_size": 4}):
        with pytest.raises(ValueError, match="cannot have head_size="):
            save_hugging_face(tmp_path / "saved", GPT2({**SIZES, **sizes}))


def test_a_folder_in_use_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for target in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ValueError, match="folder must not exist yet or be empty"):
            save_hugging_face(target, make_model("gpt2"))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(TypeError, match="model must be a DecoderLM, got str"):
        save_hugging_face(tmp_path / "new", "model")


def test_an_empty_or_missing_folder_is_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    for target in (tmp_path / "empty", tmp_path / "a/b/c"):
        save_hugging_face(target, make_model("gpt2"))
        assert sorted(path.name for path in target.iterdir()) == ["config.json", "model.safetensors"]


def test_a_save_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def fail(path, values):
        assert (path.parent / "model.safetensors").exists()
        raise OSError("disk full")

    monkeypatch.setattr(writing, "_write_json", fail)
    with pytest.raises(OSError, match="disk full"):
        save_hugging_face(tmp_path / "saved", make_model("llama"))
    assert list(tmp_path.iterdir()) == []


def make_tokenizer() -> Tokenizer:
    """Bytes, one merge, and three control tokens: 61 ids are enough for the text of the test."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())[:57]
    vocabulary = {letter: number for number, letter in enumerate([*letters, "he"])}
    backend = Backend(models.BPE(vocab=vocabulary, merges=[("h", "e")] if "h" in letters else []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(token, normalized=False) for token in ("<s>", "</s>", "<pad>")])
    return Tokenizer(backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>", chat_template="{{ messages }}")


def test_the_tokenizer_travels_along(tmp_path):
    tokenizer = make_tokenizer()
    save_hugging_face(tmp_path / "saved", make_model("llama"), tokenizer)
    again, theirs = load_tokenizer(tmp_path / "saved"), AutoTokenizer.from_pretrained(tmp_path / "saved")
    text = "A (1+1) <s>"
    assert again.encode(text) == tokenizer.encode(text)
    assert again.encode(text, allow_control=True) == theirs.encode(text) == tokenizer.encode(text, allow_control=True)
    for found in (again, tokenizer):
        assert (found.bos_id, found.eos_id, found.pad_id) == (58, 59, 60)
        assert found.chat_template == theirs.chat_template == "{{ messages }}"
    assert (theirs.bos_token_id, theirs.eos_token_id, theirs.pad_token_id) == (58, 59, 60)
    config = AutoModelForCausalLM.from_pretrained(tmp_path / "saved").config
    assert (config.bos_token_id, config.eos_token_id, config.pad_token_id) == (58, 59, 60)


# ---- Memory

BIG = {"vocab_size": 2048, "embed_dim": 512, "num_heads": 8, "num_layers": 8, "max_position_embeddings": 32}
LOAD_AND_MEASURE = """
import sys
import torch
from llm_gen.weights.hugging_face import load_hugging_face

def peak() -> int:
    try:
        lines = open("/proc/self/status").read().splitlines()
    except FileNotFoundError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

torch.set_num_threads(1)
load_hugging_face(sys.argv[1])  # whatever loading needs once is needed now
before = peak()
model = load_hugging_face(sys.argv[2])
print(peak() - before, sum(tensor.nbytes for tensor in model.parameters()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the peak of a process is read from Linux or macOS")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_loading_takes_little_more_memory_than_the_weights(dtype, tmp_path):
    """A whole state dict beside the model, or a mapped file that stays, would make it twice the weights."""
    save_hugging_face(tmp_path / "small", make_model("llama"))
    save_hugging_face(tmp_path / "big", LLaMA(BIG).to(dtype))
    command = [sys.executable, "-c", LOAD_AND_MEASURE, str(tmp_path / "small"), str(tmp_path / "big")]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    peak, weights = map(int, run.stdout.split())
    assert weights > 100e6
    assert peak < 1.25 * weights
