"""What the cache saves: the counters against real runs, and the entries called wrong against another computation."""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree

import pytest
import torch
from legible import assert_legible
from test_panels import MOST_BYTES

from llm_gen import LLaMA, generate_steps, load_tokenizer, token_passes
from notebooks import panels
from notebooks.panels.reuse import labels_of, reuse

PROMPT, EDITED, STEPS = "Once upon a time", "Once upon a house", 7


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer("tiny")


@pytest.fixture(scope="module")
def model(tokenizer):
    torch.manual_seed(1)
    sizes = {"embed_dim": 16, "num_heads": 4, "num_kv_heads": 2, "num_layers": 3, "max_position_embeddings": 64}
    return LLaMA({"vocab_size": tokenizer.vocab_size, "dropout": 0.0, **sizes}).double().eval()


@pytest.fixture(scope="module")
def panel(model, tokenizer):
    made = panels.caching(model, tokenizer, PROMPT, EDITED, STEPS)
    yield made
    made.close()


@pytest.mark.parametrize("use_cache", [True, False])
def test_the_counters_are_those_of_a_real_run(model, tokenizer, use_cache):
    run, ids = reuse(model, tokenizer, PROMPT, STEPS), torch.tensor([tokenizer.encode(PROMPT)])
    steps = list(generate_steps(model, ids, STEPS, do_sample=False, use_cache=use_cache))
    assert [run.fed(step, use_cache) for step in range(1, STEPS + 1)] == [each.tokens_fed for each in steps]
    assert run.fed_so_far(STEPS, use_cache) == token_passes(ids.shape[1], STEPS, use_cache)
    assert [run.kept(step + 1) for step in range(1, STEPS + 1)] == list(range(ids.shape[1], ids.shape[1] + STEPS))
    written = torch.cat([each.tokens for each in steps], dim=1)[0]
    assert [pair[0] for pair in run.chosen] == labels_of(tokenizer, written)
    assert list(run.labels) == labels_of(tokenizer, torch.cat([ids[0], written[:-1]]))


def test_with_the_same_text_nothing_is_wrong_and_nothing_differs(model, tokenizer):
    run = reuse(model, tokenizer, PROMPT, STEPS)
    assert not run.stale.any()
    assert max(run.difference(step) for step in range(1, STEPS + 1)) < 1e-6


def test_a_changed_word_spoils_itself_in_layer_1_and_all_that_follows_deeper(model, tokenizer):
    run = reuse(model, tokenizer, PROMPT, STEPS, EDITED)
    one, other = tokenizer.encode(PROMPT), tokenizer.encode(EDITED)
    changed = next(place for place, pair in enumerate(zip(one, other)) if pair[0] != pair[1])
    expected = torch.zeros_like(run.stale)
    expected[0, changed], expected[1:, changed:] = True, True
    assert torch.equal(run.stale, expected)
    assert run.stale_kept(3) == int(expected[:, : len(one) + 1].sum())
    assert all(run.difference(step) > 1e-3 for step in range(1, STEPS + 1))


def test_the_twin_of_an_edited_text_reads_the_edited_text(model, tokenizer):
    run = reuse(model, tokenizer, PROMPT, STEPS, EDITED)
    with torch.no_grad():
        first = model(torch.tensor([tokenizer.encode(EDITED)]))[0, -1]
    assert torch.equal(run.fresh[0], first)


def test_prompts_of_different_lengths_are_refused(model, tokenizer):
    with pytest.raises(ValueError, match="edited must have the 5 tokens of the prompt, got 6"):
        panels.caching(model, tokenizer, PROMPT, "Once upon a time there")


def test_every_setting_is_drawn_small_well_formed_and_legible(panel):
    for step, text in product(range(1, STEPS + 1), ("same", "edited")):
        summary = panel.set(step=step, text=text)
        markup = panel._picture.value
        assert len(markup.encode()) < MOST_BYTES
        assert ElementTree.fromstring(markup).attrib["aria-label"] == f"{PROMPT}: {summary}"
        assert_legible(panel)


def test_the_summary_says_what_is_fed_and_what_is_wrong(panel):
    start = "step 3 of 7: 1 fed with the cache, 7 without; so far 7 and 18; "
    assert panel.set(step=3, text="same") == start + "difference 0.000000"
    assert panel.set(text="edited").startswith(start + "5 of 18 reused entries wrong; difference ")
    assert panel.set(step=1).startswith("step 1 of 7: 5 fed with the cache, 5 without; so far 5 and 5; 0 of 0 reused")


def test_a_context_that_is_too_short_is_refused(model, tokenizer):
    with pytest.raises(ValueError, match="max_seq_len 64"):
        panels.caching(model, tokenizer, PROMPT, EDITED, new_tokens=70)


def test_the_saved_picture_is_small(panel):
    assert len(panel._repr_mimebundle_()[0]["image/png"]) < 40_000
