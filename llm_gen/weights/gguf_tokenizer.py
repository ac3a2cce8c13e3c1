"""The tokenizer inside a GGUF file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend

from llm_gen.checks import CheckpointError
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights.gguf_file import GGUFFile

_PREFIX = "tokenizer.ggml."
_NAMED = {"bos_token": "bos_token_id", "eos_token": "eos_token_id", "pad_token": "padding_token_id"}

# "pre" -> how a text is cut before the merges: by GPT-2's pattern, with or without each digit apart.
_BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)
_CUTS = {
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), _BYTE_LEVEL]),
    "gpt-2": _BYTE_LEVEL,
}
_CONTROL, _USER_DEFINED = 3, 4
_MUST_BE_OFF = ("add_space_prefix", "remove_extra_whitespaces", "add_sep_token", "precompiled_charsmap")


def read_gguf_tokenizer(path: str | Path) -> Tokenizer:
    """The byte-level BPE of a GGUF file, with the cut that `tokenizer.ggml.pre` names.

    Raises CheckpointError for another kind of tokenizer or cut, and for missing or contradicting parts.
    """
    file = GGUFFile(path)
    fields = {key.removeprefix(_PREFIX): value for key, value in file.metadata.items() if key.startswith(_PREFIX)}
    try:
        _check(fields)
        backend = _byte_level_bpe(fields)
        named = {name: _token_at(fields, key) for name, key in _NAMED.items()}
        template = file.metadata.get("tokenizer.chat_template")
        if not isinstance(template, str | None):
            raise CheckpointError(f"tokenizer.chat_template must be a text, got {template!r}")
        backend.post_processor = _ends(backend, fields, named)
        return Tokenizer(backend, **named, chat_template=template)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def _check(fields: Mapping[str, Any]) -> None:
    for name, known in {"model": ["gpt2"], "pre": list(_CUTS)}.items():
        if fields.get(name) not in known:
            choices = " or ".join(known)
            raise CheckpointError(f"{_PREFIX}{name} must be {choices}, got {fields.get(name)!r}")
    if missing := [name for name in ("tokens", "token_type", "merges") if not isinstance(fields.get(name), list)]:
        raise CheckpointError(f"the tokenizer lacks {', '.join(_PREFIX + name for name in missing)}")
    if unknown := [name for name in _MUST_BE_OFF if fields.get(name)]:
        raise CheckpointError(f"{_PREFIX}{unknown[0]} is not supported")
    tokens, types = fields["tokens"], fields["token_type"]
    if len(tokens) != len(types):
        raise CheckpointError(f"the tokenizer must have one type a token, got {len(tokens)} and {len(types)}")
    if len(set(tokens)) != len(tokens):
        raise CheckpointError("the tokenizer must have each token once, got one twice")


def _byte_level_bpe(fields: Mapping[str, Any]) -> Backend:
    vocabulary = {token: index for index, token in enumerate(fields["tokens"])}
    try:
        backend = Backend(models.BPE(vocabulary, [tuple(merge.split(" ")) for merge in fields["merges"]]))
    except Exception as error:  # the library raises nothing more precise
        raise CheckpointError(f"the tokenizer's merges do not fit its tokens: {error}") from None
    backend.pre_tokenizer = _CUTS[fields["pre"]]
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(_added(fields, _CONTROL))
    backend.add_tokens(_added(fields, _USER_DEFINED))
    return backend


def _added(fields: Mapping[str, Any], kind: int) -> list[AddedToken]:
    typed = zip(fields["tokens"], fields["token_type"])
    return [AddedToken(token, normalized=False) for token, its_kind in typed if its_kind == kind]


def _token_at(fields: Mapping[str, Any], key: str) -> str | None:
    """The token that the file names by its id."""
    index, tokens = fields.get(key), fields["tokens"]
    if index is None:
        return None
    if not isinstance(index, int) or not 0 <= index < len(tokens):
        raise CheckpointError(f"{_PREFIX}{key} must lie in 0..{len(tokens) - 1}, got {index!r}")
    return tokens[index]


def _ends(
    backend: Backend, fields: Mapping[str, Any], named: Mapping[str, str | None]
) -> processors.TemplateProcessing | None:
    """BOS in front of a text and EOS behind it, where the file asks for them."""
    bos, eos = ([named[name]] if fields.get(f"add_{name}") else [] for name in ("bos_token", "eos_token"))
    if None in bos + eos:
        raise CheckpointError("the tokenizer adds a bos or eos token, but names none")
    if not bos + eos:
        return None
    special = [(token, backend.token_to_id(token)) for token in bos + eos]
    return processors.TemplateProcessing(single=[*bos, "$A", *eos], special_tokens=special)
