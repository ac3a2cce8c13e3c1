"""The panels without a browser: every control in every place, against numbers computed another way."""

from __future__ import annotations

import inspect
import math
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_gen.sampling import filter_logits
from notebooks import panels
from notebooks.panels import reshaping
from notebooks.panels.context import entropy_bits
from notebooks.panels.reshaping import reshaped, tally
from notebooks.panels.scene import Text
from notebooks.panels.stairs import find_nucleus
from notebooks.panels.sweep import sweep

FOUR = panels.Context.from_probs("four", {"cat": 0.5, "dog": 0.3, "horse": 0.15, "axolotl": 0.05})
TIES = panels.Context("ties", "One of", [1.0, 1.0, 0.0, -math.inf, 1.0])
ONE = panels.Context("one", "", [3.0])
WIDE = panels.Context("wide", "a\nb", torch.linspace(5, -5, 200), [f"token{i}" for i in range(200)])
SMALL = (FOUR, TIES, ONE, WIDE)
# Every panel that shows contexts.
PANELS = {
    name: getattr(panels, name)
    for name in panels.__all__
    if callable(getattr(panels, name)) and "contexts" in inspect.signature(getattr(panels, name)).parameters
}
MOST_BYTES = 30_000

taus = st.integers(2, 60).map(lambda step: round(0.05 * step, 2))
shares = st.integers(1, 100).map(lambda hundredths: hundredths / 100)


@pytest.fixture(scope="module", params=PANELS)
def panel(request):
    made = PANELS[request.param](*SMALL)
    yield made
    made.close()


@pytest.fixture(scope="module")
def reshape():
    made = panels.reshape(*SMALL)
    yield made
    made.close()


def anywhere(panel):
    """A setting of a panel: any stop of each of its controls."""
    places = {
        name: st.sampled_from([value for _label, value in control.options])
        for name, control in panel.controls.items()
        if hasattr(control, "options")
    }
    if "draws" in panel.controls:
        places["draws"] = st.sampled_from([0, 1, 2, 100, 1000])
    return st.fixed_dictionaries(places)


@settings(max_examples=150)
@given(st.data())
def test_every_setting_can_be_drawn_small_and_well_formed(panel, data):
    setting = data.draw(anywhere(panel))
    summary = panel.set(**setting)
    markup = panel._picture.value
    assert len(markup.encode()) < MOST_BYTES
    root = ElementTree.fromstring(markup)
    assert root.attrib["aria-label"].endswith(summary)
    assert "nan" not in markup
    assert "-0.0" not in summary
    assert "nan" not in summary
    for rect in root.iter("rect"):
        assert float(rect.attrib["width"]) >= 0
        assert float(rect.attrib["height"]) >= 0


@settings(max_examples=50)
@given(st.data())
def test_words_neither_overlap_nor_leave_the_picture(panel, data):
    setting = data.draw(anywhere(panel))
    panel.set(**setting)
    scene, _summary = panel._draw(**panel.values)
    boxes = [box(mark) for mark in scene.marks if isinstance(mark, Text) and mark.text and not mark.turn]
    for left, top, right, bottom, text in boxes:
        assert left >= -10, text
        assert right <= scene.width + 10, text
        assert top >= 0, text
        assert bottom <= scene.height + 10, text
    for i, (left, top, right, bottom, text) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom, other in boxes[:i]:
            apart = right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top
            assert apart, f"{text!r} and {other!r} overlap at {setting}"


def box(mark: Text) -> tuple[float, float, float, float, str]:
    """Roughly where a level text is, with letters of a usual width: left, top, right, bottom, text."""
    width = len(mark.text) * mark.size * (0.6 if mark.mono else 0.5)
    left = mark.x - width * {"start": 0, "middle": 0.5, "end": 1}[mark.anchor]
    return left, mark.y - 0.7 * mark.size, left + width, mark.y, mark.text


@pytest.mark.parametrize("make", PANELS.values(), ids=PANELS)
def test_the_stored_contexts_work_in_every_panel(make):
    panel = make()
    for _title, name in panel.controls["context"].options:
        summary = panel.set(context=name, tau=1.35)
        assert summary.startswith(f"{name}, ")
        assert len(panel._picture.value.encode()) < MOST_BYTES
    panel.close()


@settings(max_examples=600)
@given(
    tau=st.one_of(st.just("greedy"), taus),
    k=st.integers(0, 20),
    p=shares,
    context=st.sampled_from(SMALL),
)
def test_the_summary_agrees_with_another_computation(reshape, tau, k, p, context):
    k = min(k, 200)
    summary = reshape.set(tau=tau, k=k, p=p, context=context.name)
    kept, top, bits, surely = expected(context, tau, k, p)
    if surely:
        tokens = "1 token" if kept == 1 else f"{kept} tokens"
        start = "greedy" if tau == "greedy" else f"tau={tau:.2f} k={k or 'off'} p={p:.2f}"
        assert summary.startswith(f"{context.name}, {start}: {tokens}, top ")
        assert float(summary.split("top ")[1].split("%")[0]) == pytest.approx(100 * top, abs=0.0501)
        assert float(summary.split("entropy ")[1].split(" ")[0]) == pytest.approx(bits, abs=0.00501)


