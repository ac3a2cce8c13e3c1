"""The beam tree, on a model of nine words whose texts can be listed by hand."""

from __future__ import annotations

import itertools
import math
import re
from xml.etree import ElementTree

import pytest
import torch
from legible import assert_legible

from notebooks import panels
from notebooks.panels.growing import grow_tree

WORDS = ["flew", "over", "away", "the", "hill", "sea", "moon", ".", "(end)"]
END = WORDS.index("(end)")
FOLLOWS = {
    "flew": {"over": 0.55, "away": 0.45},
    "over": {"the": 1.0},
    "the": {"hill": 0.4, "sea": 0.35, "moon": 0.25},
    "away": {".": 0.95, "over": 0.05},
    **{word: {".": 1.0} for word in ("hill", "sea", "moon")},
    ".": {"(end)": 0.9, "away": 0.1},
    "(end)": {"(end)": 1.0},
}
STEPS = 5


class LastWord:
    """The model of FOLLOWS; it counts the texts that it reads."""

    vocab_size, max_seq_len = len(WORDS), 99

    def __init__(self) -> None:
        self.read: list[tuple[int, ...]] = []

    def make_cache(self, batch_size: int) -> None:
        return None

    def __call__(self, ids, attention_mask=None, cache=None):
        self.read += [tuple(row) for row in ids.tolist()]
        table = torch.zeros(len(WORDS), len(WORDS), dtype=torch.float64)
        for word, row in FOLLOWS.items():
            for after, share in row.items():
                table[WORDS.index(word), WORDS.index(after)] = share
        return table.log()[ids]


def ids(text: str) -> tuple[int, ...]:
    return tuple(WORDS.index(word) for word in text.split())


def every_ended_text(steps: int) -> dict[tuple[int, ...], float]:
    """All texts after "flew" that end, or are cut after `steps` words, with the log of their probability."""
    grown, ended = {("flew",): 0.0}, {}
    for _ in range(steps):
        grown = {
            (*text, word): total + math.log(share)
            for text, total in grown.items()
            for word, share in FOLLOWS[text[-1]].items()
        }
        ended |= {text: total for text, total in grown.items() if text[-1] == "(end)"}
        grown = {text: total for text, total in grown.items() if text[-1] != "(end)"}
    return {ids(" ".join(text[1:])): total for text, total in {**ended, **grown}.items()}


@pytest.fixture
def model():
    return LastWord()


@pytest.fixture
def panel(model):
    made = panels.beam_tree(model, WORDS, {"The kite flew": [0], "The kite flew over the": [0, 1, 3]}, eos=END)
    yield made
    made.close()


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_with_beams_enough_the_best_of_all_texts_comes_out(model, penalty):
    texts = every_ended_text(STEPS)
    ranked = sorted(((total / len(text) ** penalty, text) for text, total in texts.items()), reverse=True)
    tree = grow_tree(model, (0,), STEPS, 6, penalty, END)
    best, text = tree.finished[-1][0]
    assert text == ranked[0][1]
    assert best == pytest.approx(ranked[0][0])


@pytest.mark.parametrize("width", range(1, 6))
def test_every_node_has_its_probability_its_total_and_its_parent(model, width):
    tree = grow_tree(model, (0,), STEPS, width, 1.0, END)
    columns = [({(): 0.0}), *({node.text: node.total for node in column} for column in tree.columns)]
    for before, column in itertools.pairwise([None, *tree.columns]):
        for node in column:
            last = WORDS[node.text[-2]] if len(node.text) > 1 else "flew"
            assert node.share == pytest.approx(FOLLOWS[last][WORDS[node.text[-1]]])
            assert node.total == pytest.approx(columns[len(node.text) - 1][node.text[:-1]] + math.log(node.share))
            if before is not None:
                assert before[node.parent].text == node.text[:-1]
                assert before[node.parent].fate == "kept"
    for column in tree.columns:
        assert 1 <= sum(node.fate != "dropped" for node in column) <= 2 * width
        # An end that ranks below the beams is dropped, however likely: open texts take its place.
        dropped = [node.total for node in column if node.fate == "dropped" and node.text[-1] != END]
        kept = [node.total for node in column if node.fate == "kept"]
        assert not kept or max(dropped, default=-math.inf) <= min(kept)


