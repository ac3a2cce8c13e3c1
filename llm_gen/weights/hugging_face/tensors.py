"""The tensors in the files of a Hugging Face folder.

Safetensors files only. A pickle file runs whatever code it holds when it is opened, so none is ever opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from llm_gen.checks import CheckpointError
from llm_gen.weights.files import PICKLES, read_json
from llm_gen.weights.hugging_face.families import Family
from llm_gen.weights.hugging_face.names import plain_name

CONFIG, SINGLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
FLOATS = ("F64", "F32", "F16", "BF16")
# Masks and tables that older versions stored beside the weights.
_BUFFERS = re.compile(r"(.*\.)?(attn\.(masked_)?bias|rotary_emb\.inv_freq|position_ids)")


@dataclass(frozen=True)
class StoredTensor:
    """Where a tensor lies: `cut` picks it out of the stored tensor `key`, whose parts may be several tensors."""

    file: Path
    key: str
    shape: tuple[int, ...]
    cut: tuple[int | slice, ...] = ()

    def copy_into(self, out: Tensor, transposed: bool) -> None:
        """Fill `out`. The file is mapped for this one tensor, so that its pages do not pile up beside the weights."""
        with _opened(self.file) as file:
            stored = file.get_slice(self.key)[self.cut] if self.cut else file.get_tensor(self.key)
            out.copy_(stored.t() if transposed else stored)

    def equals(self, other: StoredTensor) -> bool:
        """Whether both hold the same numbers; neither is copied."""
        with _opened(self.file) as one, _opened(other.file) as two:
            first, second = one.get_tensor(self.key), two.get_tensor(other.key)
            return first.dtype == second.dtype and torch.equal(first, second)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold the weights: the single one, those that the index names, or all.

    Raises CheckpointError if there are none, or if one that the index names is not there.
    """
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    if (folder / INDEX).is_file():
        return _files_of_index(folder)
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        _refuse_pickles(folder)
        raise CheckpointError(f"{folder} holds no safetensors file, so there are no weights to load")
    return files


def _refuse_pickles(folder: Path) -> None:
    """CheckpointError that says why, if the folder holds pickle files."""
    pickles = sorted(file.name for file in folder.iterdir() if file.suffix in PICKLES)
    if pickles:
        raise CheckpointError(
            f"{folder} holds its weights as pickle ({', '.join(pickles[:3])}), and a pickle file can run any "
            f"code when it is opened: convert it to safetensors first"
        )


def stored_tensors(folder: Path, family: Family) -> dict[str, StoredTensor]:
    """All tensors of a folder by the names of the family's table, without prefix and buffers."""
    found: dict[str, StoredTensor] = {}
    for path in weight_files(folder):
        with _opened(path) as file:
            for key in file.keys():  # noqa: SIM118 (the file is no mapping)
                for name, tensor in _tensors_at(path, file, key, family):
                    if name in found:
                        raise CheckpointError(f"{folder} holds {name} twice: {found[name].key} and {key}")
                    found[name] = tensor
    return found


def _files_of_index(folder: Path) -> list[Path]:
    weight_map = read_json(folder / INDEX).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise CheckpointError(f"{folder / INDEX} must hold a weight_map of tensor names to files")
    names = sorted(set(map(str, weight_map.values())))
    absent = [name for name in names if Path(name).name != name or not (folder / name).is_file()]
    if absent:
        raise CheckpointError(f"{folder / INDEX} names files that are not in the folder: {', '.join(absent)}")
    return [folder / name for name in names]


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is no usable safetensors file: {error}") from None


def _tensors_at(path: Path, file: Any, key: str, family: Family) -> Iterator[tuple[str, StoredTensor]]:
    """The tensors of the table that are stored under one key: usually one, several for joined experts."""
    name = plain_name(family, key)
    if _BUFFERS.fullmatch(name):
        return
    stored = file.get_slice(key)
    if stored.get_dtype() not in FLOATS:
        raise CheckpointError(f"{path}: {key} must hold floating-point numbers, got {stored.get_dtype()}")
    shape = tuple(stored.get_shape())
    joined = re.fullmatch(r"(.+\.experts)\.(gate_up_proj|down_proj)", name)
    if not joined or len(shape) != 3:
        yield name, StoredTensor(path, key, shape)
        return
    experts, rows, columns = shape
    halves = {"w1": slice(0, rows // 2), "w3": slice(rows // 2, rows)}
    for expert in range(experts):
        for part, cut in (halves if joined[2] == "gate_up_proj" else {"w2": slice(0, rows)}).items():
            tensor = StoredTensor(path, key, (cut.stop - cut.start, columns), (expert, cut))
            yield f"{joined[1]}.{expert}.{part}.weight", tensor
