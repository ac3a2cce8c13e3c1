"""How a vocabulary writes bytes down as token strings, and how to read them back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache

from tokenizers import Tokenizer as Backend

from llm_gen.checks import CheckpointError


@dataclass(frozen=True)
class Spelling:
    """How a vocabulary writes bytes down as token strings."""

    byte_level: bool = False  # every byte is a printable character (GPT-2)
    sentencepiece: bool = False  # "▁" is a space and "<0x0A>" one byte (LLaMA)
    space_in_front: bool = False  # encoding puts a space before the first word (LLaMA, not Gemma)
    word_end: str = ""  # a mark after the last piece of a word (GPT)

    def to_bytes(self, written: str, is_added: bool) -> bytes:
        if self.byte_level and not is_added and byte_alphabet().keys() >= set(written):
            return bytes(byte_alphabet()[char] for char in written)
        if self.sentencepiece:
            if match := re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", written):
                return bytes.fromhex(match[1])
            written = written.replace("▁", " ")
        if self.word_end and written.endswith(self.word_end):
            written = written.removesuffix(self.word_end) + " "
        return written.encode("utf-8")


@cache
def byte_alphabet() -> dict[str, int]:
    """Character -> byte in byte-level BPE: printable Latin-1 is itself, the rest counts up from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


_STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
_SENTENCEPIECE = (
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    _STRIP,
)


def read_spelling(backend: Backend) -> Spelling:
    """The spelling that the backend's decoder undoes; raises CheckpointError for an unknown decoder."""
    state = json.loads(backend.decoder.__getstate__()) if backend.decoder else {"type": "none"}
    steps = state.get("decoders", [state])
    kinds = [step["type"] for step in steps]
    if kinds == ["ByteLevel"]:
        return Spelling(byte_level=True)
    if kinds == ["BPEDecoder"]:
        return Spelling(word_end=steps[0]["suffix"])
    metaspace = [step for step in steps if step["type"] == "Metaspace" and step["replacement"] == "▁"]
    if all(step in _SENTENCEPIECE or step in metaspace for step in steps):
        in_front = _STRIP in steps or any(step["prepend_scheme"] != "never" for step in metaspace)
        return Spelling(sentencepiece=True, space_in_front=in_front)
    known = "ByteLevel, BPEDecoder, Metaspace or its parts"
    raise CheckpointError(f"the tokenizer must have a decoder of the kind {known}, got {', '.join(kinds)}")


def spelling_of(backend: Backend, token: int) -> str | None:
    """How the vocabulary writes an id >= 0; None for one without a token, also beyond the backend's 32 bits."""
    return backend.id_to_token(token) if token < 1 << 32 else None
