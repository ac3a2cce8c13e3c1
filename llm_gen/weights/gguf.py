"""A LLaMA-style model out of a GGUF file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llm_gen.checks import CheckpointError
from llm_gen.config import ModelConfig
from llm_gen.model import DecoderLM
from llm_gen.quantized import replace_embedding
from llm_gen.weights.blank import blank_model
from llm_gen.weights.gguf_file import GGUFFile
from llm_gen.weights.gguf_native import BlockLinear, fits
from llm_gen.weights.native import check_tensors

ARCHITECTURES = ("llama",)

# Our field -> the field of the file, without "llama.".
_REQUIRED = {
    "embed_dim": "embedding_length",
    "num_heads": "attention.head_count",
    "num_layers": "block_count",
    "max_position_embeddings": "context_length",
    "mlp_dim": "feed_forward_length",
    "norm_eps": "attention.layer_norm_rms_epsilon",
}
_OPTIONAL = {
    "vocab_size": "vocab_size",
    "num_kv_heads": "attention.head_count_kv",
    "head_size": "attention.key_length",
    "rope_theta": "rope.freq_base",
}
_ROPE_SCALING = (
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",  # only means something to types that are refused
    "rope.scaling.finetuned",
)

# Our module -> its tensor in the file, or the tensors whose rows it holds, in this order.
_OUTER = {"embed": "token_embd", "final_norm": "output_norm", "head": "output"}
_INNER = {
    "attn_norm": ["attn_norm"],
    "attn.qkv": ["attn_q", "attn_k", "attn_v"],
    "attn.out": ["attn_output"],
    "mlp_norm": ["ffn_norm"],
    "mlp.up": ["ffn_gate", "ffn_up"],
    "mlp.down": ["ffn_down"],
}


def load_gguf(path: str | Path, native: bool = False) -> DecoderLM:
    """The model of a `.gguf` file in float32 and eval mode; the tensors are expanded one by one.

    native: matrices in Q4_1 and Q8_0 are not expanded but multiplied as they are stored, see gguf_native.py.
    Raises CheckpointError for a file that is broken, of another architecture, or with a field or tensor that is
    not known here: nothing that could change a result is skipped.
    """
    file = GGUFFile(path)
    config = read_config(file)
    model = blank_model(config, file.path)
    layout = {name: _sources(name, tensor, config) for name, tensor in model.named_parameters()}
    wanted = {name: rows for sources in layout.values() for name, rows in sources.items()}
    check_tensors(file.path, wanted, file.tensors)
    if native:
        kept = [name for name, sources in layout.items() if _keep_blocks(model, name, sources, file)]
        layout = {name: sources for name, sources in layout.items() if name not in kept}
    weights = {name: _read(file, config, sources) for name, sources in layout.items()}
    model.load_state_dict(weights, assign=True, strict=not native)
    return (model.requires_grad_(False) if native else model).eval()


def _keep_blocks(model: DecoderLM, parameter: str, sources: dict[str, Tensor], file: GGUFFile) -> bool:
    """Puts a BlockLinear in the place of the module with this weight, if the file's formats allow it."""
    kinds = {file.tensors[name].kind for name in sources}
    if not fits(kinds, sum(len(rows) for rows in sources.values())):
        return False
    rows = [_in_our_order(file.stored(name), name, model.config) for name in sources]
    stored = rows[0] if len(rows) == 1 else torch.cat(rows)
    module = parameter.removesuffix(".weight")
    if module == "embed":
        replace_embedding(model, BlockLinear(stored, *kinds))
    else:
        model.set_submodule(module, BlockLinear(stored, *kinds, model.get_submodule(module).bias))
    return True


