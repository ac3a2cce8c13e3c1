"""The project's own checkpoints: a folder with config.json, model.safetensors and tokenizer.json. No pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer as Backend
from torch import Tensor

from llm_gen.checks import CheckpointError
from llm_gen.config import ModelConfig
from llm_gen.model import DecoderLM
from llm_gen.tokenizer import Tokenizer

FORMAT = "llm_gen"
CONTROL_TOKENS = ("bos_token", "eos_token", "pad_token")


def save_checkpoint(
    folder: str | Path, model: DecoderLM, tokenizer: Tokenizer, dtype: torch.dtype = torch.float16
) -> None:
    """Writes the three files; each one appears whole or not at all, config.json last."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.to(dtype).contiguous() for name, tensor in model.state_dict().items()}
    ids = (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id)
    names = {key: None if i is None else tokenizer.backend.id_to_token(i) for key, i in zip(CONTROL_TOKENS, ids)}
    config = {"format": FORMAT, "model": asdict(model.config), **names}
    replace_file(folder / "tokenizer.json", lambda path: tokenizer.backend.save(str(path)))
    replace_file(folder / "model.safetensors", lambda path: save_file(tensors, path))
    replace_file(folder / "config.json", lambda path: path.write_text(json.dumps(config, indent=2) + "\n"))


def replace_file(path: Path, write) -> None:
    """Lets `write` make a file beside `path`, then moves it there in one step."""
    fresh = path.with_name(path.name + ".new")
    write(fresh)
    os.replace(fresh, path)


def load_checkpoint(folder: str | Path, dtype: torch.dtype | None = torch.float32) -> tuple[DecoderLM, Tokenizer]:
    """Model, in eval mode, and tokenizer of a folder that `save_checkpoint` wrote.

    dtype: of the weights in memory; None keeps that of the file, which is then mapped and not copied.
    Raises CheckpointError naming the file and what is wrong with it; nothing is half loaded.
    """
    folder = Path(folder)
    config = read_config(folder)
    model = build_model(config["model"], read_tensors(folder / "model.safetensors"), dtype, folder)
    return model, load_native_tokenizer(folder)


def load_native_tokenizer(folder: str | Path) -> Tokenizer:
    """The tokenizer of a checkpoint folder. Raises CheckpointError."""
    config = read_config(Path(folder))
    path = Path(folder) / "tokenizer.json"
    try:
        backend = Backend.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises bare Exception for a file it cannot read
        raise CheckpointError(f"{path} is no readable tokenizer: {error}") from None
    return Tokenizer(backend, **{key: config.get(key) for key in CONTROL_TOKENS})


def read_config(folder: Path) -> dict:
    """config.json of an own checkpoint, its `model` part as a ModelConfig."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} is no readable config: {error}") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise CheckpointError(f"{path} must have the format {FORMAT!r}")
    try:
        return {**config, "model": ModelConfig.from_dict(config["model"])}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} describes no model: {error}") from None


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, mapped into memory. Raises CheckpointError."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} is no readable safetensors file: {error}") from None


def build_model(
    config: ModelConfig, tensors: Mapping[str, Tensor], dtype: torch.dtype | None, source: object
) -> DecoderLM:
    """A DecoderLM that holds exactly these tensors, in eval mode; without a copy where the dtype allows.

    Raises CheckpointError naming missing, unknown and mis-shaped tensors of `source`.
    """
    with torch.device("meta"):
        model = DecoderLM(config)
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    problems = [
        list_names("misses", wanted.keys() - found.keys()),
        list_names("has unknown", found.keys() - wanted.keys()),
        *(
            f"has {name} of shape {found[name]} instead of {shape}"
            for name, shape in wanted.items()
            if name in found and found[name] != shape
        ),
    ]
    if any(problems):
        raise CheckpointError(f"{source} " + "; ".join(filter(None, problems)))
    cast = {name: tensor.to(dtype or tensor.dtype) for name, tensor in tensors.items()}
    model.load_state_dict(cast, assign=True)
    return model.eval()


def list_names(verb: str, names: Iterable[str]) -> str:
    """ "misses head.weight, embed.weight and 5 more", "" for none."""
    first, rest = sorted(names)[:3], len(list(names)) - 3
    return f"{verb} {', '.join(first)}" + (f" and {rest} more" if rest > 0 else "") if first else ""
