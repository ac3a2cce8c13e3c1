"""Text as it is written: whole characters, stop strings across tokens, ends and limits."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from stubs import examples
from talkers import END, Talker, byte_tokenizer

from llm_gen.answer import Answer, StopStrings, TextSettings, write

TOKENIZER = byte_tokenizer()
END_ID = TOKENIZER.eos_id
GREEDY = TextSettings(greedy=True)


def say(line, settings=GREEDY, end_ids=(END_ID,), rows=0):
    model, answer = Talker(TOKENIZER, [line], rows=rows), Answer()
    pieces = list(write(model, TOKENIZER, TOKENIZER.encode("x"), settings, end_ids=end_ids, answer=answer))
    return pieces, answer


def test_e17_a_stop_string_over_several_tokens_is_never_shown():
    stops = StopStrings(["DEFGHIJ"])
    assert [stops.feed(piece) for piece in ("abcDEF", "G", "HI", "J")] == [
        ("abc", False), ("", False), ("", False), ("", True),
    ]  # fmt: skip


@given(st.text("ab", max_size=30), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3), st.integers(1, 4))
@examples(300)
def test_stop_strings_cut_at_the_first_one_whatever_the_pieces(text, stops, size):
    finder, shown, stopped = StopStrings(stops), "", False
    for start in range(0, len(text), size):
        more, stopped = finder.feed(text[start : start + size])
        shown += more
        assert text.startswith(shown)
        if stopped:
            break
    shown += "" if stopped else finder.held
    # The first to be complete decides, and of those the one that began first.
    ends = {text.find(stop) + len(stop): stop for stop in stops if stop in text}
    assert stopped == bool(ends)
    if not ends:
        assert shown == text
    else:
        assert all(stop not in shown for stop in stops)


def test_h01_half_a_character_waits():
    pieces, answer = say("a🎉b" + END)
    assert pieces == ["a", "🎉", "b"]
    assert answer.text == "a🎉b" and answer.finish == "end" and answer.ids[-1] == END_ID


def test_a_character_cut_by_the_limit_is_marked_once():
    pieces, answer = say("a🎉", TextSettings(greedy=True, max_new_tokens=3))
    assert pieces == ["a", "�"] and answer.finish == "length"


def test_h02_an_empty_answer_is_an_answer():
    assert say(END)[0] == [] and say(END)[1].finish == "end"
    pieces, answer = say("abc", TextSettings(greedy=True, max_new_tokens=0))
    assert pieces == [] and answer.ids == [] and answer.finish == "length"


def test_what_was_held_for_a_stop_string_is_shown_when_none_comes():
    pieces, answer = say("one tw" + END, TextSettings(greedy=True, stop=("two",)))
    assert "".join(pieces) == answer.text == "one tw"
    _, answer = say("one two three", TextSettings(greedy=True, stop=("two",)))
    assert answer.text == "one " and answer.finish == "stop string"


def test_several_end_ids_and_a_minimum_length():
    other = TOKENIZER.encode("!")[0]
    assert say("ab!cd", end_ids=(END_ID, other))[1].text == "ab"
    settings = TextSettings(greedy=True, min_new_tokens=4, max_new_tokens=6)
    assert END_ID not in say("ab" + END, settings)[1].ids[:4]


def test_a_stop_string_ends_no_text_before_its_minimum_length():
    settings = TextSettings(greedy=True, stop=("b",), min_new_tokens=4)
    assert say("abcabc" + END, settings)[1].text == "abca"
    assert say("abca" + END, settings)[1].finish == "end"
    assert say("ab" + END, settings.changed(min_new_tokens=2))[1].text == "a"
    stops = StopStrings(["aa"])
    assert [stops.feed(piece, n == 3) for n, piece in enumerate("xaaa")] == [
        ("x", False), ("", False), ("a", False), ("", True),
    ]  # fmt: skip


def test_one_end_id_may_stand_alone():
    assert say("ab!cd", end_ids=TOKENIZER.encode("!")[0])[1].text == "ab"


@pytest.mark.parametrize(
    ("prompt", "end_ids", "error", "words"),
    [
        ([], (), ValueError, r"prompt must hold at least one token, got \[\]"),
        ([1.5], (), TypeError, "prompt must be an integer, got 1.5"),
        ("ab", (), TypeError, "prompt must be an integer, got 'ab'"),
        ([9999], (), ValueError, "prompt must lie in the vocabulary .*, got 9999"),
        ([5], "ab", TypeError, "end_ids must be an integer, got 'ab'"),
        ([5], [9999], ValueError, "end_ids must lie in the vocabulary .*, got 9999"),
    ],
)
def test_a_wrong_prompt_or_end_is_refused_by_name(prompt, end_ids, error, words):
    with pytest.raises(error, match=words):
        next(write(Talker(TOKENIZER, ["a"]), TOKENIZER, prompt, GREEDY, end_ids=end_ids))


def test_time_that_has_run_out_ends_the_text_after_one_step():
    pieces, answer = say("abc", TextSettings(greedy=True, max_time=0))
    assert pieces == ["a"] and answer.finish == "time"


def test_l12_rows_of_the_head_without_a_token_are_never_drawn():
    class Padded(Talker):
        def __call__(self, ids, attention_mask=None, cache=None):
            logits = super().__call__(ids).clone()
            logits[..., TOKENIZER.vocab_size :] = 90.0
            return logits

    answer, model = Answer(), Padded(TOKENIZER, ["ok" + END], rows=6)
    assert "".join(write(model, TOKENIZER, [5], GREEDY, end_ids=[END_ID], answer=answer)) == "ok"
    assert max(answer.ids) < TOKENIZER.vocab_size


def test_log_probs_stand_beside_the_tokens():
    settings = TextSettings(temperature=1.0, top_k=2, top_p=None)
    answer, model = Answer(), Talker(TOKENIZER, ["hey" + END])
    list(write(model, TOKENIZER, [5], settings, end_ids=[END_ID], answer=answer, generator=torch.Generator()))
    assert len(answer.ids) == len(answer.log_probs) == len(answer.full_log_probs) == len(answer.seconds) == 4
    assert all(full < drawn <= 0 for drawn, full in zip(answer.log_probs, answer.full_log_probs))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (TextSettings(), "temperature 0.8, top_p 0.95"),
        (TextSettings(temperature=0), "greedy"),
        (TextSettings(greedy=True), "greedy"),
        (TextSettings(top_p=1.0), "temperature 0.8"),
        (TextSettings(top_p=3), "temperature 0.8"),
        (TextSettings(temperature=2, top_k=7, top_p=None), "temperature 2, top_k 7"),
    ],
)
def test_h08_settings_say_what_they_mean(settings, said):
    assert str(settings) == said


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"temperature": -1}, ValueError, "temperature must be > 0"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number"),
        ({"top_p": 0}, ValueError, r"top_p must lie in \(0, 1\]"),
        ({"top_k": 5}, ValueError, "top_k and top_p must not be combined"),
        ({"max_new_tokens": -1}, ValueError, "max_new_tokens must be an integer >= 0"),
        ({"min_new_tokens": 1.5}, TypeError, "min_new_tokens must be an integer"),
        ({"max_time": -1}, ValueError, "max_time must be >= 0"),
        ({"max_time": float("nan")}, ValueError, "max_time must be finite"),
        ({"stop": "word"}, TypeError, "stop must be a list of strings"),
        ({"stop": ("",)}, ValueError, "at least one character"),
        ({"stop": None}, TypeError, "stop must be a list of strings, got None"),
        ({"stop": iter(["a"])}, TypeError, "stop must be a list of strings"),
        ({"greedy": 1}, TypeError, "greedy must be True or False"),
    ],
)
def test_wrong_settings_are_refused_by_name(values, error, words):
    with pytest.raises(error, match=words):
        TextSettings(**values)
