"""A DecoderLM to a Hugging Face folder that transformers loads as well."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from llm_gen.model import DecoderLM
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights.hugging_face.config import choose_family, to_theirs
from llm_gen.weights.hugging_face.families import Family
from llm_gen.weights.hugging_face.names import full_name, pieces
from llm_gen.weights.hugging_face.tensors import CONFIG, INDEX, SINGLE

SHARD_BYTES = 4 << 30
_CONTROL = ("bos_token", "eos_token", "pad_token")


def save_hugging_face(folder: str | Path, model: DecoderLM, tokenizer: Tokenizer | None = None) -> None:
    """Write `config.json`, safetensors (several above 4 GiB) and, if given, the tokenizer's two files.

    The family is the first of openai-gpt, gpt2, llama, mistral, mixtral, gemma that can say the whole config;
    dropout is not kept. The folder appears whole or not at all. Raises ValueError if it exists and is not empty,
    or if no family fits (naming the fields that do not); TypeError if model is no DecoderLM.
    """
    if not isinstance(model, DecoderLM):
        raise TypeError(f"model must be a DecoderLM, got {type(model).__name__}")
    model_type, family = choose_family(model.config)
    with _appearing(Path(folder)) as fresh:
        _write_tensors(fresh, _tensors(family, model))
        _write_json(fresh / CONFIG, _config(model_type, family, model, tokenizer))
        if tokenizer is not None:
            _write_tokenizer(fresh, tokenizer)


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A folder to write into, moved to its place in one step when all went well."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"folder must not exist yet or be empty, got {str(folder)!r}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as scratch:
        fresh = Path(scratch) / folder.name
        fresh.mkdir()
        yield fresh
        if folder.exists():
            folder.rmdir()
        os.replace(fresh, folder)


def _config(model_type: str, family: Family, model: DecoderLM, tokenizer: Tokenizer | None) -> dict[str, Any]:
    ids = {f"{name}_id": None if tokenizer is None else getattr(tokenizer, name[:3] + "_id") for name in _CONTROL}
    return {
        "architectures": [family.architecture],
        "model_type": model_type,
        **to_theirs(family, model.config),
        **family.written,
        **ids,
        "torch_dtype": str(model.embed.weight.dtype).removeprefix("torch."),
    }


def _tensors(family: Family, model: DecoderLM) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of the family's table, as a view of our parameters."""
    for parameter, tensor in model.named_parameters():
        parts = pieces(family, model.config, parameter, tensor)
        for piece, rows in zip(parts, tensor.detach().split([piece.rows for piece in parts]), strict=True):
            yield full_name(family, piece.name), rows.t() if piece.transposed else rows


def _write_tensors(folder: Path, tensors: Iterable[tuple[str, Tensor]]) -> None:
    shards = _shards(tensors, SHARD_BYTES)
    names = [f"model-{number + 1:05}-of-{len(shards):05}.safetensors" for number in range(len(shards))]
    if len(shards) == 1:
        names = [SINGLE]
    for name, shard in zip(names, shards):
        plain = {key: tensor.cpu().contiguous() for key, tensor in shard.items()}
        save_file(plain, folder / name, metadata={"format": "pt"})
    if len(shards) > 1:
        weight_map = {key: name for name, shard in zip(names, shards) for key in shard}
        total = sum(tensor.nbytes for shard in shards for tensor in shard.values())
        _write_json(folder / INDEX, {"metadata": {"total_size": total}, "weight_map": weight_map})


def _shards(tensors: Iterable[tuple[str, Tensor]], limit: int) -> list[dict[str, Tensor]]:
    """The tensors in order, in groups of at most `limit` bytes; a larger tensor stands alone."""
    shards: list[dict[str, Tensor]] = [{}]
    used = 0
    for name, tensor in tensors:
        if shards[-1] and used + tensor.nbytes > limit:
            shards.append({})
            used = 0
        shards[-1][name] = tensor
        used += tensor.nbytes
    return shards


def _write_tokenizer(folder: Path, tokenizer: Tokenizer) -> None:
    ids = {name: getattr(tokenizer, name[:3] + "_id") for name in _CONTROL}
    settings: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast"}
    settings |= {name: tokenizer.backend.id_to_token(i) for name, i in ids.items() if i is not None}
    if tokenizer.chat_template is not None:
        settings["chat_template"] = tokenizer.chat_template
    tokenizer.backend.save(str(folder / "tokenizer.json"))
    _write_json(folder / "tokenizer_config.json", settings)


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