def read_config(file: GGUFFile) -> ModelConfig:
    """The config that a file asks for. Raises CheckpointError naming a missing, wrong or unknown field."""
    architecture = file.metadata.get("general.architecture")
    if architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise CheckpointError(f"{file.path} must have an architecture of {known}, got {architecture!r}")
    prefix = f"{architecture}."
    fields = {key.removeprefix(prefix): file.metadata[key] for key in file.metadata if key.startswith(prefix)}
    missing = [prefix + name for name in _REQUIRED.values() if name not in fields]
    if missing or "token_embd.weight" not in file.tensors:
        raise CheckpointError(f"{file.path} lacks {', '.join(missing) or 'token_embd.weight'}")
    try:
        config = _make_config(file, fields)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{file.path} describes no usable model: {error}") from None
    if config.num_layers > len(file.tensors):  # a damaged number must not build millions of blocks
        raise CheckpointError(f"{file.path} must have {config.num_layers} blocks, got {len(file.tensors)} tensors")
    unknown = [f"{prefix}{name} = {fields[name]!r}" for name in fields if not _is_honoured(name, fields, config)]
    if unknown:
        raise CheckpointError(f"{file.path} asks for what is not supported: {', '.join(unknown)}")
    return config


def _make_config(file: GGUFFile, fields: dict[str, Any]) -> ModelConfig:
    has = file.tensors.__contains__
    sizes = {ours: fields[theirs] for ours, theirs in (_REQUIRED | _OPTIONAL).items() if theirs in fields}
    return ModelConfig(
        **{"vocab_size": file.tensors["token_embd.weight"].shape[0], **sizes},
        rope_scaling=_rope_scaling(fields),
        qkv_bias=has("blk.0.attn_q.bias"),
        attention_out_bias=has("blk.0.attn_output.bias"),
        mlp_bias=has("blk.0.ffn_down.bias"),
        tie_embeddings=not has("output.weight"),
    )


def _rope_scaling(fields: dict[str, Any]) -> dict[str, Any] | None:
    kind, factor = fields.get("rope.scaling.type", "linear"), fields.get("rope.scaling.factor", 1.0)
    if kind == "none" or (kind == "linear" and factor in (0.0, 1.0)):
        return None
    return {"rope_type": kind, "factor": factor}  # ModelConfig refuses all but linear


def _is_honoured(name: str, fields: dict[str, Any], config: ModelConfig) -> bool:
    """Whether the field went into the config, or says no more than what is true of every model here."""
    if name in (*_REQUIRED.values(), *_OPTIONAL.values(), *_ROPE_SCALING):
        return True
    only = {
        "attention.value_length": config.head_size,
        "rope.dimension_count": config.head_size,
        "rope.scaling.attn_factor": 1.0,
        "expert_count": 0,
        "expert_used_count": 0,
    }
    return name in only and fields[name] == only[name]


def _sources(parameter: str, tensor: Tensor, config: ModelConfig) -> dict[str, Tensor]:
    """Names in the file of the tensors that one parameter is made of, each with the rows that it fills."""
    block, module, kind = re.fullmatch(r"(?:blocks\.(\d+)\.)?(.+)\.(weight|bias)", parameter).groups()
    names = [_OUTER[module]] if block is None else [f"blk.{block}.{part}" for part in _INNER[module]]
    heads = (config.num_heads, config.num_kv_heads, config.num_kv_heads)
    counts = [n * config.head_size for n in heads] if module == "attn.qkv" else tensor.shape[0] // len(names)
    return {f"{name}.{kind}": rows for name, rows in zip(names, tensor.split(counts), strict=True)}


def _read(file: GGUFFile, config: ModelConfig, sources: dict[str, Tensor]) -> Tensor:
    """One parameter, its rows read from one source after the other."""
    first = next(iter(sources.values()))
    counts = [len(rows) for rows in sources.values()]
    parameter = torch.empty(sum(counts), *first.shape[1:], dtype=torch.float32)
    for name, rows in zip(sources, parameter.split(counts), strict=True):
        rows.copy_(_in_our_order(file.read(name, rows), name, config))
    return parameter


def _in_our_order(rows: Tensor, name: str, config: ModelConfig) -> Tensor:
    """Query or key rows (heads * d, ...) as they are turned here: in each head all first members of the rotary pairs,
    then all second ones. GGUF keeps the two rows of a pair side by side. Other tensors stay as they are."""
    heads = {"attn_q": config.num_heads, "attn_k": config.num_kv_heads}.get(name.split(".")[-2])
    if heads is None:
        return rows
    return rows.view(heads, -1, 2, rows[0].numel()).transpose(1, 2).reshape(rows.shape)
