"""The panel that steps through generation, on a model of nine letters that can be followed by hand."""

from __future__ import annotations

import math
import random
import re
from xml.etree import ElementTree

import pytest
import torch

from notebooks import panels
from notebooks.panels.scene import Text
from notebooks.panels.stepping import SETTINGS

LETTERS = "abcdefgh."
END = LETTERS.index(".")
# What follows depends on the last letter alone; no two logits of a row are equal, and the end is never likely.
TABLE = torch.tensor([[((3 * last + 5 * token) % 11) / 4 - token / 50 for token in range(9)] for last in range(9)])
TABLE[:, END] -= 2
PROMPTS = ("ab", "hh")


class Letters:
    """A tokenizer of single letters."""

    eos_id = END

    def encode(self, text: str) -> list[int]:
        return [LETTERS.index(letter) for letter in text]

    def decode(self, ids, show_control: bool = False) -> str:
        return "".join(LETTERS[i] for i in ids)

    def token_bytes(self, token: int) -> bytes:
        return LETTERS[token].encode()


class LastLetter:
    """The model of TABLE; it counts the texts that it reads."""

    vocab_size = len(LETTERS)

    def __init__(self) -> None:
        self.read: list[tuple[int, ...]] = []

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        self.read += [tuple(row) for row in ids.tolist()]
        return TABLE[ids]


@pytest.fixture
def model():
    return LastLetter()


@pytest.fixture
def panel(model):
    made = panels.stepping(model, Letters(), *PROMPTS, steps=8)
    yield made
    made.close()


def shares(last: int, tau: float = 1.0, p: float = 1.0) -> list[tuple[int, float]]:
    """(token, probability) under a setting, likeliest first, in plain Python."""
    weights = sorted(((math.exp(z / tau), i) for i, z in enumerate(TABLE[last].tolist())), reverse=True)
    total, before, kept = sum(weight for weight, _i in weights), 0.0, []
    for weight, i in weights:
        if before < p:
            kept.append((i, weight / total))
        before += weight / total
    mass = sum(share for _i, share in kept)
    return [(i, share / mass) for i, share in kept]


def by_hand(prompt: str, setting: str, seed: int, steps: int = 8, taken: tuple[int, int] | None = None) -> str:
    """The text that a setting writes: one dart of the seed at each step."""
    dice, text = random.Random(seed), prompt
    for step in range(1, steps + 1):
        dart, last = dice.random(), LETTERS.index(text[-1])
        ranked = shares(last) if setting == "greedy" else shares(last, **SETTINGS[setting])
        ends = [sum(share for _i, share in ranked[: n + 1]) for n in range(len(ranked))]
        rank = 0 if setting == "greedy" else next(n for n, end in enumerate(ends) if dart < end)
        text += LETTERS[shares(last)[taken[1] - 1 if taken and taken[0] == step else rank][0]]
        if text[-1] == ".":
            break
    return text[len(prompt) :]


def written(panel) -> str:
    """What the panel says at each step, letter by letter."""
    count = int(re.search(r"of (\d+)", panel.set(step=0))[1])
    return "".join(panel.set(step=step).split(": ")[1][0] for step in range(1, count + 1))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", [0, 3, 7])
def test_a_run_is_the_one_that_a_plain_loop_writes(panel, setting, seed):
    for prompt in PROMPTS:
        panel.set(setting=setting, seed=str(seed), prompt=prompt)
        assert written(panel) == by_hand(prompt, setting, seed)


@pytest.mark.parametrize("other", SETTINGS)
def test_two_runs_from_one_seed_part_where_their_texts_do(panel, other):
    for seed in range(10):
        one, two = by_hand("ab", "tau=1.00", seed), by_hand("ab", other, seed)
        pairs = zip(one.ljust(9), two.ljust(9))
        where = next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), None)
        summary = panel.set(other=other, seed=str(seed))
        expected = "the same text" if where is None else f"parts from {other} at step {where}"
        assert summary.endswith(f"; {expected}")


