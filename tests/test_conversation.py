"""The stored conversation: what counts as right, which symptoms are seen, and whether SmolLM2 still says the same."""

from __future__ import annotations

import itertools

import pytest

from llm_gen.beyond import diagnose
from notebooks import panels
from notebooks.panels import record_conversation
from notebooks.panels.conversation import Answers

SEEN = {
    "repeats": "repetition loop",
    "ignores the instruction": "format broken",
    "wrong format": "format broken",
    "noise": "sudden surprise",
    "runs on": "runs on",
    "ends at once": "early end",
}
CHECKS = {
    "ignores the instruction": panels.questions()["kite"].is_right,
    "wrong format": panels.questions()["spider"].is_valid,
}


@pytest.mark.parametrize(
    ("question", "answer", "right", "valid"),
    [
        ("capital", "The capital of France is Paris.", True, True),
        ("capital", "Lyon. Or perhaps it is Nice.", False, False),
        ("spider", "8", True, True),
        ("spider", " 8. ", True, True),
        ("spider", "A spider has eight legs.", True, False),
        ("spider", "18", False, True),
        ("kite", "A red Kite danced above the waves.", True, True),
        ("kite", "The sea is blue. So is the sky.", False, False),
        ("kite", "A kite over", True, False),
    ],
)
def test_what_is_right_and_what_has_the_form(question, answer, right, valid):
    asked = panels.questions()[question]
    assert (asked.is_right(answer), asked.is_valid(answer)) == (right, valid)


def test_answers_are_counted_with_their_errors():
    answers = Answers("capital", "hot", ["Paris.", "London.", "Paris.", "A. B."], [1.0, 2.0, 1.0, 9.0])
    assert (answers.right.value, answers.valid.value, answers.different) == (0.5, 0.75, 3)
    assert answers.right.error > 0.1


def test_every_question_was_asked_under_every_setting():
    stored, settings = panels.stored_answers(), record_conversation.SETTINGS
    assert set(stored) == set(itertools.product(panels.questions(), settings))
    for (_question, setting), answers in stored.items():
        count = 1 if setting == "greedy" else record_conversation.ANSWERS
        assert len(answers.texts) == len(answers.bits) == count
        assert all(bits >= 0 for bits in answers.bits)
        assert not any("<|" in text for text in answers.texts)


@pytest.mark.parametrize("symptom", SEEN)
def test_each_symptom_is_seen_in_its_trace(symptom):
    recorded = panels.stored_traces()[symptom]
    trace = recorded.trace
    assert len(trace.ids) == len(trace.probs) == len(trace.entropies)
    asked = {"text": recorded.answer, "is_valid": CHECKS[symptom]} if symptom in CHECKS else {}
    assert SEEN[symptom] in [finding.name for finding in diagnose(trace, **asked)]
    if symptom in CHECKS:
        assert SEEN[symptom] not in [finding.name for finding in diagnose(trace)]


def test_every_stored_trace_has_its_symptom():
    assert set(panels.stored_traces()) == set(SEEN)


@pytest.mark.slow
@pytest.mark.needs("smollm2")
def test_the_stored_answers_and_traces_are_what_the_model_says():
    from llm_gen.weights import load_model, load_tokenizer

    model, tokenizer = load_model("smollm2"), load_tokenizer("smollm2")
    for pair in (("capital", "greedy"), ("spider", "tau=0.7")):
        fresh, stored = record_conversation.ask(model, tokenizer, *pair), panels.stored_answers()[pair]
        assert fresh.texts == stored.texts
        assert fresh.bits == pytest.approx(stored.bits, abs=1e-2)
    for symptom in ("wrong format", "ends at once"):
        recipe = record_conversation.recipes(tokenizer)[symptom]
        fresh, stored = record_conversation.trace(model, tokenizer, *recipe), panels.stored_traces()[symptom]
        assert (fresh["ids"], fresh["text"]) == (stored.trace.ids, stored.text)
        assert fresh["probs"] == pytest.approx(stored.trace.probs, abs=1e-3)
