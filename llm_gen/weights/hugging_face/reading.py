"""A Hugging Face folder to a DecoderLM: everything is checked before a single weight is copied."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from llm_gen.checks import CheckpointError, check_float_dtype
from llm_gen.config import ModelConfig
from llm_gen.model import DecoderLM
from llm_gen.weights.blank import blank_model, check_count
from llm_gen.weights.files import read_json
from llm_gen.weights.hugging_face.config import read_config
from llm_gen.weights.hugging_face.families import Family
from llm_gen.weights.hugging_face.names import Piece, full_name, pieces
from llm_gen.weights.hugging_face.tensors import CONFIG, StoredTensor, stored_tensors


def is_hugging_face(folder: str | Path) -> bool:
    """Whether a folder has a config.json that names a model type, known here or not."""
    try:
        return "model_type" in read_json(Path(folder) / CONFIG)
    except CheckpointError:
        return False


def load_hugging_face(folder: str | Path, dtype: torch.dtype = torch.float32) -> DecoderLM:
    """The model of a folder with `config.json` and safetensors files, in eval mode, its weights in `dtype`.

    Families: openai-gpt, gpt2, llama, mistral, mixtral, gemma. The files are memory-mapped and copied tensor by
    tensor, so that the peak stays near the size of the weights. Raises CheckpointError, before anything is
    copied, for a config or tensors that would not give exactly this model; TypeError for another dtype.
    """
    check_float_dtype("dtype", dtype)
    folder = Path(folder)
    family, config = read_config(folder / CONFIG)
    stored = stored_tensors(folder, family)
    _drop_tied_head(folder, family, config, stored)
    check_count(folder, config, len(stored))
    model = blank_model(config, folder / CONFIG)
    plan = {name: pieces(family, config, name, tensor) for name, tensor in model.named_parameters()}
    _check_tensors(folder, family, plan, stored)
    weights = {name: _read(model.get_parameter(name), parts, stored, dtype) for name, parts in plan.items()}
    model.load_state_dict(weights, assign=True)
    return model.eval()


@dataclass
class _Faults:
    """What is wrong with the tensors of a folder, all of it in one sentence."""

    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    misshaped: list[str] = field(default_factory=list)

    def raise_any(self, folder: Path) -> None:
        kinds = {"missing": self.missing, "not expected": self.unexpected, "wrong in shape": self.misshaped}
        found = [f"{kind}: {_listed(names)}" for kind, names in kinds.items() if names]
        if found:
            raise CheckpointError(f"{folder} does not hold the tensors of its config.json; {'; '.join(found)}")


def _check_tensors(folder: Path, family: Family, plan: dict[str, list[Piece]], stored: dict[str, StoredTensor]) -> None:
    """One CheckpointError names every tensor that is missing, not expected or wrong in shape."""
    wanted = {piece.name: piece for parts in plan.values() for piece in parts}
    faults = _Faults(unexpected=[tensor.key for name, tensor in stored.items() if name not in wanted])
    for name, piece in wanted.items():
        if name not in stored:
            faults.missing.append(full_name(family, name))
        elif stored[name].shape != piece.shape:
            faults.misshaped.append(f"{stored[name].key} {stored[name].shape} instead of {piece.shape}")
    faults.raise_any(folder)


def _drop_tied_head(folder: Path, family: Family, config: ModelConfig, stored: dict[str, StoredTensor]) -> None:
    """A tied head that is stored all the same must be the embedding."""
    embed, head = (stored.get(f"{family.outer[module]}.weight") for module in ("embed", "head"))
    if not config.tie_embeddings or head is None or embed is None:
        return
    if not head.equals(embed):
        raise CheckpointError(f"{folder}: tie_word_embeddings is set, but {head.key} differs from {embed.key}")
    del stored[f"{family.outer['head']}.weight"]


def _read(shaped: Tensor, parts: list[Piece], stored: dict[str, StoredTensor], dtype: torch.dtype) -> Tensor:
    """One parameter in memory, its rows copied from one tensor after the other."""
    tensor = torch.empty(shaped.shape, dtype=dtype)
    for piece, rows in zip(parts, tensor.split([piece.rows for piece in parts]), strict=True):
        stored[piece.name].copy_into(rows, piece.transposed)
    return tensor


def _listed(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
