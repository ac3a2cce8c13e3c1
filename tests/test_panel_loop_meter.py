"""The loop meter: where a phrase repeats, how likely it is each time, and what of it is drawn after each step."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
import torch
from legible import assert_legible
from stubs import Stub

from notebooks import panels
from notebooks.panels.loop_meter import read_meter
from notebooks.panels.scene import Rect, Text
from notebooks.panels.scored import ScoredText, greedy_text
from notebooks.panels.words import token_label

WORDS = ["x", "y", *["␣na", "␣ba", "!"] * 4, "␣na"]
PROBS = [0.5, 0.25, *[0.1, 0.2, 0.5], *[0.5, 0.4, 0.5], *[0.8, 0.5, 0.5], *[1.0, 0.5, 0.5], 1.0]


def scored(name: str = "song", words=WORDS, probs=PROBS, **fields) -> ScoredText:
    ids = [sorted(set(words)).index(word) for word in words]
    return ScoredText(name, "La la", ids, list(probs), list(words), **fields)


SONG, PROSE = scored(), scored("prose", "abcdefg", [0.5] * 7)


@pytest.fixture
def panel():
    made = panels.loop_meter(SONG, PROSE)
    yield made
    made.close()


def test_the_phrase_and_its_probabilities_are_those_counted_by_hand():
    assert SONG.rounds == [(2, 5), (5, 8), (8, 11), (11, 14)]
    assert SONG.phrase_probs == pytest.approx([0.01, 0.1, 0.2, 0.25])
    assert [token for token in range(len(WORDS)) if SONG.in_loop(token)] == list(range(2, 15))
    assert [token for token in range(len(WORDS)) if SONG.starts_loop(token)] == [2]


def test_a_text_is_read_with_its_prompt():
    assert SONG.read(4) == "La laxy na ba"
    assert scored("two lines", ["a", "↵"], [0.5, 0.5]).read(9) == "La laa↵"


def test_a_text_without_a_loop_has_no_rounds():
    assert (PROSE.loop, PROSE.rounds, PROSE.phrase_probs) == (None, [], [])
    assert not any(PROSE.in_loop(token) for token in range(7))
    twice = scored("twice", "abab", [0.5] * 4)
    assert twice.loop is None


def test_the_end_of_text_does_not_belong_to_the_loop():
    ended = scored("ended", [*WORDS[:-1], "<eos>"], PROBS, ended=True)
    assert ended.rounds == SONG.rounds
    assert ended.in_loop(13) and not ended.in_loop(14)


def test_what_is_no_text_lists_of_different_length_and_equal_names_are_refused():
    with pytest.raises(TypeError, match="texts must be ScoredText objects, got str"):
        panels.loop_meter("night")
    with pytest.raises(ValueError, match=r"ids, probs and labels must be equally long, got \[1, 2\]"):
        ScoredText("x", "", [1, 2], [0.5, 0.5], ["a"])
    with pytest.raises(ValueError, match=r"texts must have different names, got \['song', 'song'\]"):
        panels.loop_meter(SONG, scored())


def test_a_greedy_text_is_what_the_model_writes_with_its_own_probabilities():
    class Digits:
        eos_id = 7

        def encode(self, text):
            return [int(digit) for digit in text]

        def token_bytes(self, token):
            return b"" if token == self.eos_id else str(token).encode()

        def decode(self, ids, show_control=False):
            return "<eos>"

    text = panels.greedy_text("counting", Stub("NEXT"), Digits(), "23", 20)
    assert (text.ids, text.labels) == ([4, 5, 6, 7], ["4", "5", "6", "<eos>"])
    assert text.ended and not text.given
    assert text.probs == pytest.approx([1.0] * 4)
    assert panels.greedy_text("two", Stub("NEXT"), Digits(), "23", 2).ids == [4, 5]


@pytest.mark.parametrize(("step", "count"), [(0, 0), (4, 0), (5, 1), (7, 1), (8, 2), (13, 3), (14, 4), (99, 4)])
def test_only_whole_repetitions_count(step, count):
    meter = read_meter(SONG, step)
    assert len(meter.rounds) == len(meter.probs) == count
    assert meter.step == min(step, 15)


def test_the_summary_says_how_often_and_how_likely(panel):
    phrase = "a phrase of 3 tokens"
    start, end = panel.summary.split("; ")
    assert start == f"song, step 15 of 15: {phrase}, 4 times so far"
    assert end == "its probability was 1.0% the first time, 25.0% the last"
    assert panel.set(step=4) == f"song, step 4 of 15: {phrase}, 0 times so far"
    assert panel.set(step=5).startswith(f"song, step 5 of 15: {phrase}, once so far; ")
    assert panel.set(text="prose", step=15) == "prose, step 7 of 7: no loop"


def test_one_bar_a_token_and_one_point_a_repetition(panel):
    for step in range(16):
        panel.set(step=step)
        scene, _summary = panel._draw(**panel.values)
        bars = [mark for mark in scene.marks if isinstance(mark, Rect) and mark.fill in ("blue", "grey")]
        points = [mark for mark in scene.marks if isinstance(mark, Rect) and mark.fill == "orange"]
        keys = 2
        assert len(bars) - keys == step
        assert len(points) == len(read_meter(SONG, step).rounds)
        assert [bar.height for bar in bars[keys:]] == pytest.approx([220 * p for p in PROBS[:step]])


def test_the_text_is_shown_from_its_beginning_with_spaces(panel):
    scene, _summary = panel._draw(**panel.values)
    lines = [mark.text for mark in scene.marks if isinstance(mark, Text) and mark.mono and mark.size == 13]
    assert "".join(lines) == "xy" + " na ba!" * 4 + " na"


@pytest.mark.parametrize("name", panels.stored_texts())
def test_the_stored_texts_are_drawn_at_every_step_small_and_without_overlap(name):
    panel = panels.loop_meter()
    for step in range(0, 161, 5):
        summary = panel.set(text=name, step=step)
        markup = panel._picture.value
        assert len(markup.encode()) < 30_000
        assert ElementTree.fromstring(markup).attrib["aria-label"].endswith(summary)
        assert_legible(panel)
    panel.close()


def test_a_loop_of_one_token_stays_small_too():
    long = scored("hum", ["a"] + ["_"] * 239, [0.5] * 240)
    panel = panels.loop_meter(long)
    assert len(panel._picture.value.encode()) < 30_000
    assert "a phrase of 1 token, 239 times so far" in panel.summary
    assert_legible(panel)
    panel.close()


def test_what_is_saved_is_small_and_shows_the_whole_first_text(panel):
    whole = panel._draw(**panel.values)[0]
    panel.set(step=3, text="prose")
    assert panel._still().marks == whole.marks
    bundle, _metadata = panel._repr_mimebundle_()
    assert bundle["text/plain"] == f"[interactive panel] {panel.summary}"
    assert len(bundle["image/png"]) < 40_000


def test_the_stored_loops_feed_themselves_and_what_people_write_is_less_likely_than_greedy_text():
    stored = panels.stored_texts()
    assert [name for name, text in stored.items() if text.given] == ["piano", "nonsense", "ours"]
    assert [name for name, text in stored.items() if text.ended] == ["animal"]
    assert [name for name, text in stored.items() if text.loop is None] == ["animal", "ours"]
    assert all(0 < p <= 1 for text in stored.values() for p in text.probs)
    for text in stored.values():
        if text.loop is not None:
            assert text.phrase_probs[-1] > 20 * text.phrase_probs[0]
            assert math.prod(text.phrase_probs) < 1e-6
    bits = {name: -sum(map(math.log2, text.probs)) / len(text.probs) for name, text in stored.items()}
    assert bits["ours"] > 2 * max(bits[name] for name, text in stored.items() if not text.given)


@pytest.mark.slow
@pytest.mark.needs("smollm2")
def test_the_stored_texts_are_what_the_model_says(monkeypatch):
    """The recorder writes the first tokens anew, and to its end the text that has one; whether the others go on
    greedily, one pass over the whole text says."""
    from llm_gen.weights import load_model, load_tokenizer
    from notebooks.panels import record_texts

    model, tokenizer, steps = load_model("smollm2"), load_tokenizer("smollm2"), record_texts.STEPS
    monkeypatch.setattr(record_texts, "STEPS", 16)
    fresh, stored = record_texts.scored_texts(model, tokenizer), panels.stored_texts()
    assert [text.name for text in fresh] == list(stored)
    for text in fresh:
        same, count = stored[text.name], len(text.ids)
        assert count == (len(same.ids) if same.given else 16)
        assert (text.prompt, text.ids, text.labels) == (same.prompt, same.ids[:count], same.labels[:count])
        assert text.given == same.given and not text.ended
        assert same.probs[:count] == pytest.approx(text.probs, abs=1e-2)
        if not same.given:
            assert_greedy(model, tokenizer, same, steps)
        if same.ended:
            whole = greedy_text(same.name, model, tokenizer, same.prompt, steps)
            assert (whole.ids, whole.labels, whole.ended) == (same.ids, same.labels, True)


def assert_greedy(model, tokenizer, text: ScoredText, steps: int) -> None:
    """Each token is the likeliest after those before it, and the text ends with its eos or after all steps."""
    start, ids = tokenizer.encode(text.prompt), torch.tensor(text.ids)
    with torch.no_grad():
        probs = model(torch.tensor([start + text.ids]))[0, len(start) - 1 : -1].double().softmax(dim=-1)
    assert probs.argmax(dim=-1).equal(ids)
    assert text.probs == pytest.approx(probs.gather(-1, ids[:, None])[:, 0].tolist(), abs=1e-2)
    assert text.labels == [token_label(tokenizer, token) for token in text.ids]
    assert tokenizer.eos_id not in text.ids[:-1]
    assert text.ended == (text.ids[-1] == tokenizer.eos_id)
    assert text.ended or len(text.ids) == steps
