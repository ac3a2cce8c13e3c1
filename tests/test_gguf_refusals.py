"""GGUF files that must be refused: by one sentence that names what is wrong, with nothing half loaded."""

from __future__ import annotations

import struct
import sys

import gguf
import numpy as np
import pytest
import torch
from gguf_files import FIELDS, TENSORS, TOKENS, TYPES, write, write_vocabulary
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_gen.checks import CheckpointError
from llm_gen.weights import load_model, load_tokenizer
from llm_gen.weights.gguf_blocks import block_format

UNSUPPORTED = "FILE asks for what is not supported: "
UNUSABLE = "FILE describes no usable model: "
UNKNOWN = "FILE has unknown "
BENT = "FILE has the wrong shape of "
SHORT = "FILE is cut short: "
DAMAGED = "FILE is damaged: "
HUGE = 2**32 - 1


def nine_of_block(block: int) -> str:
    return ", ".join(f"blk.{block}.attn_{part}.weight" for part in ("k", "norm", "output")) + " and 6 more"


def bent_vocabulary(size: int) -> str:
    tensors = ("token_embd.weight", "output.weight")
    return BENT + ", ".join(f"{name} ({len(TOKENS)}, 64) instead of ({size}, 64)" for name in tensors)


def index(layout: str, *values) -> bytes:
    """The beginning of a file: magic, then version, number of tensors, number of keys, and more."""
    return b"GGUF" + struct.pack("<I" + layout, *values)


def refusal(path) -> str:
    """The one sentence with which a file is refused, without its own name."""
    with pytest.raises(CheckpointError) as caught:
        load_model(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message.replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"llama.block_count": None}, "FILE lacks llama.block_count"),
        ({"llama.attention.head_count": [4, 4]}, UNUSABLE + "num_heads must be an integer, got [4, 4]"),
        ({"llama.attention.head_count_kv": 3}, UNUSABLE + "num_heads must be a multiple of num_kv_heads, got 4 and 3"),
        ({"llama.attention.head_count": 0}, UNUSABLE + "num_heads must be an integer >= 1, got 0"),
        ({"llama.attention.layer_norm_rms_epsilon": "x"}, UNUSABLE + "norm_eps must be a number, got 'x'"),
        ({"llama.rope.dimension_count": 4}, UNSUPPORTED + "llama.rope.dimension_count = 4"),
        ({"llama.attention.value_length": 16}, UNSUPPORTED + "llama.attention.value_length = 16"),
        ({"llama.attention.sliding_window": 8}, UNSUPPORTED + "llama.attention.sliding_window = 8"),
        ({"llama.expert_count": 8}, UNSUPPORTED + "llama.expert_count = 8"),
        ({"llama.logit_scale": 0.5}, UNSUPPORTED + "llama.logit_scale = 0.5"),
        ({"llama.rope.scaling.attn_factor": 2.0}, UNSUPPORTED + "llama.rope.scaling.attn_factor = 2.0"),
        ({"llama.vocab_size": 300}, bent_vocabulary(300)),
        ({"llama.block_count": HUGE}, f"FILE must have {HUGE} blocks, got {len(TENSORS)} tensors"),
        (
            dict.fromkeys(["llama.feed_forward_length", "llama.embedding_length"], HUGE),
            UNUSABLE + "it is too large to be one",
        ),
        ({"llama.block_count": 3}, "FILE misses " + nine_of_block(2)),
        ({"llama.block_count": 1}, UNKNOWN + nine_of_block(1)),
    ],
)
def test_a_field_that_cannot_be_honoured_is_refused_by_name(tmp_path, changes, message):
    assert refusal(write(tmp_path / "m.gguf", TENSORS, {**FIELDS, **changes})) == message


def test_a_scaling_of_another_type_is_refused(tmp_path):
    fields = {**FIELDS, "llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0}
    assert "rope_scaling must have rope_type linear" in refusal(write(tmp_path / "m.gguf", TENSORS, fields))


def test_another_architecture_is_refused_with_the_known_ones(tmp_path):
    path = write(tmp_path / "m.gguf", TENSORS, architecture="qwen2")
    assert refusal(path) == "FILE must have an architecture of llama, got 'qwen2'"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"token_embd.weight": None}, "FILE lacks token_embd.weight"),
        ({"output_norm.weight": None}, "FILE misses output_norm.weight"),
        ({"rope_freqs.weight": torch.ones(4)}, UNKNOWN + "rope_freqs.weight"),
        (
            {"blk.0.attn_q.weight": torch.ones(16, 64), "blk.0.attn_k.weight": torch.ones(32, 64)},
            BENT + "blk.0.attn_q.weight (16, 64) instead of (32, 64), blk.0.attn_k.weight (32, 64) instead of (16, 64)",
        ),
        (
            {"blk.1.ffn_down.weight": torch.ones(96, 64)},
            BENT + "blk.1.ffn_down.weight (96, 64) instead of (64, 96)",
        ),
    ],
)
def test_missing_unknown_and_misshaped_tensors_are_named(tmp_path, change, message):
    tensors = {name: tensor for name, tensor in {**TENSORS, **change}.items() if tensor is not None}
    assert refusal(write(tmp_path / "m.gguf", tensors)) == message


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    return write(tmp_path_factory.mktemp("gguf") / "m.gguf", TENSORS).read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "FILE must be a GGUF file, but does not begin with GGUF"),
        (b"PK\x03\x04", "FILE must be a GGUF file, but does not begin with GGUF"),
        (b"GGUF", SHORT + "its index ends after the end of the file"),
        (index("", 1), "FILE must be GGUF version 2 or 3, got version 1"),
        (index("QQQ", 3, 0, 1, 2**60), SHORT + "its index ends after the end of the file"),
        (index("QQQ1sI", 3, 0, 1, 1, b"k", 77), DAMAGED + "its index holds a value of the unknown type 77"),
        (index("QQQ1s", 3, 0, 1, 1, b"\xff"), DAMAGED + "a text in its index is no UTF-8"),
        (index("QQQ1sQIQ", 3, 1, 0, 1, b"x", 0, 0, 0), DAMAGED + "x has the shape () in F32 blocks"),
        (index("QQQ1sIQIQ", 3, 1, 0, 1, b"x", 1, 33, 8, 0), DAMAGED + "x has the shape (33,) in Q8_0 blocks"),
        (index("QQQ1sIQIQ", 3, 1, 0, 1, b"x", 1, 33, 0, 0), SHORT + "x ends after the end of the file"),
        (
            index("QQQ1sIQIQ", 3, 1, 0, 1, b"x", 1, 33, 99, 0),
            "FILE: tensors of GGUF type 99 cannot be read; known: F32, F16, Q4_1, Q8_0, BF16 and others",
        ),
    ],
)
def test_a_file_that_is_no_whole_gguf_gives_one_sentence(tmp_path, content, message):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert refusal(path) == message


