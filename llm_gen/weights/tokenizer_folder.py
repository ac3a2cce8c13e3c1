"""The tokenizer of a checkpoint folder."""

from __future__ import annotations

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
    """The tokenizer in `tokenizer.json`. Control tokens have their names in `tokenizer_config.json` or `config.json`
    or, failing these, ids in `config.json`; the chat template is in `chat_template.jinja` or `tokenizer_config.json`.

    Raises CheckpointError if `tokenizer.json` is missing or one of the files is broken.
    """
    folder = Path(folder)
    text = read_text(folder / "tokenizer.json")
    config, settings = (_read_optional(folder / name) for name in ("config.json", "tokenizer_config.json"))
    settings = {**config, **settings}
    try:
        backend = Backend.from_str(text)
    except Exception as error:  # the library raises nothing more precise
        raise CheckpointError(f"{folder / 'tokenizer.json'} holds no tokenizer: {error}") from None
    try:
        return Tokenizer(
            backend,
            **{name: _content(settings.get(name)) or _token_of(backend, settings, name) for name in _NAMED},
            control_tokens=_control_tokens(settings),
            chat_template=_chat_template(folder, settings),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / 'tokenizer_config.json'} is broken: {error}") from None
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: {error}") from None


def _read_optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _content(token: object) -> str | None:
    """A token that a settings file writes as text or as {"content": text, ...}."""
    return token.get("content") if isinstance(token, Mapping) else token


def _token_of(backend: Backend, settings: Mapping[str, Any], name: str) -> str | None:
    """The spelling of an id from `config.json`, if it is in the vocabulary; the first one of a list."""
    index = settings.get(f"{name}_id")
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