def test_the_surprise_is_that_of_the_models_own_distribution(panel):
    panel.set(setting="tau=2.00")
    text = by_hand("ab", "tau=2.00", 0)
    total = 0.0
    for step, (last, letter) in enumerate(zip("b" + text, text), start=1):
        p = dict(shares(LETTERS.index(last)))[LETTERS.index(letter)]
        total -= math.log2(p)
        summary = panel.set(step=step)
        assert summary.startswith(f"step {step} of {len(text)}: {letter} {p:.1%}, {-math.log2(p):.1f} bits")
        assert f"text {total:.1f} bits" in summary


def test_the_buttons_go_one_step_and_stop_at_both_ends(panel):
    _slider, back, forward = panel.controls["step"].children
    assert (back.description, forward.description) == ("Back", "Forward")
    back.click()
    assert panel.values["step"] == 0
    for step in range(1, 11):
        forward.click()
        assert panel.values["step"] == min(step, 8)
        assert panel.controls["step"].slider.value == panel.values["step"]
    back.click()
    assert panel.summary.startswith("step 7 of 8: ")


def test_the_slider_and_the_buttons_are_one_control(panel):
    panel.controls["step"].slider.value = 3
    assert panel.values["step"] == 3
    assert panel.summary.startswith("step 3 of ")
    panel.reset()
    assert panel.controls["step"].slider.value == 0


def test_a_token_of_ones_own_choice_changes_what_follows_and_nothing_before(panel):
    panel.set(setting="greedy", take=(3, 4))
    assert written(panel) == by_hand("ab", "greedy", 0, taken=(3, 4))
    assert written(panel)[:2] == by_hand("ab", "greedy", 0)[:2]
    assert "parts from greedy at step 3" in panel.summary


def test_the_button_takes_the_token_at_the_step_of_the_slider(panel):
    number, button = panel.controls["take"].children
    panel.set(step=2)
    number.value = 2
    button.click()
    assert panel.values["take"] == (3, 2)
    assert panel.values["step"] == 3


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ((0, 1), ValueError, "step must be an integer >= 1, got 0"),
        ((9, 1), ValueError, r"take must be (step <= 8, rank <= 8), got (9, 1)"),
        ((1, 9), ValueError, r"take must be (step <= 8, rank <= 8), got (1, 9)"),
        ((1, 1.5), TypeError, "rank must be an integer, got 1.5"),
    ],
)
def test_a_wrong_choice_is_named(panel, value, kind, words):
    with pytest.raises(kind, match=re.escape(words)):
        panel.set(take=value)
    with pytest.raises(ValueError, match=re.escape("step must lie in [0, 8], got 9")):
        panel.set(step=9)


def test_each_text_is_read_once_and_steps_only_look_up(panel, model):
    at_first = len(model.read)
    for step in (3, 8, 0, 5):
        panel.set(step=step)
    assert len(model.read) == at_first
    for name in (*SETTINGS, *SETTINGS):
        panel.set(setting=name)
    assert len(model.read) == len(set(model.read))


def test_every_step_is_drawn_small_well_formed_and_inside_the_picture(panel):
    for setting in SETTINGS:
        for step in range(9):
            summary = panel.set(setting=setting, step=step)
            root = ElementTree.fromstring(panel._picture.value)
            assert root.attrib["aria-label"].endswith(summary)
            assert len(panel._picture.value.encode()) < 30_000
            scene, _summary = panel._draw(**panel.values)
            words = [mark for mark in scene.marks if isinstance(mark, Text)]
            assert all(-10 <= mark.x <= scene.width + 10 and 0 < mark.y <= scene.height + 10 for mark in words)


def test_what_is_saved_shows_some_steps_and_says_where_the_slider_is(panel):
    bundle, _metadata = panel._repr_mimebundle_()
    assert bundle["text/plain"].startswith("[interactive panel] step 0 of ")
    assert len(bundle["image/png"]) < 40_000
    assert len(panel._still().marks) > len(panel._draw(**panel.values)[0].marks)


def test_the_saved_picture_stops_where_the_next_token_surprises_most(panel):
    count = int(re.search(r"of (\d+)", panel.set(step=0))[1])
    bits = {n: float(re.search(r"([\d.]+) bits", panel.set(step=n + 1))[1]) for n in range(3, count)}
    _ = panel.reset()
    place = max(bits, key=bits.get)
    assert list(bits.values()).count(bits[place]) == 1 < len(bits)
    assert panel._still().marks == panel._draw(**{**panel.values, "step": place})[0].marks
