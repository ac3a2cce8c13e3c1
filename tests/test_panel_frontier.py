"""The frontier: who beats whom, what is shown of each setting, and whether the stored stories are tiny's own."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree

import pytest
import torch
from legible import assert_legible

from llm_gen.rollout import compute_logprobs
from llm_gen.story import judge
from llm_gen.story.metrics import Estimate
from llm_gen.weights import load_model, load_tokenizer
from notebooks import panels
from notebooks.panels.measured import Measured, Story, stored_frontier, stored_grammar, unbeaten
from notebooks.panels.record_frontier import CUTS, GROUP, KEPT, TEMPERATURES, row_of, sampled_texts
from notebooks.panels.story_lines import printable, wrapped

TRUE = Story("The kite flew home. The end.", None, "")
SLIPPED = Story("The kite flew hill. The end.", 14, "no sentence goes on with 'hill' here")


def setting(tau, true, diversity, cut="off", stories=(TRUE, SLIPPED)):
    shares = Estimate(true, 0.04), Estimate(1.0, 0.02), Estimate(diversity, 1.0)
    return Measured(tau, cut, 50, *shares, Estimate(0.7, 0.02), list(stories))


GREEDY, COLD, WARM = setting("greedy", 1.0, 0.0, stories=(TRUE,)), setting(0.5, 0.9, 20.0), setting(1.0, 0.7, 30.0)
CUT, HOT = setting(1.0, 0.8, 30.0, "top-p 0.90"), setting(0.5, 0.6, 25.0, "top-p 0.90")
SETTINGS = [GREEDY, COLD, WARM, CUT, HOT]


@pytest.fixture
def panel():
    made = panels.frontier(SETTINGS)
    yield made
    made.close()


def test_a_setting_is_beaten_by_one_that_is_better_in_one_and_not_worse_in_the_other():
    beaten = {(one.name, other.name) for one, other in itertools.permutations(SETTINGS, 2) if one.beats(other)}
    assert beaten == {
        ("tau=1.00 top-p 0.90", "tau=1.00"),
        ("tau=1.00 top-p 0.90", "tau=0.50 top-p 0.90"),
        ("tau=1.00", "tau=0.50 top-p 0.90"),
    }
    assert unbeaten(SETTINGS) == [GREEDY, COLD, CUT]
    assert not COLD.beats(COLD)


def test_the_panel_says_what_was_measured_and_where_a_story_slips(panel):
    assert panel.summary == (
        "tau=1.00: 70.0% ± 4.0 true, 30.0 ± 1.0 bits, beaten by tau=1.00 top-p 0.90; story 1: true"
    )
    assert panel.set(story=2).endswith("story 2: no sentence goes on with 'hill' here")
    orange = [mark for mark in panel._draw(**panel.values)[0].marks if getattr(mark, "fill", None) == "orange"]
    assert "hill. The end." in [getattr(mark, "text", "") for mark in orange]
    assert panel.set(cut="top-p 0.90").startswith("tau=1.00 top-p 0.90: 80.0% ± 4.0 true")
    assert panel.set(tau="greedy").startswith("greedy: 100.0% ± 4.0 true")
    assert panel.set(tau="greedy", story=2).endswith("story 1: true")


def test_only_what_was_measured_can_be_chosen(panel):
    with pytest.raises(ValueError, match=r"tau must be one of 0.5, 1, got 0.7"):
        panel.set(tau=0.7)
    assert panel.values["tau"] == 1.0
    ragged = panels.frontier([COLD, CUT], tau=0.5)
    with pytest.raises(ValueError, match=r"tau=0.5 with top-p 0.90 was not measured"):
        ragged.set(cut="top-p 0.90")
    assert ragged.set(tau=1.0).startswith("tau=1.00 top-p 0.90")
    ragged.close()


def test_lines_are_broken_at_blanks_and_lose_no_letter():
    text = "word " * 60 + "x" * 65
    lines = wrapped(text, 60)
    assert "".join(line for _start, line in lines) == text
    assert all(text[start : start + len(line)] == line and len(line) <= 60 for start, line in lines)
    assert all(line.endswith(" ") for _start, line in lines[:-2])


def test_what_no_page_can_show_keeps_its_place():
    assert printable("a\x17b\nc") == "a\ufffdb\ufffdc"
    noise = setting(1.0, 0.0, 90.0, stories=(Story("kite\x17 the \ufffd\x00", 4, "no sentence"),))
    panel = panels.frontier([noise])
    assert "kite" in "".join(ElementTree.fromstring(panel._picture.value).itertext())
    panel.close()


def test_every_stored_setting_and_story_can_be_read():
    panel = panels.frontier()
    cuts = [cut for _label, cut in panel.controls["cut"].options]
    for tau, cut, story in itertools.product(("greedy", *TEMPERATURES), cuts, (1, KEPT)):
        summary = panel.set(tau=tau, cut=cut, story=story)
        markup = panel._picture.value
        assert len(markup.encode()) < 30_000 and "nan" not in markup
        assert ElementTree.fromstring(markup).attrib["aria-label"].endswith(summary)
        assert_legible(panel)
    assert len(panel._repr_mimebundle_()[0]["image/png"]) < 45_000
    panel.close()


def test_the_stored_settings_are_the_whole_grid_and_the_grammar_is_perfect():
    grid = {(one.tau, one.cut) for one in stored_frontier()}
    assert grid == {("greedy", "off"), *itertools.product(TEMPERATURES, CUTS)}
    assert stored_grammar().true.value == stored_grammar().grammatical.value == 1.0
    assert {one.texts for one in stored_frontier()} == {1, stored_grammar().texts}


@pytest.mark.parametrize(("tau", "cut"), [(1.0, "off"), (1.6, "top-p 0.90"), (1.0, "min-p 0.10")])
def test_the_stored_stories_are_what_tiny_tells_and_what_the_judge_says(tau, cut):
    """Fails when tiny or the grammar has changed: python -m notebooks.panels.record_frontier makes the file anew."""
    stored = next(one for one in stored_frontier() if (one.tau, one.cut) == (tau, cut)).stories[:2]
    told = sampled_texts(load_model("tiny"), load_tokenizer("tiny"), tau, cut, 2)
    assert [story.text for story in stored] == told[0]
    assert [(story.character, story.reason) for story in stored] == [
        (verdict.character, verdict.reason) for verdict in map(judge, told[0])
    ]


@pytest.mark.parametrize(("tau", "cut"), [(1.0, "off"), (1.2, "top-p 0.90")])
def test_the_bits_of_a_story_are_its_log_probs_scored_anew(tau, cut):
    model, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    (text,), (bits,) = sampled_texts(model, tokenizer, tau, cut, 1)
    ids = torch.tensor([[*tokenizer.encode(text), tokenizer.eos_id]])
    log_probs, _mask = compute_logprobs(model, ids, torch.ones_like(ids), temperature=tau, **CUTS[cut])
    assert bits == pytest.approx(-log_probs.sum().item() / math.log(2), abs=1e-3)


def test_a_row_counts_verdicts_and_keeps_some_texts():
    texts = [f"No story at all, number {number}." for number in range(2 * GROUP)]
    row = row_of(1.0, "off", texts, [1.0, 3.0] * GROUP)
    assert (row["true"][0], row["grammatical"][0], row["texts"]) == (0.0, 0.0, 2 * GROUP)
    assert [text for text, _character, _reason in row["stories"]] == texts[:KEPT]
    assert row["stories"][0][1] == 0 and row["diversity"][0] == 2.0