def test_a_file_cut_short_in_its_weights_is_refused(tmp_path, whole):
    path = tmp_path / "m.gguf"
    path.write_bytes(whole[: len(whole) - 4000])
    assert "is cut short" in refusal(path)


def test_a_bad_alignment_is_refused(tmp_path):
    fields = {**FIELDS, "general.alignment": 0}
    assert refusal(write(tmp_path / "m.gguf", {}, fields)) == DAMAGED + "general.alignment is 0"


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_never_shows_as_anything_but_one_sentence(tmp_path, whole, data):
    """Changes bytes of the index, or cuts the file: it then loads or is refused, it never crashes or hangs."""
    content = bytearray(whole)
    index_size = whole.index(b"blk.1.ffn_down.weight") + 60
    numbers = [whole.index(name.encode()) + len(name) + 4 + n for name in FIELDS if "llama" in name for n in range(4)]
    places = st.integers(0, index_size - 1) | st.sampled_from(numbers)
    for at in data.draw(st.lists(places, max_size=3)):
        content[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([len(content), index_size // 2, index_size, 40]))
    path = tmp_path / "m.gguf"
    path.write_bytes(content[:cut])
    for load in (load_model, load_tokenizer):
        try:
            load(path)
        except CheckpointError as error:
            assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize("name", ["m.pt", "pytorch_model.bin", "m.pkl"])
def test_a_pickle_is_refused_and_says_why(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x80\x04")
    assert (
        refusal(tmp_path / name)
        == "FILE looks like a pickle, which can run code when opened: convert it to safetensors"
    )


def test_formats_of_the_package_say_what_to_install(tmp_path, monkeypatch):
    blocks = np.zeros((2, 18), dtype=np.uint8)
    path = write(tmp_path / "m.gguf", {"x": blocks}, kind=gguf.GGMLQuantizationType.Q4_0)
    block_format.cache_clear()
    monkeypatch.setitem(sys.modules, "gguf", None)
    assert (
        refusal(path) == "FILE: tensors of GGUF type 2 need the package gguf, which is not installed: pip install gguf"
    )
    monkeypatch.undo()
    assert block_format(2).name == "Q4_0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "llama"}, "tokenizer.ggml.model must be gpt2, got 'llama'"),
        ({"pre": "qwen2"}, "tokenizer.ggml.pre must be smollm or gpt-2, got 'qwen2'"),
        ({"pre": None}, "tokenizer.ggml.pre must be smollm or gpt-2, got None"),
        ({"tokens": None}, "the tokenizer lacks tokenizer.ggml.tokens"),
        ({"merges": None, "token_type": None}, "the tokenizer lacks tokenizer.ggml.token_type, tokenizer.ggml.merges"),
        (
            {"token_type": TYPES[:-1]},
            f"the tokenizer must have one type a token, got {len(TOKENS)} and {len(TOKENS) - 1}",
        ),
        ({"tokens": [*TOKENS[:-1], "a"]}, "the tokenizer must have each token once, got one twice"),
        (
            {"merges": ["q q"]},
            "the tokenizer's merges do not fit its tokens: Error while initializing BPE: Token `qq` out of vocabulary",
        ),
        ({"eos_token_id": 999}, f"tokenizer.ggml.eos_token_id must lie in 0..{len(TOKENS) - 1}, got 999"),
        ({"eos_token_id": "x"}, f"tokenizer.ggml.eos_token_id must lie in 0..{len(TOKENS) - 1}, got 'x'"),
        ({"add_bos_token": True, "bos_token_id": None}, "the tokenizer adds a bos or eos token, but names none"),
        ({"add_space_prefix": True}, "tokenizer.ggml.add_space_prefix is not supported"),
    ],
)
def test_a_tokenizer_with_wrong_or_missing_parts_is_refused(tmp_path, changes, message):
    with pytest.raises(CheckpointError) as caught:
        load_tokenizer(write_vocabulary(tmp_path / "t.gguf", **changes))
    assert str(caught.value).split(": ", 1)[1] == message


def test_a_chat_template_that_is_no_text_is_refused(tmp_path):
    path = write(tmp_path / "t.gguf", {}, FIELDS | {"tokenizer.chat_template": 5})
    with pytest.raises(CheckpointError, match=r"tokenizer\.chat_template must be a text, got 5"):
        load_tokenizer(path)
