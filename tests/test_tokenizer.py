"""The tokenizer: four ways of writing bytes as tokens, streams that show whole characters, and typed control tokens."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend

from llm_gen.checks import CheckpointError
from llm_gen.spelling import byte_alphabet
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_tokenizer

CONTROL = ["<|im_start|>", "<|im_end|>"]
SPECIAL = ["<unk>", "<s>", "</s>"]
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]


def added(*tokens: str, special: bool = True) -> list[AddedToken]:
    return [AddedToken(token, special=special, normalized=False) for token in tokens]


def byte_level(control_is_special: bool = True) -> Backend:
    """GPT-2 style: tokens are bytes, "th", " t" and the control tokens."""
    vocabulary = [*CONTROL, *sorted(pre_tokenizers.ByteLevel.alphabet()), "th", "Ġt"]
    backend = Backend(models.BPE({token: i for i, token in enumerate(vocabulary)}, [("t", "h"), ("Ġ", "t")]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_tokens(added(*CONTROL, special=control_is_special))
    return backend


def sentencepiece(space_in_front: bool) -> Backend:
    """LLaMA style with a space put in front of a text, or Gemma style without; bytes for unknown characters.

    Its merges can build "</s>" out of text, as those of some converted vocabularies can.
    """
    merges = [("▁", "a"), ("<", "/"), ("</", "s"), ("</s", ">")]
    pieces = [f"<0x{byte:02X}>" for byte in range(256)] + ["▁", *LETTERS, *"</>", "▁a", "</", "</s"]
    vocabulary = {token: i for i, token in enumerate([*SPECIAL, *pieces])}
    backend = Backend(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    replace = normalizers.Replace(" ", "▁")
    front = [normalizers.Prepend("▁")] if space_in_front else []
    backend.normalizer = normalizers.Sequence([*front, replace])
    strip = [decoders.Strip(" ", 1, 0)] if space_in_front else []
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip]
    backend.decoder = decoders.Sequence(steps)
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    backend.add_special_tokens(added(*SPECIAL))
    return backend


def metaspace() -> Backend:
    """The other way in which files write LLaMA's rule down."""
    backend = sentencepiece(space_in_front=True)
    backend.normalizer = None
    backend.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="first", split=False)
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace("▁", prepend_scheme="first")])
    return backend


def word_suffix() -> Backend:
    """GPT style: lower case, and a mark at the end of a word."""
    vocabulary = ["<unk>", *LETTERS, *(letter + "</w>" for letter in LETTERS), "th", "the</w>", "!", "!</w>"]
    merges = [("t", "h"), ("th", "e</w>")]
    backend = Backend(
        models.BPE(
            {token: i for i, token in enumerate(vocabulary)},
            merges,
            unk_token="<unk>",
            end_of_word_suffix="</w>",
        )
    )
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.BPEDecoder(suffix="</w>")
    backend.add_special_tokens(added("<unk>"))
    return backend


BACKENDS = {
    "byte level": byte_level,
    "sentencepiece, space in front": lambda: sentencepiece(space_in_front=True),
    "sentencepiece": lambda: sentencepiece(space_in_front=False),
    "metaspace": metaspace,
    "word suffix": word_suffix,
}
TOKENIZERS = {kind: Tokenizer(build()) for kind, build in BACKENDS.items()}
BYTES = Tokenizer(byte_level(), eos_token="<|im_end|>")
# "▁" is how sentencepiece writes a space, so it does not survive there.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="▁"))


def every_kind(function):
    return pytest.mark.parametrize("kind", TOKENIZERS)(function)


@pytest.mark.parametrize("kind", [kind for kind in TOKENIZERS if kind not in ("word suffix", "metaspace")])
@given(text=TEXTS)
def test_decoding_gives_back_any_text(kind, text):
    tokenizer = TOKENIZERS[kind]
    assert tokenizer.decode(tokenizer.encode(text)) == text


@every_kind
@given(text=st.text(st.sampled_from([*"abeht  !", "é", "🎉"])))
def test_decoding_agrees_with_the_library(kind, text):
    tokenizer = TOKENIZERS[kind]
    if kind == "metaspace":  # its decoder in the library drops all spaces of a first token, not only its own
        text = text.lstrip(" ")
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == tokenizer.backend.decode(ids, skip_special_tokens=True)


@every_kind
@given(data=st.data())
def test_a_stream_joins_to_the_whole_and_keeps_characters_together(kind, data):
    tokenizer = TOKENIZERS[kind]
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size + 2)))
    stream = tokenizer.stream()
    pieces = [stream.feed(token) for token in ids]
    whole = tokenizer.decode(ids)
    assert "".join(pieces) + stream.finish() == whole
    # What a prefix shows is true of the whole, so nothing is ever taken back.
    assert all(whole.startswith("".join(pieces[:n])) for n in range(len(pieces)))


