"""Memory and the price of a token: published sizes, the formula against a real cache, and who waits for whom."""

from __future__ import annotations

import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from legible import assert_legible
from test_panels import MOST_BYTES, anywhere

from llm_gen import LLaMA
from notebooks import panels
from notebooks.panels.costs import DTYPES, MACHINES, MODELS, Cost, Machine
from notebooks.panels.memory_price import amount, duration

# As the models' authors count them.
PUBLISHED = {
    "SmolLM2 135M": 134_515_008,
    "Gemma 2B": 2_506_172_416,
    "LLaMA 7B": 6_738_415_616,
    "Mistral 7B": 7_241_732_096,
    "Llama 3 8B": 8_030_261_248,
    "Llama 3 70B": 70_553_706_496,
}


@pytest.fixture(scope="module")
def panel():
    made = panels.memory_price(here=Machine(1e9, 1e11))
    yield made
    made.close()


@pytest.mark.parametrize("name", MODELS)
def test_the_weights_are_as_many_as_published(name):
    assert MODELS[name].weights == PUBLISHED[name]


def test_the_weights_are_those_of_a_model_of_the_package():
    sizes = MODELS["SmolLM2 135M"]
    for layers, kv_heads, tied in ((2, 3, True), (1, 9, False)):
        changed = replace(sizes, layers=layers, kv_heads=kv_heads, tied=tied)
        with torch.device("meta"):
            model = LLaMA(config_of(changed))
        assert changed.weights == sum(each.numel() for each in model.parameters())


def config_of(sizes) -> dict:
    return {
        "vocab_size": sizes.vocab_size,
        "embed_dim": sizes.width,
        "num_heads": sizes.heads,
        "num_layers": sizes.layers,
        "max_position_embeddings": 64,
        "dropout": 0.0,
        "num_kv_heads": sizes.kv_heads,
        "head_size": sizes.head_size,
        "mlp_dim": sizes.mlp_width,
        "tie_embeddings": sizes.tied,
    }


@settings(max_examples=100)
@given(
    name=st.sampled_from(sorted(MODELS)),
    tokens=st.integers(1, 3000),
    rows=st.integers(1, 40),
    dtype=st.sampled_from(sorted(DTYPES)),
)
def test_a_real_cache_takes_what_the_formula_says_in_whole_blocks(name, tokens, rows, dtype):
    cost = Cost(MODELS[name], tokens, rows, dtype, MACHINES["laptop"])
    blocks = replace(cost, tokens=-(-tokens // 64) * 64)
    assert cost.cache_bytes() <= cost.allocated == blocks.cache_bytes()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"model": "Mistral 7B"}, 536_870_912),
        ({"model": "Gemma 2B"}, 75_497_472),
        ({"model": "LLaMA 7B"}, 2_147_483_648),
        ({"model": "LLaMA 7B", "rows": 8}, 17_179_869_184),
    ],
)
def test_the_worked_caches_stand_in_the_picture(panel, setting, expected):
    panel.reset()
    summary = panel.set(**setting)
    assert summary.startswith(f"cache {amount(expected)}, allocated {amount(expected)}; ")
    assert f"{expected:,}" in panel._picture.value


def test_a_model_sets_its_sizes_and_they_may_then_be_changed(panel):
    panel.reset()
    panel.set(model="Llama 3 70B")
    assert [panel.values[name] for name in ("layers", "kv_heads", "head_size")] == [80, 8, 128]
    panel.set(kv_heads=64)
    assert panel.summary.startswith("cache 10.0 GiB, ")
    panel.controls["model"].value = "Gemma 2B"
    assert [panel.values[name] for name in ("layers", "kv_heads", "head_size")] == [18, 1, 256]
    assert panel.error is None
    panel.reset()
    assert [panel.values[name] for name in ("model", "layers", "kv_heads")] == ["Mistral 7B", 32, 8]


def test_a_step_takes_the_slower_of_reading_and_computing():
    sizes = replace(MODELS["LLaMA 7B"], layers=1)
    for reads, computes in ((1e9, 1e15), (1e15, 1e9)):
        cost = Cost(sizes, 64, 4, "float16", Machine(reads, computes))
        read = (2 * sizes.weights + 2 * 32 * 128 * 64 * 2 * 4) / reads
        computed = 4 * (2 * sizes.weights + 4 * 32 * 128 * 64) / computes
        assert cost.step_seconds == pytest.approx(max(read, computed))
        assert cost.memory_bound == (read > computed)


