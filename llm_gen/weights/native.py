"""The project's own checkpoints: a folder with config.json, model.safetensors and tokenizer.json. No pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from llm_gen.checks import CheckpointError, check_float_dtype
from llm_gen.config import ModelConfig
from llm_gen.model import DecoderLM
from llm_gen.quantized import Quantized
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights.blank import blank_model, check_count
from llm_gen.weights.files import read_json
from llm_gen.weights.tokenizer_folder import read_tokenizer

FORMAT = "llm_gen"


def save_checkpoint(
    folder: str | Path, model: DecoderLM, tokenizer: Tokenizer, dtype: torch.dtype = torch.float16
) -> None:
    """Writes the three files, weights in `dtype`. All are written whole before the first one takes its place.

    Raises TypeError for a quantized model or a dtype that is not floating, ValueError for a weight that is too large
    for `dtype`; the folder is then as it was.
    """
    if any(isinstance(part, Quantized) for part in model.modules()):
        raise TypeError("model must have float weights to be saved, got a quantized one")
    check_float_dtype("dtype", dtype)
    folder = Path(folder)
    tensors = {name: _cast(name, tensor, dtype) for name, tensor in model.state_dict().items()}
    config = {"format": FORMAT, "model": model.config.to_dict(), **control_tokens(tokenizer)}
    if tokenizer.chat_template is not None:
        config["chat_template"] = tokenizer.chat_template
    text = json.dumps(config, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    replace_files({
        folder / "tokenizer.json": lambda path: tokenizer.backend.save(str(path)),
        folder / "model.safetensors": lambda path: save_file(tensors, path),
        folder / "config.json": lambda path: path.write_text(text),
    })  # fmt: skip


def control_tokens(tokenizer: Tokenizer) -> dict[str, str | None]:
    ids = {"bos_token": tokenizer.bos_id, "eos_token": tokenizer.eos_id, "pad_token": tokenizer.pad_id}
    return {name: None if i is None else tokenizer.backend.id_to_token(i) for name, i in ids.items()}


def replace_files(writers: Mapping[Path, Callable[[Path], Any]]) -> None:
    """Lets each function make a file beside its path, then moves them all there; none if one could not be made."""
    fresh = {path: path.with_name(path.name + ".new") for path in writers}
    try:
        for path, write in writers.items():
            write(fresh[path])
            fresh[path].chmod(0o644)  # safetensors makes files that only their owner can read
        for path, new in fresh.items():
            os.replace(new, path)
    finally:
        for new in fresh.values():
            new.unlink(missing_ok=True)


def load_checkpoint(folder: str | Path, dtype: torch.dtype | None = torch.float32) -> tuple[DecoderLM, Tokenizer]:
    """Model, in eval mode, and tokenizer of a folder that `save_checkpoint` wrote.

    dtype: of the weights in memory; None keeps that of the file, which is then mapped and not copied.
    Raises CheckpointError naming the file and what is wrong with it, TypeError for a dtype that is not floating;
    nothing is half loaded.
    """
    if dtype is not None:
        check_float_dtype("dtype", dtype)
    folder = Path(folder)
    config = read_native_config(folder / "config.json")
    path = folder / "model.safetensors"
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} is no readable safetensors file: {error}") from None
    check_count(path, config, len(tensors))
    model = blank_model(config, folder / "config.json")
    check_tensors(path, model.state_dict(), tensors)
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise CheckpointError(f"{path} must hold floating-point numbers, got {tensor.dtype} in {name}")
    cast = {name: tensor.to(dtype or tensor.dtype) for name, tensor in tensors.items()}
    model.load_state_dict(cast, assign=True)
    return model.eval(), read_tokenizer(folder)


def read_native_config(path: Path) -> ModelConfig:
    """The ModelConfig in the config.json of an own checkpoint. Raises CheckpointError."""
    values = read_json(path)
    if values.get("format") != FORMAT:
        raise CheckpointError(f"{path} must have the format {FORMAT!r}, got {values.get('format')!r}")
    if not isinstance(values.get("model"), dict):
        raise CheckpointError(f"{path} must hold the object 'model', got {values.get('model')!r}")
    try:
        return ModelConfig.from_dict(values["model"])
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path} describes no model: {error}") from None


def _cast(name: str, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """The weight in `dtype`; ValueError if a finite number in it would become infinite."""
    cast = tensor.to(dtype).contiguous()
    lost = tensor[cast.isinf() & tensor.isfinite()]
    if lost.numel():
        raise ValueError(
            f"dtype must be able to hold every weight, but {dtype} has no {lost[0].item():g}, which is in {name}; "
            f"{tensor.dtype} has"
        )
    return cast


def check_tensors(path: Path, wanted: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> None:
    """Raises one CheckpointError that names missing, unknown and mis-shaped tensors."""
    bent = [
        f"{name} {tuple(found[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if name in found and found[name].shape != wanted[name].shape
    ]
    problems = {
        "misses": sorted(wanted.keys() - found.keys()),
        "has unknown": sorted(found.keys() - wanted.keys()),
        "has the wrong shape of": bent,
    }
    if any(problems.values()):
        said = (f"{verb} {shorten(names)}" for verb, names in problems.items() if names)
        raise CheckpointError(f"{path} {'; '.join(said)}")


def shorten(names: Collection[str], most: int = 3) -> str:
    """ "a, b, c and 5 more" """
    listed = ", ".join(list(names)[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")