def expected(context, tau, k, p) -> tuple[int, float, float, bool]:
    """Kept tokens, top share, bits, and whether the threshold is far enough from a border to be sure."""
    logits = context.logits.double().tolist()
    heat = 1.0 if tau == "greedy" else tau
    weights = sorted((math.exp((logit - max(logits)) / heat) for logit in logits), reverse=True)
    weights = [weight for weight in weights if weight > 0][: {"greedy": 1}.get(tau, k or None)]
    kept, before, surely = 0, 0.0, True
    for weight in weights:
        if tau != "greedy" and p < 1:
            surely = surely and abs(before - p) > 1e-6
            if before >= p:
                break
        kept, before = kept + 1, before + weight / sum(weights)
    left = [weight / sum(weights[:kept]) for weight in weights[:kept]]
    return kept, left[0], -sum(share * math.log2(share) for share in left), surely


@settings(max_examples=150)
@given(
    logits=st.lists(st.one_of(st.integers(-3, 3), st.just(-math.inf)), min_size=1, max_size=40),
    tau=taus,
    k=st.integers(0, 12),
    p=shares,
)
def test_ranked_logits_keep_the_tokens_that_the_row_itself_keeps(logits, tau, k, p):
    row = torch.tensor([0.0, *logits], dtype=torch.float64)
    context = panels.Context("row", "", row)
    kept = filter_logits(row[None], tau, k or None, p)[0] > -torch.inf
    shape = reshaped(context, tau, k, p)
    assert sorted(context.order[: shape.kept].tolist()) == kept.nonzero().flatten().tolist()
    assert shape.thrown_away == pytest.approx(1 - float(shape.heated[: shape.kept].sum()), abs=1e-12)
    assert float(shape.sampled.sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("setting", "cause"),
    [
        ({}, None),
        ({"k": 2}, "top-k = 2"),
        ({"p": 0.6}, "top-p = 0.60"),
        ({"k": 2, "p": 0.9}, "top-k = 2"),
        ({"k": 3, "p": 0.6}, "top-p = 0.60"),
        ({"k": 4}, None),
        ({"tau": "greedy"}, "greedy"),
        ({"p": 0.685}, "top-p = 0.685"),
    ],
)
def test_the_cut_names_its_cause(setting, cause):
    assert reshaped(FOUR, **setting).cause == cause


def test_the_words_of_a_setting_come_from_the_catalog(monkeypatch):
    monkeypatch.setattr(reshaping, "_", {"greedy": "gierig", "off": "aus"}.get)
    assert reshaping.setting("greedy", 0, 1.0) == reshaped(FOUR, "greedy").cause == "gierig"
    assert reshaping.setting(1.0, 0, 0.9) == "tau=1.00 k=aus p=0.90"


def test_small_shares_under_narrow_bars_leave_room_between_them():
    panel = panels.reshape(panels.stored_contexts()["night"])
    scene, _summary = panel._draw(**panel.values)
    small = [mark for mark in scene.marks if isinstance(mark, Text) and mark.text == "<0.1"]
    assert len(small) > 10
    # As wide as in the widest of usual fonts: three letters of 0.64 and a sign of 0.84.
    width = small[0].size * (0.84 + 2 * 0.64 + 0.32)
    assert all(other.x - one.x > width for one, other in pairwise(small))
    panel.close()


def test_draws_follow_the_distribution_and_are_never_rolled_again(reshape):
    reshape.reset()
    first = reshape.set(context="four", draws=1000)
    reshape.set(tau=2.0, p=0.6)
    assert reshape.set(tau=1.0, p=1.0) == first
    counts = dict(zip(("cat", "dog", "horse"), (500, 300, 150)))
    shown = dict(pair.rsplit(" ", 1) for pair in first.split("drawn: ")[1].split(", "))
    for token, mean in counts.items():
        # Five standard deviations: with these fixed uniforms it either holds or it does not.
        assert abs(int(shown[token]) - mean) < 5 * math.sqrt(mean * (1 - mean / 1000))


def test_a_tally_is_the_inverse_of_the_distribution_function():
    sampled = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)
    found = tally(sampled, torch.tensor([0.0, 0.49, 0.5, 0.79, 0.81, 1 - 2**-53], dtype=torch.float64))
    assert found.hits.tolist() == [2, 2, 2, 0]
    assert found.last == 2