def test_four_byte_tokens_show_nothing_three_times_and_then_one_character():
    ids = [
        BYTES.backend.token_to_id(char) for byte in "🎉".encode() for char, b in byte_alphabet().items() if b == byte
    ]
    stream = BYTES.stream()
    assert [stream.feed(token) for token in ids] == ["", "", "", "🎉"]
    assert stream.finish() == ""
    assert BYTES.stream().feed(ids[:3]) == ""


def test_half_a_character_at_the_end_becomes_one_replacement_character():
    stream = BYTES.stream()
    shown = stream.feed(BYTES.encode("a🎉")[:-1])
    assert (shown, stream.finish(), stream.finish()) == ("a", "\ufffd", "")


def test_the_space_after_the_last_word_is_held_back():
    tokenizer = TOKENIZERS["word suffix"]
    stream = tokenizer.stream()
    assert [stream.feed(token) for token in tokenizer.encode("The the a")] == ["the", " the", " a"]
    assert stream.finish() == ""


def test_only_the_space_of_the_tokenizer_is_dropped():
    tokenizer = TOKENIZERS["sentencepiece, space in front"]
    two_words = tokenizer.encode("a", add_special_tokens=False) + tokenizer.encode("a", add_special_tokens=False)
    assert tokenizer.decode(two_words) == "a a"
    assert TOKENIZERS["sentencepiece"].decode(tokenizer.encode("a")) == " a"


def test_the_alphabet_of_bytes_is_that_of_the_library():
    assert set(byte_alphabet()) == set(pre_tokenizers.ByteLevel.alphabet())
    assert all(BYTES.token_bytes(BYTES.encode(char)[0])[:1] == char.encode()[:1] for char in "a ~\n\x00éÿ")


@given(text=st.lists(st.sampled_from([*CONTROL, *"<|/>_ a", "im_start", "im_end"])).map("".join))
def test_typed_text_is_never_a_control_token(text):
    ids = BYTES.encode(text)
    assert not any(BYTES.is_control(token) for token in ids)
    assert BYTES.decode(ids) == text


def test_control_tokens_are_matched_when_asked_for():
    ids = BYTES.encode("<|im_start|>th<|im_end|>", allow_control=True)
    assert ids == [0, BYTES.backend.token_to_id("th"), 1]
    assert (BYTES.decode(ids), BYTES.decode(ids, show_control=True)) == ("th", "<|im_start|>th<|im_end|>")
    assert BYTES.encode("<|im_end|>") != [1], "the switch must not stick"


@given(text=st.lists(st.sampled_from(["</s>", "<s>", "</", "s", ">", " ", "a", "é"])).map("".join))
def test_merges_that_build_a_control_token_are_undone(text):
    tokenizer = TOKENIZERS["sentencepiece, space in front"]
    ids = tokenizer.encode(text)
    assert ids[0] == 1, "BOS, which the checkpoint adds, stays"
    assert not any(tokenizer.is_control(token) for token in ids[1:])
    assert tokenizer.decode(ids) == text


def test_an_unknown_character_may_come_out_as_unk():
    """The model itself writes it for what it does not know, so it is not spelled out like a typed "</s>"."""
    tokenizer = TOKENIZERS["word suffix"]
    assert tokenizer.encode("☃ a") == [0, tokenizer.backend.token_to_id("a</w>")]


def test_bos_is_added_where_the_checkpoint_wants_it():
    tokenizer = TOKENIZERS["sentencepiece"]
    assert tokenizer.encode("a") == [1, *tokenizer.encode("a", add_special_tokens=False)]
    assert tokenizer.encode("") == [1]
    assert BYTES.encode("") == []


def test_ids_without_a_token_decode_to_nothing():
    beyond = BYTES.vocab_size
    assert BYTES.decode([beyond, *BYTES.encode("th"), 2**31, 2**32, 2**70]) == "th"
    for token in (beyond, 2**40):
        assert (BYTES.token_text(token), BYTES.token_bytes(token)) == ("", b"")


def test_an_added_token_is_text_and_not_letters_of_the_byte_alphabet():
    """The library's own decoder takes the "é" of such a token for the byte 0xE9."""
    backend = byte_level()
    backend.add_tokens(added("né", special=False))
    tokenizer = Tokenizer(backend)
    assert tokenizer.decode(tokenizer.encode("né né")) == "né né"


def test_token_text_is_for_the_eye():
    first, *_ = BYTES.encode("🎉")
    assert BYTES.token_text(first) == "<f0>"
    assert [BYTES.token_text(token) for token in BYTES.encode("th ta\n")] == ["th", " t", "a", "\n"]
    assert BYTES.token_text(1) == "<|im_end|>"
    assert TOKENIZERS["sentencepiece"].token_text(3 + 0xF0) == "<f0>"
    assert TOKENIZERS["word suffix"].token_text(TOKENIZERS["word suffix"].encode("the")[0]) == "the "


