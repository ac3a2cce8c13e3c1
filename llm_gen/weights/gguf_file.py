"""The GGUF container, versions 2 and 3: metadata, and tensors as float32. It knows nothing of models.

The index is read here because the `gguf` package takes seconds for the 100,000 strings of a vocabulary.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llm_gen.checks import CheckpointError
from llm_gen.weights.gguf_blocks import block_format

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


class GGUFFile:
    """metadata: key -> value. tensors: name -> TensorEntry. The file stays memory-mapped while this lives.

    Raises CheckpointError if the file cannot be read, is no GGUF file, is damaged, or ends too early.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._bytes = _map(self.path)
        reader = _Reader(self._bytes, self.path)
        version = reader.number("I")
        if version not in (2, 3):
            raise CheckpointError(f"{path} must be GGUF version 2 or 3, got version {version}")
        tensor_count, key_count = reader.number("Q"), reader.number("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(key_count):
            key = reader.string()
            self.metadata[key] = reader.value(reader.number("I"))
        self.tensors = reader.tensor_entries(tensor_count, self._alignment())

    def _alignment(self) -> int:
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise CheckpointError(f"{self.path} is damaged: general.alignment is {alignment!r}")
        return alignment

    def read(self, name: str, out: Tensor) -> Tensor:
        """Fills `out`, contiguous float32 of the tensor's shape, and returns it."""
        form = block_format(self.tensors[name].kind)
        form.expand(self.stored(name).view(-1, form.size), out.view(-1, form.values))
        return out

    def stored(self, name: str) -> Tensor:
        """The bytes of a tensor, (rows, bytes of a row), a view of the mapped file."""
        entry = self.tensors[name]
        stored = torch.frombuffer(self._bytes, dtype=torch.uint8, count=entry.size, offset=entry.start)
        return stored.view(entry.shape[0], -1)


@dataclass(frozen=True)
class TensorEntry:
    """Where a tensor lies: shape with rows first, number of its format, first byte and number of bytes."""

    shape: tuple[int, ...]
    kind: int
    start: int
    size: int


class _Reader:
    """A cursor over the index, little-endian; whatever runs over the end is a file that was cut short."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self._data, self._path, self._at = data, path, len(_MAGIC)

    def number(self, code: str) -> Any:
        return self.numbers(code, 1)[0]

    def numbers(self, code: str, count: int) -> tuple:
        size = struct.calcsize("<" + code) * count
        return struct.unpack(f"<{count}{code}", self._take(size))

    def string(self) -> str:
        try:
            return self._take(self.number("Q")).decode("utf-8")
        except UnicodeDecodeError:
            raise CheckpointError(f"{self._path} is damaged: a text in its index is no UTF-8") from None

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self._array(self.number("I"), self.number("Q"))
        return self.number(self._code(kind))

    def tensor_entries(self, count: int, alignment: int) -> dict[str, TensorEntry]:
        """The entries of all tensors, each checked to lie inside the file."""
        rows = []
        for _ in range(count):
            name = self.string()
            shape = self.numbers("Q", self.number("I"))[::-1]
            rows.append((name, shape, self.number("I"), self.number("Q")))
        base = math.ceil(self._at / alignment) * alignment
        return {name: self._entry(name, shape, kind, base + start) for name, shape, kind, start in rows}

    def _entry(self, name: str, shape: tuple[int, ...], kind: int, start: int) -> TensorEntry:
        try:
            stored = block_format(kind)
        except CheckpointError as error:
            raise CheckpointError(f"{self._path}: {error}") from None
        if not shape or 0 in shape or shape[-1] % stored.values:
            raise CheckpointError(f"{self._path} is damaged: {name} has the shape {shape} in {stored.name} blocks")
        size = math.prod(shape) // stored.values * stored.size
        if start + size > len(self._data):
            raise CheckpointError(f"{self._path} is cut short: {name} ends after the end of the file")
        return TensorEntry(shape, kind, start, size)

    def _array(self, kind: int, count: int) -> list:
        if kind == _STRING:
            return [self.string() for _ in range(count)]
        return list(self.numbers(self._code(kind), count))

    def _code(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise CheckpointError(f"{self._path} is damaged: its index holds a value of the unknown type {kind}")
        return _SCALARS[kind]

    def _take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise CheckpointError(f"{self._path} is cut short: its index ends after the end of the file")
        return self._data[start : self._at]


def _map(path: Path) -> mmap.mmap:
    """The file as memory: a private view, so that nothing can write to it."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise CheckpointError(f"{path} must be a GGUF file, but does not begin with {_MAGIC.decode()}")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
