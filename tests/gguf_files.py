"""A small LLaMA-style model and a way to write it into GGUF files, for the tests of the loader."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import torch
from tokenizers import pre_tokenizers

from llm_gen.config import ModelConfig
from llm_gen.model import DecoderLM

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
TOKENS = ["<|im_start|>", "<|im_end|>", "<file_sep>", *ALPHABET, "ĠĠ", "th"]
TYPES = [3, 3, 3, *[1] * (len(TOKENS) - 4), 4]  # control, normal, given by the user
CONFIG = ModelConfig(
    vocab_size=len(TOKENS),
    embed_dim=64,
    num_heads=4,
    num_layers=2,
    max_position_embeddings=32,
    num_kv_heads=2,
    head_size=8,
    mlp_dim=96,
    rope_theta=5000.0,
    norm_eps=0.0009765625,  # the file keeps it in float32
)
FIELDS = {
    "llama.block_count": 2,
    "llama.context_length": 32,
    "llama.embedding_length": 64,
    "llama.feed_forward_length": 96,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.attention.key_length": 8,
    "llama.attention.value_length": 8,
    "llama.attention.layer_norm_rms_epsilon": 0.0009765625,
    "llama.rope.dimension_count": 8,
    "llama.rope.freq_base": 5000.0,
    "llama.vocab_size": len(TOKENS),
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": TYPES,
    "tokenizer.ggml.merges": ["Ġ Ġ", "t h"],
    "tokenizer.ggml.bos_token_id": 0,
    "tokenizer.ggml.eos_token_id": 1,
    "tokenizer.ggml.padding_token_id": 1,
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.chat_template": "{{ messages }}",
}
ADDERS = {bool: "add_bool", int: "add_uint32", float: "add_float32", str: "add_string", list: "add_array"}


def interleave(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Query or key rows as GGUF keeps them, pair by pair: the slow twin of the loader's reordering."""
    half = rows.shape[0] // heads // 2
    order = [head * 2 * half + part * half + pair for head in range(heads) for pair in range(half) for part in (0, 1)]
    return rows[order]


def tensors_of(model: DecoderLM) -> dict[str, torch.Tensor]:
    """A model's weights under the names, and in the row order, of a GGUF file."""
    config, state = model.config, model.state_dict()
    sizes = [heads * config.head_size for heads in (config.num_heads, config.num_kv_heads, config.num_kv_heads)]
    tensors = {"token_embd.weight": state["embed.weight"], "output_norm.weight": state["final_norm.weight"]}
    if "head.weight" in state:
        tensors["output.weight"] = state["head.weight"]
    plain = {"attn_norm": "attn_norm", "mlp_norm": "ffn_norm", "attn.out": "attn_output", "mlp.down": "ffn_down"}
    for name, tensor in state.items():
        if not name.startswith("blocks."):
            continue
        _, block, rest = name.split(".", 2)
        module, kind = rest.rsplit(".", 1)
        if module == "attn.qkv":
            q, k, v = tensor.split(sizes)
            parts = {
                "attn_q": interleave(q, config.num_heads),
                "attn_k": interleave(k, config.num_kv_heads),
                "attn_v": v,
            }
        elif module == "mlp.up":
            parts = dict(zip(("ffn_gate", "ffn_up"), tensor.chunk(2)))
        else:
            parts = {plain[module]: tensor}
        tensors |= {f"blk.{block}.{part}.{kind}": rows for part, rows in parts.items()}
    return tensors


def write(path, tensors, fields=FIELDS, architecture="llama", kind=gguf.GGMLQuantizationType.F32) -> Path:
    """A GGUF file; matrices are stored as `kind`, vectors as float32. A field of None is left out."""
    writer = gguf.GGUFWriter(path, architecture)
    for name, value in fields.items():
        if value is not None:
            getattr(writer, ADDERS[type(value)])(name, value)
    for name, tensor in tensors.items():
        if isinstance(tensor, np.ndarray):
            writer.add_tensor(name, tensor, raw_dtype=kind)
            continue
        stored = kind if tensor.ndim > 1 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(name, gguf.quantize(tensor.float().contiguous().numpy(), stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(path)


def write_vocabulary(path, **changes) -> Path:
    """A GGUF file with a tokenizer and no weights; changes are of the fields of `tokenizer.ggml`."""
    return write(path, {}, FIELDS | {f"tokenizer.ggml.{name}": value for name, value in changes.items()})


def make_model(**changes) -> DecoderLM:
    """Random weights, norms and biases included, so that no two tensors can be taken for each other."""
    torch.manual_seed(0)
    model = DecoderLM(ModelConfig(**{**CONFIG.to_dict(), **changes}))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, mean=0.1, std=0.3)
    return model.eval()


MODEL = make_model()
TENSORS = tensors_of(MODEL)
