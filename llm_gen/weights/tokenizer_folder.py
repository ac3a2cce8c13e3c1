"""The tokenizer of a checkpoint folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend

from llm_gen.checks import CheckpointError
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights.files import read_json, read_text

_NAMED = ("bos_token", "eos_token", "pad_token")
_OTHER_CONTROL = ("unk_token", "sep_token", "cls_token", "mask_token")


def read_tokenizer(folder: str | Path) -> Tokenizer:
    """`tokenizer.json`, with the names of control tokens and the chat template from `tokenizer_config.json` and
    `chat_template.jinja`; failing these, the ids that `config.json` gives.

    Raises CheckpointError if `tokenizer.json` is missing or one of the files is broken.
    """
    folder = Path(folder)
    text = read_text(folder / "tokenizer.json")
    settings, config = (_read_optional(folder / name) for name in ("tokenizer_config.json", "config.json"))
    try:
        backend = Backend.from_str(text)
    except Exception as error:  # the library raises nothing more precise
        raise CheckpointError(f"{folder / 'tokenizer.json'} holds no tokenizer: {error}") from None
    try:
        return Tokenizer(
            backend,
            **{name: _content(settings.get(name)) or _token_of(backend, config, name) for name in _NAMED},
            control_tokens=_control_tokens(settings),
            chat_template=_chat_template(folder, settings),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / 'tokenizer_config.json'} is broken: {error}") from None
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: {error}") from None


def write_tokenizer(tokenizer: Tokenizer, folder: str | Path) -> None:
    """Writes `tokenizer.json` and `tokenizer_config.json` into an existing folder, for `read_tokenizer`."""
    folder = Path(folder)
    ids = zip(_NAMED, (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id))
    settings = {name: tokenizer.backend.id_to_token(token) for name, token in ids if token is not None}
    if tokenizer.chat_template is not None:
        settings["chat_template"] = tokenizer.chat_template
    tokenizer.backend.save(str(folder / "tokenizer.json"))
    text = json.dumps(settings, ensure_ascii=False, indent=2)
    (folder / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")


def _read_optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _content(token: object) -> str | None:
    """A token that a settings file writes as text or as {"content": text, ...}."""
    return token.get("content") if isinstance(token, Mapping) else token


def _token_of(backend: Backend, config: Mapping[str, Any], name: str) -> str | None:
    """The spelling of the id that `config.json` gives, where there is one in the vocabulary."""
    index = config.get(f"{name}_id")
    if isinstance(index, list):
        index = index[0] if index else None
    return backend.id_to_token(index) if isinstance(index, int) and index >= 0 else None


def _control_tokens(settings: Mapping[str, Any]) -> list[str]:
    more = settings.get("additional_special_tokens") or [], settings.get("extra_special_tokens") or []
    listed = [token for tokens in more for token in (tokens.values() if isinstance(tokens, Mapping) else tokens)]
    added = [token for token in settings.get("added_tokens_decoder", {}).values() if token.get("special")]
    return [_content(token) for token in (*map(settings.get, _OTHER_CONTROL), *listed, *added)]


def _chat_template(folder: Path, settings: Mapping[str, Any]) -> str | None:
    """The template text; of several named ones the one called default."""
    path = folder / "chat_template.jinja"
    if path.is_file():
        return read_text(path)
    template = settings.get("chat_template")
    if isinstance(template, list):
        return {entry["name"]: entry["template"] for entry in template}.get("default")
    return template
