"""Masks and windows: each map against the rule written out, and the stale entries against another computation."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from legible import assert_legible
from test_panels import MOST_BYTES, anywhere

from llm_gen import GPT2, LLaMA, load_tokenizer
from notebooks import panels
from notebooks.panels.staleness import PARTS, Staleness
from notebooks.panels.windows import PAST, mask_of

TEXT = "Once upon a time there was a kind mouse who lived near the old river."
CONTEXT = 8
SIZES = {"embed_dim": 16, "num_heads": 4, "num_layers": 3, "max_position_embeddings": 32, "dropout": 0.0}


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer("tiny")


@pytest.fixture(scope="module")
def models(tokenizer):
    torch.manual_seed(2)
    rotary = LLaMA({"vocab_size": tokenizer.vocab_size, "num_kv_heads": 2, **SIZES}).double().eval()
    learned = GPT2({"vocab_size": tokenizer.vocab_size, **SIZES}).double().eval()
    return {"rotary": rotary, "learned": learned}


@pytest.fixture(scope="module")
def panel(models, tokenizer):
    made = panels.windows(models, tokenizer, TEXT, CONTEXT)
    yield made
    made.close()


@settings(max_examples=200)
@given(past=st.integers(0, PAST), padding=st.integers(0, PAST), window=st.integers(1, CONTEXT))
def test_the_map_is_the_rule_written_out(past, padding, window):
    visible = mask_of(CONTEXT, past, padding, window)
    for query in range(CONTEXT + past):
        for key in range(CONTEXT + past):
            inside = past <= key <= query and query >= past
            sees = inside and key > query - window and (key >= padding or key == query)
            assert bool(visible[query, key]) == sees, (query, key)


def read(model, ids, part):
    """Keys or values of each layer, (L, T, G, d), caught on their way into the cache."""
    caught = []
    hooks = [
        block.attn.qkv.register_forward_hook(lambda _module, _inputs, output: caught.append(output[0]))
        for block in model.blocks
    ]
    with torch.no_grad():
        model(ids)
    for hook in hooks:
        hook.remove()
    groups, size = model.config.num_kv_heads, model.config.head_size
    split = [model.config.num_heads * size, groups * size, groups * size]
    return torch.stack([row.split(split, dim=-1)[1 if part == "keys" else 2] for row in caught])


@pytest.mark.parametrize("name", ["rotary", "learned"])
@pytest.mark.parametrize("past", [0, 1, 5])
def test_the_gaps_are_those_of_keys_and_values_before_any_turning(models, name, past):
    """Keys before they are turned differ by as much as turned keys that are turned back: lengths stay."""
    ids = torch.arange(3, 3 + CONTEXT + past)
    staleness = Staleness(models[name], ids.tolist())
    for part, raw in (("values", "values"), ("keys turned back", "keys")):
        old, fresh = read(models[name], ids[None], raw)[:, past:], read(models[name], ids[None, past:], raw)
        expected = (old - fresh).norm(dim=-1) / fresh.norm(dim=-1)
        torch.testing.assert_close(staleness.gaps(CONTEXT, past, part), expected, atol=1e-4, rtol=1e-3)


def test_what_remains_right_depends_on_the_positions(models):
    ids = list(range(3, 3 + CONTEXT + 4))
    rotary, learned = (Staleness(models[name], ids) for name in ("rotary", "learned"))
    right = {
        (kind, part): [bool((gaps == 0).all()) for gaps in each.gaps(CONTEXT, 4, part)]
        for kind, each in (("rotary", rotary), ("learned", learned))
        for part in PARTS
    }
    assert right["rotary", "values"] == right["rotary", "keys turned back"] == [True, False, False]
    assert right["rotary", "keys"] == [False, False, False]
    assert {tuple(right["learned", part]) for part in PARTS} == {(False, False, False)}
    assert not any(each.gaps(CONTEXT, 0, part).any() for each in (rotary, learned) for part in PARTS)


def test_the_summary_names_what_is_seen_and_what_is_off(panel):
    panel.reset()
    said = panel.set(past=0)
    assert said == "0 past the context: the last token sees 8 of 8; values off by 0.0%, 0.0%, 0.0% (layer by layer)"
    said = panel.set(past=4, window=3)
    assert said.startswith("4 past the context: the last token sees 3 of 12; values off by 0.0%, ")
    assert "Layer 1 is still right." in panel._picture.value
    panel.set(part="keys")
    assert "Wrong from layer 1 on:" in panel._picture.value
    panel.set(part="keys turned back")
    assert "Layer 1 is still right." in panel._picture.value
    panel.set(model="learned")
    assert "Wrong from layer 1 on:" in panel._picture.value
    panel.set(past=0)
    assert "Nothing has fallen out" in panel._picture.value


@settings(max_examples=100)
@given(st.data())
def test_every_setting_is_drawn_small_well_formed_and_legible(panel, data):
    summary = panel.set(**data.draw(anywhere(panel)))
    markup = panel._picture.value
    assert len(markup.encode()) < MOST_BYTES
    root = ElementTree.fromstring(markup)
    assert root.attrib["aria-label"] == f"{panel.values['model']}: {summary}"
    assert all(float(rect.attrib["width"]) >= 0 for rect in root.iter("rect"))
    assert "nan" not in markup
    assert_legible(panel)


def test_a_text_that_is_too_short_is_refused(models, tokenizer):
    with pytest.raises(ValueError, match=r"text must have at least context \+ 6 = 18 tokens, got 3"):
        panels.windows(models, tokenizer, "Once upon")


def test_the_saved_picture_is_small(panel):
    assert len(panel._repr_mimebundle_()[0]["image/png"]) < 40_000
