"""Text to ids and back: one wrapper around a `tokenizers.Tokenizer`, whatever its alphabet."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from threading import Lock

import torch
from tokenizers import AddedToken
from tokenizers import Tokenizer as Backend
from torch import Tensor

from llm_gen.checks import CheckpointError, check_integer
from llm_gen.spelling import Spelling, read_spelling, spelling_of

# Whether control tokens are matched is a switch in the backend, which several threads and tokenizers may share.
_SWITCH = Lock()


class Tokenizer:
    """Text <-> ids for one vocabulary.

    backend: a BPE `tokenizers.Tokenizer` with a decoder: byte-level (GPT-2, SmolLM2), sentencepiece style
    (LLaMA, Mistral, Gemma) or with a mark at the end of a word (GPT). It is kept, not copied: its padding and
    truncation are cleared and its control tokens marked.
    bos_token, eos_token, pad_token: spelling of these control tokens, None if there is none.
    control_tokens: further ones, beside those that the backend calls special; unknown ones are ignored.
    chat_template: the template as the checkpoint has it (Jinja), None if it has none.
    Raises CheckpointError if bos, eos or pad is not in the vocabulary, or the decoder is of another kind; TypeError
    for a template that is no str. A copy, also one by pickle, has a backend of its own.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        control_tokens: Iterable[str] = (),
        chat_template: str | None = None,
    ) -> None:
        if not isinstance(chat_template, str | None):
            raise TypeError(f"chat_template must be a str or None, got {chat_template!r}")
        backend.no_padding()
        backend.no_truncation()
        self.backend = backend
        self.chat_template = chat_template
        self.bos_id = self._id_of("bos_token", bos_token)
        self.eos_id = self._id_of("eos_token", eos_token)
        self.pad_id = self._id_of("pad_token", pad_token)
        self._mark_as_control([bos_token, eos_token, pad_token, *control_tokens])
        self._added = backend.get_added_tokens_decoder()
        self._control = {token for token, added in self._added.items() if added.special}
        # What the model itself writes for a character that it does not know may well come out of typed text.
        self._never_typed = self._control - {backend.token_to_id(getattr(backend.model, "unk_token", None) or "")}
        self._spelling = read_spelling(backend)

    @property
    def vocab_size(self) -> int:
        """Number of tokens, control tokens included. A model may have more rows than that."""
        return self.backend.get_vocab_size()

    def is_control(self, token: int) -> bool:
        """Whether the id is a control token (a role, an end of text), which typed text never becomes."""
        return check_integer("token", token, minimum=0) in self._control

    def encode(self, text: str, *, allow_control: bool = False, add_special_tokens: bool = True) -> list[int]:
        """Ids of a text.

        allow_control: match control tokens such as `<|im_end|>` where the text spells them. Without it they
        are ordinary characters, so text that a user types never is a control token.
        add_special_tokens: add what the checkpoint wants around a text (LLaMA and Gemma: BOS in front; GPT-2
        and SmolLM2: nothing). Switch it off for a piece of a longer text.
        Raises TypeError if text is no str, ValueError if it is no valid Unicode.
        """
        _check_text(text)
        with _SWITCH:
            found = self.backend.encode_special_tokens
            self.backend.encode_special_tokens = not allow_control
            try:
                encoding = self.backend.encode(text, add_special_tokens=add_special_tokens)
            finally:
                self.backend.encode_special_tokens = found
        if allow_control or self._never_typed.isdisjoint(encoding.ids):
            return encoding.ids
        return self._spell_out_control(encoding.ids, encoding.special_tokens_mask)

    def decode(self, ids: Sequence[int] | Tensor, *, show_control: bool = False) -> str:
        """Text of ids (T,). Ids without a token give nothing, bytes that are no UTF-8 give U+FFFD, and
        control tokens are spelled only with show_control.

        Raises TypeError or ValueError for an id that is no integer >= 0.
        """
        stream = self.stream(show_control=show_control)
        return stream.feed(ids) + stream.finish()

    def stream(self, *, show_control: bool = False) -> TextStream:
        """A decoder for ids that come one by one, as in a chat."""
        return TextStream(self, self._spelling, show_control)

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for an id without a token."""
        token = check_integer("token", token, minimum=0)
        written = spelling_of(self.backend, token)
        return b"" if written is None else self._spelling.to_bytes(written, is_added=token in self._added)

    def token_text(self, token: int) -> str:
        """A token for the eye: its text, or "<f0 9f>", the hex of bytes that are no whole characters."""
        spelled = self.token_bytes(token)
        try:
            return spelled.decode("utf-8")
        except UnicodeDecodeError:
            return f"<{spelled.hex(' ')}>"

    def pad_batch(self, rows: Sequence[str | Sequence[int] | Tensor]) -> tuple[Tensor, Tensor]:
        """Texts or id lists as one batch, padded on the left: ids (B, P) and attention_mask (B, P), int64.

        Padding has the id pad_id, else eos_id, else 0; the mask alone says what is padding.
        Raises TypeError if rows is no list, ValueError if it or one of its rows is empty.
        """
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Sequence):
            raise TypeError(f"rows must be a list of texts or of id lists, got {rows!r}")
        if not rows:
            raise ValueError("rows must hold at least one text, got none")
        encoded = [self.encode(row) if isinstance(row, str) else _as_ids(row) for row in rows]
        if [] in encoded:
            raise ValueError(f"rows must hold at least one token each, but row {encoded.index([])} is empty")
        pad = next((token for token in (self.pad_id, self.eos_id) if token is not None), 0)
        width = max(map(len, encoded))
        ids = [[pad] * (width - len(row)) + row for row in encoded]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in encoded]
        return torch.tensor(ids), torch.tensor(mask)

    def _id_of(self, name: str, token: str | None) -> int | None:
        if token is None:
            return None
        index = self.backend.token_to_id(token)
        if index is None:
            raise CheckpointError(f"{name} {token!r} is not in the vocabulary of the tokenizer")
        return index

    def _mark_as_control(self, tokens: list[str | None]) -> None:
        # Some files list a role marker as an ordinary added token: adding it again corrects that.
        known = [token for token in tokens if token and self.backend.token_to_id(token) is not None]
        self.backend.add_special_tokens([AddedToken(token, normalized=False) for token in known])

    def _spell_out_control(self, ids: list[int], is_added: list[int]) -> list[int]:
        """Cuts a control token that merges happened to build out of typed text into its characters."""
        plain = []
        for token, added in zip(ids, is_added, strict=True):
            if added or token not in self._never_typed:
                plain.append(token)
            else:
                characters = self.backend.id_to_token(token)
                plain += [piece.id for char in characters for piece in self.backend.model.tokenize(char)]
        return plain


class TextStream:
    """Decodes ids as they come and never shows half a character; what it returned is never taken back."""

    def __init__(self, tokenizer: Tokenizer, spelling: Spelling, show_control: bool) -> None:
        self._tokenizer = tokenizer
        self._spelling = spelling
        self._show_control = show_control
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._at_start = True

    def feed(self, ids: int | Sequence[int] | Tensor) -> str:
        """The text that one more id, or several, complete; often empty."""
        ids = [token for token in _as_ids(ids) if self._show_control or not self._tokenizer.is_control(token)]
        return self._trim(self._utf8.decode(b"".join(map(self._tokenizer.token_bytes, ids))))

    def finish(self) -> str:
        """What is left at the end: U+FFFD if the ids stop in the middle of a character."""
        text = self._trim(self._utf8.decode(b"", final=True))
        self._held = ""
        return text

    def _trim(self, text: str) -> str:
        """Drops the space that encoding put before the first word, or holds back the one after the last."""
        if self._spelling.space_in_front and self._at_start and text:
            text = text.removeprefix(" ")
            self._at_start = False
        if self._spelling.word_end:
            text = self._held + text
            self._held = " " if text.endswith(" ") else ""
            text = text.removesuffix(" ")
        return text


def _as_ids(ids: int | Sequence[int] | Tensor) -> list[int]:
    if isinstance(ids, Tensor):
        ids = ids.tolist()
    if not isinstance(ids, Iterable) or isinstance(ids, (str, bytes)):
        ids = [ids]
    return [check_integer("token", token, minimum=0) for token in ids]


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {text!r}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"text must be valid Unicode, got half a surrogate pair at {error.start}") from None