def test_ids_may_be_a_tensor():
    ids = BYTES.encode("the th")
    assert BYTES.decode(torch.tensor(ids)) == "the th"
    assert "".join(map(BYTES.stream().feed, torch.tensor(ids))) == "the th"


def test_an_id_is_control_whatever_kind_of_integer_it_is():
    assert all(BYTES.is_control(kind) for kind in (torch.tensor(1), torch.tensor([1])[0], torch.tensor(1).numpy()))
    assert not BYTES.is_control(torch.tensor(5)) and not BYTES.is_control(2**40)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_a_tokenizer_and_a_stream_can_be_copied(copied):
    tokenizer = Tokenizer(byte_level(), eos_token="<|im_end|>", chat_template="T")
    other, text = copied(tokenizer), "the th <|im_end|> é"
    for allow in (False, True):
        assert other.encode(text, allow_control=allow) == tokenizer.encode(text, allow_control=allow)
    assert (other.eos_id, other.chat_template, other.vocab_size) == (1, "T", tokenizer.vocab_size)
    stream = tokenizer.stream()
    first, second = tokenizer.encode("é")
    stream.feed(first)
    assert copy.deepcopy(stream).feed(second) == stream.feed(second) == "é"


def test_encoding_leaves_the_switch_of_the_callers_backend_alone():
    backend = byte_level()
    tokenizer = Tokenizer(backend)
    for before in (False, True):
        backend.encode_special_tokens = before
        for allow in (False, True):
            tokenizer.encode("<|im_end|>", allow_control=allow)
            assert backend.encode_special_tokens is before


def test_pad_batch_pads_on_the_left():
    ids, mask = BYTES.pad_batch(["th", "th th", [5, 6]])
    assert ids.dtype == mask.dtype == torch.int64
    long = BYTES.encode("th th")
    assert ids.tolist() == [[1] * (len(long) - 1) + BYTES.encode("th"), long, [1] * (len(long) - 2) + [5, 6]]
    assert mask.tolist() == [[0, 0, 1], [1, 1, 1], [0, 1, 1]]


def test_pad_batch_takes_pad_then_eos_then_zero():
    rows = [[7], [7, 7]]
    pads = [
        Tokenizer(byte_level(), eos_token="<|im_end|>", pad_token="<|im_start|>"),
        Tokenizer(byte_level(), eos_token="<|im_end|>"),
        Tokenizer(byte_level()),
    ]
    assert [tokenizer.pad_batch(rows)[0][0, 0].item() for tokenizer in pads] == [0, 1, 0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: BYTES.encode(b"a"), TypeError, "text must be a str, got b'a'"),
        (lambda: BYTES.encode(None), TypeError, "text must be a str, got None"),
        (lambda: BYTES.encode("ab\ud800"), ValueError, "text must be valid Unicode, got half a surrogate pair at 2"),
        (lambda: BYTES.decode([3, -1]), ValueError, "token must be an integer >= 0, got -1"),
        (lambda: BYTES.decode([True]), TypeError, "token must be an integer, got True"),
        (lambda: BYTES.decode([1.0]), TypeError, "token must be an integer, got 1.0"),
        (lambda: BYTES.decode("th"), TypeError, "token must be an integer, got 'th'"),
        (lambda: BYTES.stream().feed(None), TypeError, "token must be an integer, got None"),
        (lambda: BYTES.token_text(-1), ValueError, "token must be an integer >= 0, got -1"),
        (lambda: BYTES.pad_batch([]), ValueError, "rows must hold at least one text, got none"),
        (lambda: BYTES.pad_batch("th"), TypeError, "rows must be a list of texts or of id lists, got 'th'"),
        (lambda: BYTES.pad_batch(["th", ""]), ValueError, "rows must hold at least one token each, but row 1 is empty"),
        (lambda: BYTES.pad_batch([[1], [-2]]), ValueError, "token must be an integer >= 0, got -2"),
        (lambda: Tokenizer(byte_level(), chat_template=5), TypeError, "chat_template must be a str or None, got 5"),
        (
            lambda: Tokenizer(byte_level(), eos_token="</s>"),
            CheckpointError,
            "eos_token '</s>' is not in the vocabulary of the tokenizer",
        ),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == words


@pytest.mark.parametrize("decoder", [None, decoders.WordPiece(), decoders.Sequence([decoders.Replace("x", " ")])])
def test_a_decoder_of_another_kind_is_refused(decoder):
    backend = byte_level()
    backend.decoder = decoder
    with pytest.raises(CheckpointError, match=r"must have a decoder of the kind ByteLevel, .*, got "):
        Tokenizer(backend)


