"""The batch board: every setting against the loop written out row by row, and each picture small and legible."""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree

import pytest
import torch
from legible import assert_legible
from test_panels import MOST_BYTES

from notebooks import panels
from notebooks.panels.batching import END, LEFT, NO_MASK, PAD, PADDING, PROMPT, RIGHT, TEXT, run_batch
from notebooks.panels.scene import Rect, Text

EOS, PAD_ID, STEPS = 7, 0, 6
PROMPTS = {
    "even": [[1, 2], [3, 5]],
    "ragged": [[1], [2, 3, 6], [5, 5]],
    "pad as text": [[0, 4], [0], [4, 0, 0]],
}


class Sums:
    """Its next id is the sum of the real ids so far, and of their positions: it notices padding that is not masked."""

    vocab_size, max_seq_len = 9, 50

    def __call__(self, ids, attention_mask=None, cache=None):
        real = torch.ones_like(ids) if attention_mask is None else attention_mask.long()
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)
        following = ((ids + positions + 1) * real).cumsum(dim=1) % self.vocab_size
        return torch.nn.functional.one_hot(following, self.vocab_size).double()

    def make_cache(self, batch_size):
        return None


def loop(prompt, eos):
    """What one prompt gets, without tensors."""
    text = list(prompt)
    for _ in range(STEPS):
        text.append(sum(token + place + 1 for place, token in enumerate(text)) % Sums.vocab_size)
        if text[-1] == eos:
            break
    return text[len(prompt) :]


@pytest.fixture(scope="module", params=PROMPTS.values(), ids=PROMPTS)
def prompts(request):
    return request.param


@pytest.fixture
def board(prompts):
    made = panels.batch_board(Sums(), prompts, STEPS, eos_token_id=EOS, pad_token_id=PAD_ID)
    yield made
    made.close()


@pytest.mark.parametrize("eos", [EOS, None])
@pytest.mark.parametrize("pad", [PAD_ID, EOS])
def test_cells_are_what_the_loop_says(prompts, eos, pad):
    batch, width = run_batch(Sums(), prompts, STEPS, eos, pad), max(map(len, prompts))
    alone = [loop(prompt, eos) for prompt in prompts]
    assert batch.steps == max(map(len, alone))
    assert batch.parted == [None] * len(prompts)
    for row, (prompt, text) in enumerate(zip(prompts, alone)):
        gap, rest = width - len(prompt), batch.steps - len(text)
        ends = bool(text) and text[-1] == eos
        assert batch.ids[row].tolist() == [pad] * gap + prompt + text + [pad] * rest
        roles = [PADDING] * gap + [PROMPT] * len(prompt) + [TEXT] * (len(text) - ends) + [END] * ends + [PAD] * rest
        assert batch.roles[row] == roles
        assert batch.mask[row].tolist() == [0] * gap + [1] * (width - gap + batch.steps)
        assert batch.positions[row].tolist() == [0] * gap + list(range(width - gap + batch.steps))
        assert batch.ended[row] == (len(text) if ends else None)


@pytest.mark.parametrize("side", [NO_MASK, RIGHT])
def test_without_a_mask_padding_is_read_as_text(side):
    prompts = PROMPTS["ragged"]
    batch, width = run_batch(Sums(), prompts, STEPS, None, PAD_ID, side), max(map(len, prompts))
    for row, prompt in enumerate(prompts):
        gap = [PAD_ID] * (width - len(prompt))
        misread = loop([*prompt, *gap] if side == RIGHT else [*gap, *prompt], None)
        assert batch.ids[row, width:].tolist() == misread
        differs = [step for step, pair in enumerate(zip(misread, loop(prompt, None)), start=1) if len(set(pair)) > 1]
        assert batch.parted[row] == (differs[0] if differs else None)
    assert batch.parted[1] is None and batch.parted[0] == 1
    assert batch.mask.all()


def test_every_setting_is_drawn_small_and_well_formed(board):
    places = {name: [value for _label, value in control.options] for name, control in board.controls.items()}
    for values in product(*places.values()):
        summary = board.set(**dict(zip(places, values)))
        markup = board._picture.value
        assert len(markup.encode()) < MOST_BYTES
        assert ElementTree.fromstring(markup).attrib["aria-label"] == summary
        assert_legible(board)


def test_the_summary_counts_what_is_drawn(board, prompts):
    for step in range(STEPS + 1):
        summary = board.set(step=step)
        scene, _summary = board._draw(**board.values)
        cells = [mark for mark in scene.marks if isinstance(mark, Rect) and mark.height > 20]
        empty = [mark for mark in cells if mark.fill is None]
        assert f"{len(empty)} of {len(cells)} cells filler" in summary
        writing = sum(len(text) > step or text[-1] != EOS for text in (loop(prompt, EOS) for prompt in prompts))
        assert f": {writing} of {len(prompts)} rows writing" in summary
        assert summary.endswith("each row as alone")


def test_a_row_that_is_not_as_alone_is_named():
    board = panels.batch_board(Sums(), PROMPTS["ragged"], STEPS, pad_token_id=PAD_ID)
    assert list(board.controls) == ["step", "side"]
    assert board.set(side=RIGHT, step=0).endswith("each row as alone")
    assert board.set(step=1) == "side=right: step 1: 3 of 3 rows writing, 3 of 12 cells filler; not as alone: row 0, 2"
    assert "from 1" in board._picture.value
    assert board.set(side=LEFT).endswith("each row as alone")
    board.close()


def test_lists_that_can_change_nothing_are_left_out():
    board = panels.batch_board(Sums(), PROMPTS["even"], STEPS)
    assert list(board.controls) == ["step"]
    board.close()


def test_pad_as_the_end_changes_ids_and_nothing_else(board):
    own = board.set(step=STEPS)
    assert board.set(pad="eos") == f"pad=eos: {own}"
    assert board.set(stop="never", pad="own").startswith(f"stop=never: step {STEPS}: ")


def test_ids_are_shown_in_the_words_given():
    board = panels.batch_board(Sums(), [[1, 2]], 5, eos_token_id=EOS, label=lambda token: f"t{token}")
    board.set(step=5)
    written = [f"t{token}" for token in [1, 2, *loop([1, 2], EOS)]]
    shown = [text.text for text in ElementTree.fromstring(board._picture.value).iter("text")]
    assert [word for word in shown if word.startswith("t") and word[1:].isdigit()] == written
    assert [label for label, _value in board.controls["pad"].options] == ["t0", "t7, the end itself"]
    board.close()


@pytest.mark.parametrize(
    ("kept", "words"),
    [({"steps": 0}, "steps must be an integer >= 1, got 0"), ({"steps": 40}, "at most 72 cells, got 2 x 42")],
)
def test_a_board_that_nobody_could_read_is_refused(kept, words):
    with pytest.raises(ValueError, match=words):
        panels.batch_board(Sums(), PROMPTS["even"], **kept)


def test_the_still_shows_both_sides_of_padding(board):
    still = board._still()
    titles = [mark.text for mark in still.marks if isinstance(mark, Text) and mark.text.startswith(("left,", "right,"))]
    assert titles == (["left, with mask", "right, mask forgotten"] if "side" in board.controls else [])
    assert len(board._repr_mimebundle_()[0]["image/png"]) < 60_000
