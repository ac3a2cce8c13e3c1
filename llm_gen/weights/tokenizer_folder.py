"""The tokenizer of a checkpoint folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend

from llm_gen.checks import CheckpointError
from llm_gen.spelling import spelling_of
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights.files import read_json, read_text

_NAMED = ("bos_token", "eos_token", "pad_token")
_OTHER_CONTROL = ("unk_token", "sep_token", "cls_token", "mask_token")


def read_tokenizer(folder: str | Path) -> Tokenizer:
    """The tokenizer in `tokenizer.json`. Control tokens have their names in `tokenizer_config.json` or `config.json`
    or, failing these, ids in `config.json`; the chat template is in `chat_template.jinja` or `tokenizer_config.json`.

    Raises CheckpointError if `tokenizer.json` is missing or one of the files is broken, naming file and field.
    """
    folder = Path(folder)
    text = read_text(folder / "tokenizer.json")
    settings = _Settings(folder)
    try:
        backend = Backend.from_str(text)
    except Exception as error:  # the library raises nothing more precise
        raise CheckpointError(f"{folder / 'tokenizer.json'} holds no tokenizer: {error}") from None
    named = {name: settings.read(name, _content) or _token_of(backend, settings, name) for name in _NAMED}
    control, template = _control_tokens(settings), _chat_template(folder, settings)
    try:
        return Tokenizer(backend, **named, control_tokens=control, chat_template=template)
    except CheckpointError as error:
        raise CheckpointError(f"{folder}: {error}") from None


class _Settings:
    """The fields of `tokenizer_config.json` and, where it has none of that name, of `config.json`."""

    def __init__(self, folder: Path) -> None:
        paths = (folder / "tokenizer_config.json", folder / "config.json")
        self._files = {path: read_json(path) for path in paths if path.is_file()}

    def read(self, name: str, reader: Callable[[Any], Any]) -> Any:
        """What `reader` makes of a field, None if there is none. CheckpointError names the file that holds it."""
        for path, values in self._files.items():
            if name in values:
                try:
                    return reader(values[name])
                except (TypeError, ValueError) as error:
                    raise CheckpointError(f"{path} is broken: {name} must {error}, got {values[name]!r}") from None
        return None


def _content(token: object) -> str | None:
    """A token that a settings file writes as text or as {"content": text, ...}."""
    text = token.get("content") if isinstance(token, Mapping) else token
    if not isinstance(text, str | None):
        raise TypeError("be a text or hold one as its content")
    return text


def _token_of(backend: Backend, settings: _Settings, name: str) -> str | None:
    """The spelling of an id from `config.json`, if it is in the vocabulary; the first one of a list."""
    index = settings.read(f"{name}_id", _first_id)
    return None if index is None else spelling_of(backend, index)


def _first_id(value: object) -> int | None:
    """An id or the first of a list; None for none, which some files write as a negative number."""
    first = (value[0] if value else None) if isinstance(value, list) else value
    if first is None:
        return None
    if isinstance(first, bool) or not isinstance(first, int) or first >= 1 << 32:
        raise ValueError(f"be an integer below {1 << 32} or a list of such")
    return first if first >= 0 else None


def _control_tokens(settings: _Settings) -> list[str | None]:
    more = [settings.read(name, _tokens) or [] for name in ("additional_special_tokens", "extra_special_tokens")]
    added = settings.read("added_tokens_decoder", _special_tokens) or []
    return [*(settings.read(name, _content) for name in _OTHER_CONTROL), *more[0], *more[1], *added]


def _tokens(value: object) -> list[str | None]:
    """The tokens of a list, or of an object with a name for each."""
    tokens = list(value.values()) if isinstance(value, Mapping) else value or []
    if not isinstance(tokens, list):
        raise TypeError("be a list or an object of tokens")
    return [_content(token) for token in tokens]


def _special_tokens(value: object) -> list[str | None]:
    """Those of the added tokens that are marked as special."""
    if not isinstance(value, Mapping) or not all(isinstance(token, Mapping) for token in value.values()):
        raise TypeError("be an object of tokens, each an object")
    return [_content(token) for token in value.values() if token.get("special")]


def _chat_template(folder: Path, settings: _Settings) -> str | None:
    """The template text; of several named ones the one called default."""
    path = folder / "chat_template.jinja"
    return read_text(path) if path.is_file() else settings.read("chat_template", _default_template)


def _default_template(value: object) -> str | None:
    if isinstance(value, list):
        if not all(isinstance(entry, Mapping) and {"name", "template"} <= entry.keys() for entry in value):
            raise TypeError("list objects with a name and a template")
        value = next((entry["template"] for entry in value if entry["name"] == "default"), None)
    if not isinstance(value, str | None):
        raise TypeError("be a text, or a list of named texts")
    return value
