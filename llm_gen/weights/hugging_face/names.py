"""Which tensors of a family make up one of our parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torch import Tensor

from llm_gen.config import ModelConfig
from llm_gen.weights.hugging_face.families import Family


@dataclass(frozen=True)
class Piece:
    """One tensor of a family: its name without prefix, its shape, and the rows of our parameter that it fills.

    transposed: the file holds it as (in, out).
    """

    name: str
    shape: tuple[int, ...]
    rows: int
    transposed: bool


def pieces(family: Family, config: ModelConfig, parameter: str, tensor: Tensor) -> list[Piece]:
    """The tensors whose rows, one after the other, are our parameter."""
    names = _names(family, parameter)
    rows = _part_rows(config, parameter)
    if len(rows) != len(names):  # the family keeps the parts together, as we do, or there are none
        rows = [tensor.shape[0]]
    transposed = family.transposed and tensor.ndim == 2 and parameter.startswith("blocks.")
    shapes = [(count, *tensor.shape[1:]) for count in rows]
    return [
        Piece(name, shape[::-1] if transposed else shape, shape[0], transposed)
        for name, shape in zip(names, shapes, strict=True)
    ]


def full_name(family: Family, name: str) -> str:
    """A name as it stands in a file: with the prefix, unless it is the head's."""
    return name if name.startswith(family.outer["head"]) else family.prefix + name


def plain_name(family: Family, key: str) -> str:
    """A name in a file as the family's table spells it, without the prefix."""
    name = key.removeprefix(family.prefix)
    for other, ours in family.renames.items():
        name = name.replace(other, ours)
    return name


def _names(family: Family, parameter: str) -> list[str]:
    block, module, kind = re.fullmatch(r"(?:blocks\.(\d+)\.)?(.+)\.(weight|bias)", parameter).groups()
    if block is None:
        return [f"{family.outer[module]}.{kind}"]
    expert = re.search(r"(?<=experts\.)\d+", module)
    number = expert[0] if expert else ""
    parts = family.inner[re.sub(r"(?<=experts\.)\d+", "{e}", module)]
    return [f"{family.block}.{block}.{part.replace('{e}', number)}.{kind}" for part in parts]


def _part_rows(config: ModelConfig, parameter: str) -> list[int]:
    """The rows of q, k and v, or of gate and up; empty for a parameter without parts."""
    if ".qkv." in parameter:
        return [heads * config.head_size for heads in (config.num_heads, config.num_kv_heads, config.num_kv_heads)]
    return [config.mlp_dim] * 2 if config.gated_mlp and ".up." in parameter else []