@pytest.mark.parametrize(
    ("p", "kept", "wrong"), [(0.3, 1, 0), (0.7, 2, 1), (0.8, 2, 2), (0.9, 3, 2), (1.0, 4, 4)]
)
def test_the_nucleus_beside_the_wrong_rule(p, kept, wrong):
    found = find_nucleus(FOUR, 1.0, p)
    assert (found.kept, found.wrong) == (kept, wrong)
    assert float(found.before[found.crossing]) < p <= float(found.after[found.crossing]) + 1e-12


@settings(max_examples=80)
@given(context=st.sampled_from(SMALL), p=shares, hotter=st.lists(taus, min_size=1, max_size=6))
def test_the_map_counts_the_nucleus_as_the_filters_do(context, p, hotter):
    table = sweep(context, tuple(hotter), shown=3)
    if p < 1:
        assert table.nucleus_sizes(p) == [reshaped(context, tau, p=p).kept for tau in hotter]
    assert table.bits == tuple(entropy_bits(reshaped(context, tau).heated) for tau in hotter)


def test_the_worked_examples_of_the_order():
    rising = panels.Context.from_probs("rising", [0.1, 0.2, 0.3, 0.4])
    panel = panels.filter_order(rising, order="top-k, top-p", k=2, p=0.5)
    assert panel.summary == "top-k 2, then top-p 0.50: 1 token, top 100.0%; the other way 2 tokens, top 57.1%"
    panel.close()
    panel = panels.filter_order(FOUR, order="temperature, top-p", tau=0.5, p=0.6)
    assert panel.summary.startswith("temperature 0.50, then top-p 0.60: 1 token, top 100.0%; the other way 2")
    for order in ("temperature, top-k", "top-k, temperature"):
        this, other = panel.set(order=order).split(": ")[1].split("; the other way ")
        assert this == other
    panel.close()


@pytest.fixture(scope="module")
def dart():
    made = panels.dart(FOUR, TIES, WIDE)
    yield made
    made.close()


@settings(max_examples=100)
@given(u=st.integers(0, 99), tau=taus, context=st.sampled_from([FOUR, TIES, WIDE]))
def test_the_dart_hits_the_piece_that_holds_it_and_flips_where_it_says(dart, u, tau, context):
    summary = dart.set(u=u / 100, tau=tau, context=context.name)
    start, end = map(float, summary.split("piece ")[1].split(",")[0].split(" to "))
    assert start - 0.0005 <= u / 100 <= end + 0.0005
    hit = summary.split("hits ")[1].split(",")[0]
    if "from tau=" in summary:
        flip = float(summary.split("from tau=")[1])
        assert flip >= tau - 0.005
        assert f"hits {hit}," in dart.set(tau=max(tau, flip - 0.02))
        assert f"hits {hit}," not in dart.set(tau=min(flip + 0.02, 3)) or flip > 2.98


def test_contexts_are_checked_where_they_are_made():
    with pytest.raises(ValueError, match="labels must name each of the 2 tokens, got 1"):
        panels.Context("x", "", [1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match=r"probs must be >= 0 and sum to 1, got \[0.5, 0.6\]"):
        panels.Context.from_probs("x", [0.5, 0.6])
    with pytest.raises(ValueError, match="NaN"):
        panels.Context("x", "", [math.nan, 0.0])
    with pytest.raises(TypeError, match="contexts must be Context objects, got str"):
        panels.reshape("night")
    with pytest.raises(ValueError, match="contexts must have different names"):
        panels.reshape(FOUR, FOUR)


def test_stored_contexts_go_from_sure_to_unsure_and_need_no_download():
    stored = panels.stored_contexts()
    assert 6 <= len(stored) <= 8
    bits = [entropy_bits(context.own) for context in stored.values()]
    assert bits == sorted(bits)
    assert {context.mood for context in stored.values()} == {"sure", "in between", "unsure"}
    for context in stored.values():
        assert context.logits.dtype == torch.float32
        assert len(context.labels) == len(context.logits) == 49_152
        assert all(label.isprintable() for label in context.labels)
    size = sum(path.stat().st_size for path in panels.context.DATA.iterdir())
    assert size < 2_500_000


@pytest.mark.slow
@pytest.mark.needs("smollm2")
def test_the_stored_contexts_are_what_the_model_says():
    from llm_gen.weights import load_tokenizer
    from notebooks.panels import record_contexts

    fresh, stored = record_contexts.next_token_logits(), panels.stored_contexts()
    assert fresh.keys() == stored.keys()
    for name, logits in fresh.items():
        assert stored[name].prompt == record_contexts.PROMPTS[name]
        np.testing.assert_allclose(stored[name].logits, logits, atol=1e-2)
    packed = record_contexts.packed_tokens(load_tokenizer("smollm2"), 49_152)
    assert packed == panels.context.TOKENS_FILE.read_bytes()