def test_more_rows_share_the_weights_until_arithmetic_is_the_slower_part(panel):
    panel.reset()
    panel.set(tokens=64)
    said = [panel.set(rows=rows) for rows in (1, 16, 256)]
    assert [each.rsplit(", ", 1)[1] for each in said] == ["memory-bound", "memory-bound", "compute-bound"]
    paces = [int(each.split(" tokens/s")[0].rsplit(" ", 1)[1].replace(",", "")) for each in said]
    assert 15 * paces[0] < paces[1] <= 16 * paces[0] and paces[2] < 16 * paces[1]


def test_how_many_rows_fit(panel):
    panel.reset()
    assert "; they fit; " in panel.set(model="LLaMA 7B", rows=30)
    assert "; they do NOT fit; " in panel.set(rows=31)
    cost = Cost(MODELS["LLaMA 7B"], 4096, 31, "float16", MACHINES["A100 80 GB"])
    assert cost.weight_bytes + 30 * 2**31 < 80e9 < cost.weight_bytes + 31 * 2**31


def test_bytes_of_half_the_size_halve_a_step_that_waits_for_memory():
    half = Cost(MODELS["Mistral 7B"], 4096, 1, "int8", MACHINES["A100 80 GB"])
    whole = replace(half, dtype="float16")
    assert half.memory_bound and half.step_seconds == pytest.approx(whole.step_seconds / 2)


@settings(max_examples=100)
@given(st.data())
def test_every_setting_is_drawn_small_well_formed_and_legible(panel, data):
    setting = data.draw(anywhere(panel))
    summary = panel.set(**{"model": setting.pop("model"), **setting})
    markup = panel._picture.value
    assert len(markup.encode()) < MOST_BYTES
    label = ElementTree.fromstring(markup).attrib["aria-label"]
    assert label == f"{setting_of(panel)}: {summary}"
    assert_legible(panel)


def setting_of(panel) -> str:
    return f"{panel.values['model']}, {panel.values['machine']}"


def test_the_reader_s_own_machine_can_be_chosen(panel):
    panel.reset()
    said = panel.set(machine="this computer")
    assert "; weights 13.5 GiB; they fit; step 15.0 s, " in said
    with pytest.raises(ValueError, match=r"machine must be one of laptop, RTX 4090, .*, this computer, got 'abacus'"):
        panel.set(machine="abacus")


def test_the_reader_s_own_machine_is_measured_when_it_is_chosen(monkeypatch):
    asked = []
    module = sys.modules[amount.__module__]  # the package has a function of the module's name
    monkeypatch.setattr(module, "this_computer", lambda: asked.append(1) or Machine(2e9, 1e11))
    panel = panels.memory_price()
    panel.set(machine="laptop")
    assert not asked
    assert "; step 7.51 s, " in panel.set(machine="this computer")
    assert asked
    panel.close()


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0.0 B"), (1023, "1023.0 B"), (1024, "1.0 KiB"), (2**31, "2.0 GiB"), (2**60, "1024.0 PiB")]
)
def test_amounts_in_words(count, words):
    assert amount(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0071, "7.10 ms"), (1.5e-5, "0.0150 ms"), (0.123456, "123 ms"), (12.34, "12.3 s"), (4321, "4321 s")],
)
def test_durations_have_three_digits_that_count(seconds, words):
    assert duration(seconds) == words


def test_what_a_machine_does_is_measured_by_a_real_model():
    torch.manual_seed(0)
    model = LLaMA(config_of(replace(MODELS["SmolLM2 135M"], layers=1, vocab_size=16, width=64, mlp_width=32))).eval()
    assert panels.weight_bytes(model) == 4 * sum(each.numel() for each in model.parameters())
    small = panels.random_model(1, width=64)
    assert small.config.num_layers == 1 and small.embed.weight.dtype == torch.float32
    with torch.no_grad():
        assert small(torch.tensor([[1, 2]])).isfinite().all()
    machine = panels.measure_machine(model, tokens=16)
    assert machine.bytes_per_second > 0 and machine.operations_per_second > 0 and machine.memory is None
    assert panels.seconds_per_pass(model, tokens=2) > 0


def test_the_saved_picture_is_small(panel):
    assert len(panel._repr_mimebundle_()[0]["image/png"]) < 40_000
