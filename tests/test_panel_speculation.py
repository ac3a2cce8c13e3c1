"""The panel of speculation: what it says of a run is what the run says, and the curve is that of the formula."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest
import torch
from legible import assert_legible

from llm_gen import generate
from llm_gen.beyond import speculative_generate
from notebooks import panels
from notebooks.panels.drafting import MOST, SETTINGS, draft_all, speed_up
from notebooks.panels.read_once import ReadOnce

LETTERS = "abcdefgh."
PROMPTS = ("ab", "hh")


class Letters:
    """A tokenizer of single letters."""

    eos_id = None

    def encode(self, text: str) -> list[int]:
        return [LETTERS.index(letter) for letter in text]

    def token_bytes(self, token: int) -> bytes:
        return LETTERS[token].encode()


class LastLetter:
    """What follows depends on the last letter; `noise` makes a draft that agrees now and then."""

    vocab_size, max_seq_len = len(LETTERS), 99

    def __init__(self, noise: float = 0.0) -> None:
        generator = torch.Generator().manual_seed(1)
        table = torch.randn(2, 9, 9, generator=generator).double()
        self.table, self.passes = 2 * table[0] + noise * table[1], 0

    def make_cache(self, batch_size: int) -> None:
        return None

    def __call__(self, ids, attention_mask=None, cache=None):
        self.passes += 1
        return self.table[ids]


TARGET, DRAFT = LastLetter(), LastLetter(noise=1.5)


@pytest.fixture(scope="module")
def panel():
    made = panels.speculation(TARGET, DRAFT, Letters(), *PROMPTS, tokens=30)
    yield made
    made.close()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("guesses", [1, 3, 8])
def test_the_summary_is_that_of_a_run_made_here(panel, setting, guesses):
    x = torch.tensor([[0, 1]])
    dice = torch.Generator().manual_seed(0)
    run = speculative_generate(TARGET, DRAFT, x, 30, guesses=guesses, generator=dice, **SETTINGS[setting])
    summary = panel.set(setting=setting, guesses=guesses, cost=0.25)
    assert summary.startswith(
        f"{setting} guesses={guesses} cost=0.25: {run.target_passes} passes for 30 tokens, "
        f"{30 / run.target_passes:.2f} a pass"
    )
    speed = 30 / run.target_passes / (1 + 0.25 * guesses)
    assert summary.endswith(f"; {speed:.2f} times as fast")


def test_the_curve_is_the_formula_at_the_rate_of_all_runs():
    found = draft_all(TARGET, DRAFT, (0, 1), "greedy", 30, None)
    judged = sum(min(each.accepted + 1, len(each.guessed)) for run in found.runs for each in run.rounds)
    rate = sum(each.accepted for run in found.runs for each in run.rounds) / judged
    assert 0.1 < rate < 0.9
    for guesses in range(1, MOST + 1):
        assert found.expected(guesses) == pytest.approx((1 - rate ** (guesses + 1)) / (1 - rate))
        assert (
            found.runs[guesses - 1].sequences.tolist() == generate(TARGET, torch.tensor([[0, 1]]), 30, False).tolist()
        )


def test_a_free_draft_is_as_fast_as_its_tokens_and_a_dear_one_slower():
    assert speed_up(3.0, 4, 0.0) == 3.0
    assert speed_up(3.0, 4, 0.5) == 1.0
    assert speed_up(1.0, 8, 1.0) < 1


def test_a_model_that_is_asked_again_is_not_read_again():
    model = LastLetter()
    once = ReadOnce(model)
    ids = torch.tensor([[0, 1, 2], [0, 1, 3]])
    assert torch.equal(once(ids), model.table[ids])
    assert torch.equal(once(ids[:, :2]), model.table[ids[:, :2]])
    assert torch.equal(once(ids.flip(0)), model.table[ids.flip(0)])
    assert model.passes == 1


def test_sliders_only_look_up(panel):
    panel.reset()
    before = TARGET.passes, DRAFT.passes
    for guesses, cost in itertools.product(range(1, MOST + 1), (0.0, 0.5, 1.0)):
        panel.set(guesses=guesses, cost=cost)
    assert (TARGET.passes, DRAFT.passes) == before


def test_every_setting_is_drawn_small_well_formed_and_legible(panel):
    for setting, guesses, prompt in itertools.product(SETTINGS, range(1, MOST + 1), PROMPTS):
        summary = panel.set(setting=setting, guesses=guesses, prompt=prompt)
        root = ElementTree.fromstring(panel._picture.value)
        assert root.attrib["aria-label"].endswith(summary)
        assert len(panel._picture.value.encode()) < 30_000
        assert_legible(panel)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"guesses": 0}, "guesses must lie in [1, 8], got 0"),
        ({"cost": 1.5}, "cost must lie in [0, 1], got 1.5"),
        ({"setting": "hot"}, "setting must be one of greedy, tau=1.00, tau=1.00 p=0.90, got 'hot'"),
    ],
)
def test_a_wrong_value_is_named(panel, change, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        panel.set(**change)


def test_what_is_saved_is_small_and_says_where_the_sliders_are(panel):
    panel.reset()
    bundle, _metadata = panel._repr_mimebundle_()
    assert bundle["text/plain"] == f"[interactive panel] {panel.summary}"
    assert bundle["text/plain"].startswith("[interactive panel] greedy guesses=4 cost=0.20: ")
    assert len(bundle["image/png"]) < 40_000