def test_truncation_and_padding_of_a_file_are_cleared():
    """A file made for training cuts every text to its length; a prompt must not be cut in silence."""
    backend = byte_level()
    backend.enable_truncation(2)
    backend.enable_padding(length=8)
    assert len(Tokenizer(backend).encode("abcd")) == 4


def write(folder, backend, **files):
    backend.save(str(folder / "tokenizer.json"))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_a_folder_names_its_control_tokens(tmp_path):
    settings = {
        "bos_token": {"content": "<|im_start|>", "lstrip": False},
        "eos_token": "<|im_end|>",
        "pad_token": None,
        "chat_template": "{{ messages }}",
    }
    tokenizer = load_tokenizer(write(tmp_path, byte_level(), tokenizer_config=settings))
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id) == (0, 1, None)
    assert tokenizer.chat_template == "{{ messages }}"


@pytest.mark.parametrize("eos", [1, [1, 0]])
def test_ids_in_config_json_serve_where_there_are_no_names(tmp_path, eos):
    config = {"model_type": "gpt2", "bos_token_id": 0, "eos_token_id": eos, "pad_token_id": -1}
    tokenizer = load_tokenizer(str(write(tmp_path, byte_level(), config=config)))
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id) == (0, 1, None)


@pytest.mark.parametrize(
    "settings",
    [
        {"eos_token": "<|im_end|>"},
        {"additional_special_tokens": ["<|im_end|>"]},
        {"extra_special_tokens": {"end": {"content": "<|im_end|>"}}},
        {"added_tokens_decoder": {"1": {"content": "<|im_end|>", "special": True}}},
    ],
)
def test_a_role_marker_listed_as_an_ordinary_token_is_a_control_token(tmp_path, settings):
    backend = byte_level(control_is_special=False)
    assert backend.encode("<|im_end|>").ids == [1], "the library alone matches it in typed text"
    tokenizer = load_tokenizer(write(tmp_path, backend, tokenizer_config=settings))
    assert tokenizer.is_control(1)
    assert 1 not in tokenizer.encode("<|im_end|>")
    assert tokenizer.encode("<|im_end|>", allow_control=True) == [1]


def test_the_chat_template_may_have_its_own_file_or_several_names(tmp_path):
    several = [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}]
    folder = write(tmp_path, byte_level(), tokenizer_config={"chat_template": several})
    assert load_tokenizer(folder).chat_template == "D"
    (folder / "chat_template.jinja").write_text("J")
    assert load_tokenizer(folder).chat_template == "J"


def test_a_broken_folder_gives_one_sentence(tmp_path):
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.json$"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json holds no tokenizer: "):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(b"\xff\xfe")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read: it is no text in UTF-8$"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read: "):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{", "is no JSON: "),
        ("[]", "must hold a JSON object, got list"),
        ('{"eos_token": "<eos>"}', "eos_token '<eos>' is not in the vocabulary"),
        ('{"eos_token": 5}', "is broken: "),
        ('{"added_tokens_decoder": []}', "is broken: "),
        ('{"chat_template": [{}]}', "is broken: "),
        ('{"chat_template": 5}', "is broken: chat_template must be a text, or a list of named texts, got 5"),
        ('{"chat_template": [{"name": "default", "template": 5}]}', "is broken: chat_template must"),
        ('{"unk_token": {"content": 5}}', "is broken: unk_token must be a text or hold one as its content"),
        ('{"additional_special_tokens": 5}', "is broken: additional_special_tokens must be a list"),
        ('{"added_tokens_decoder": {"1": 5}}', "is broken: added_tokens_decoder must be an object of tokens"),
        ('{"eos_token_id": 1099511627776}', "is broken: eos_token_id must be an integer below .*, got 1099511627776"),
        ('{"eos_token_id": [true]}', "is broken: eos_token_id must be an integer"),
        ("[" * 100_000, "nested too deep"),
        ('{"eos_token_id": ' + "9" * 5000 + "}", "is no JSON: "),
    ],
)
@pytest.mark.parametrize("name", ["tokenizer_config.json", "config.json"])
def test_broken_settings_give_one_sentence_that_names_the_file(tmp_path, name, settings, words):
    write(tmp_path, byte_level())
    (tmp_path / name).write_text(settings)
    with pytest.raises(CheckpointError, match=words) as caught:
        load_tokenizer(tmp_path)
    assert name in str(caught.value) or "vocabulary" in words


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        (7, TypeError, "name_or_path must be a str or a Path, got 7"),
        ("x" * 5000, CheckpointError, "there is no model 'xxx"),
        ("nowhere", CheckpointError, "there is no model 'nowhere': give .* tiny, tiny-draft, .*, smollm2$"),
    ],
)
def test_a_model_that_does_not_exist(name, error, words):
    with pytest.raises(error, match=words):
        load_tokenizer(name)