def test_greedy_is_the_way_of_the_likeliest_word(model):
    assert grow_tree(model, (0,), STEPS, 2, 1.0, END).greedy == ids("over the hill . (end)")
    nodes = [node for column in grow_tree(model, (0,), STEPS, 1, 1.0, END).columns for node in column if node.greedy]
    assert [node.text for node in nodes] == [ids("over the hill . (end)")[:length] for length in range(1, 6)]
    assert {node.fate for node in nodes[:-1]} == {"kept"}


def test_the_summary_follows_the_search_and_the_penalty(panel):
    assert panel.set(step=1) == "beams=2 step=1 penalty=1.00: best open over -0.60; best finished –"
    assert panel.set(step=3).endswith("best open over the hill -1.51; best finished away . (end) -0.32")
    assert panel.set(step=5).endswith("best open –; best finished away . (end) -0.32")
    assert "best finished over the hill . (end) -0.06" in panel.set(penalty=2.0)
    assert "best finished away . (end) -0.96" in panel.set(penalty=0.0)


def test_sliders_only_look_up_and_each_text_is_read_once(panel, model):
    at_first = len(model.read)
    for width, step, penalty in itertools.product((1, 5, 3), (0, 5), (0.0, 1.0, 2.0)):
        panel.set(width=width, step=step, penalty=penalty)
    assert len(model.read) == at_first == len(set(model.read))
    panel.set(prompt="The kite flew over the")
    assert len(model.read) == len(set(model.read)) > at_first


def test_every_setting_is_drawn_small_well_formed_and_legible(panel):
    for step, width, penalty in itertools.product(range(STEPS + 1), range(1, 6), (0.0, 1.0, 1.75)):
        summary = panel.set(step=step, width=width, penalty=penalty)
        root = ElementTree.fromstring(panel._picture.value)
        assert root.attrib["aria-label"].endswith(summary)
        assert len(panel._picture.value.encode()) < 30_000
        assert_legible(panel)


def test_tokens_of_a_real_model_fit_as_well():
    table = torch.randn(50, 50, generator=torch.Generator().manual_seed(0)) * 2
    model = type("Random", (LastWord,), {"vocab_size": 50, "__call__": lambda self, ids, *a, **k: table[ids]})()
    labels = [f" {'extraordinarily'[: 1 + i % 15]}" for i in range(50)]
    panel = panels.beam_tree(model, labels, {"Long ago": [3, 4]}, eos=7, width=5, steps=6)
    for step, width in itertools.product((1, 4, 6), range(1, 6)):
        panel.set(step=step, width=width)
        assert len(panel._picture.value.encode()) < 30_000
        assert_legible(panel)
    panel.close()


def test_a_vocabulary_too_small_for_five_beams_has_fewer(model):
    small = type(
        "Small", (LastWord,), {"vocab_size": 3, "__call__": lambda self, ids, *a, **k: torch.zeros(*ids.shape, 3)}
    )()
    panel = panels.beam_tree(small, ["a", "b", "."], {"a": [0]}, eos=2)
    assert [value for _label, value in panel.controls["width"].options] == [1, 2]
    with pytest.raises(ValueError, match=re.escape("width must lie in [1, 2], got 3")):
        panel.set(width=3)
    panel.close()


def test_what_is_saved_shows_the_whole_tree(panel):
    bundle, _metadata = panel._repr_mimebundle_()
    assert bundle["text/plain"].startswith("[interactive panel] beams=2 step=0 penalty=1.00: ")
    assert len(bundle["image/png"]) < 40_000
    assert len(panel._still().marks) > len(panel._draw(**panel.values)[0].marks)
