"""Beam search against every text there is on small vocabularies; test_parity_beyond.py has it beside transformers."""

import numpy as np
import pytest
import torch
from plain_search import groups_by_loops
from stubs import FAMILIES, Stub, fresh_tiny, pad_left, tiny, watch_caches

from llm_gen import generate
from llm_gen.beyond import (
    beam_search,
    beam_steps,
    best_of,
    contrastive_search,
    prompt_lookup,
    speculative_generate,
)

PROMPTS = torch.tensor([[3, 1, 4, 1], [9, 2, 6, 5]])


class Random:
    """A tiny Markov model: logits that depend on the last token and on the length."""

    def __init__(self, vocab_size, seed, max_seq_len=50):
        self.vocab_size, self.max_seq_len = vocab_size, max_seq_len
        self.table = torch.randn(max_seq_len, vocab_size, vocab_size, generator=torch.Generator().manual_seed(seed)) * 2

    def __call__(self, ids, attention_mask=None, cache=None):
        return torch.stack([self.table[column][ids[:, column]] for column in range(ids.shape[1])], dim=1)

    def make_cache(self, batch_size):
        return None


def every_text(model, prompt, steps, eos):
    """All texts that end with the eos or after `steps` tokens, with the sum of their log-probs."""
    texts = [((), 0.0)]
    for _ in range(steps):
        grown = []
        for text, total in texts:
            if text and text[-1] in eos:
                grown.append((text, total))
                continue
            log_probs = model(torch.tensor([[*prompt, *text]]))[0, -1].double().log_softmax(-1)
            grown += [((*text, token), total + log_probs[token].item()) for token in range(model.vocab_size)]
        texts = grown
    return texts


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_width_that_covers_all_texts_finds_the_best_of_all(seed, length_penalty):
    # 9 tokens, of which 8 go on: 8 beams cover the first step, and with 2 steps every text is a candidate.
    model, eos = Random(9, seed), [8]
    texts = every_text(model, [0], 2, eos)
    ranked = sorted(((total / len(text) ** length_penalty, text) for text, total in texts), reverse=True)[:3]
    found = beam_search(
        model, torch.tensor([[0]]), 2, 8, length_penalty=length_penalty, early_stopping="never", results=3,
        eos_token_id=eos,
    )  # fmt: skip
    for place, (score, text) in enumerate(ranked):
        assert found.scores[0, place].item() == pytest.approx(score, abs=1e-6)
        assert found.sequences[0, place, 1 : 1 + len(text)].tolist() == list(text)


def test_width_one_is_greedy():
    for family in ("GPT2", "Mistral"):
        model = tiny(family)
        found = beam_search(model, PROMPTS, 12, 1, eos_token_id=None)
        assert torch.equal(found.sequences[:, 0], generate(model, PROMPTS, 12, False))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_cache_changes_nothing_also_past_window_and_context(family):
    model = tiny(family, max_len=12)
    fast, slow = (beam_search(model, PROMPTS, 14, 3, results=3, eos_token_id=5, use_cache=use) for use in (True, False))
    assert torch.equal(fast.sequences, slow.sequences)
    torch.testing.assert_close(fast.scores, slow.scores, atol=1e-4, rtol=0)


def test_each_column_is_read_once_with_a_cache(monkeypatch):
    model, fed = tiny("LLaMA"), watch_caches(monkeypatch)
    beam_search(model, PROMPTS, 4, 3)
    assert fed == [(2, 4), (6, 1), (6, 1), (6, 1)]


@pytest.mark.parametrize("family", ["GPT2", "Mistral", "Mixtral"])
def test_a_padded_row_finds_what_it_finds_alone(family):
    model, prompts = tiny(family), [[5, 6], [3, 1, 4, 1, 5], [2, 7, 1]]
    ids, mask = pad_left(prompts)
    together = beam_search(model, ids, 8, 3, eos_token_id=[3, 9], attention_mask=mask, results=2)
    for row, prompt in enumerate(prompts):
        alone = beam_search(model, torch.tensor([prompt]), 8, 3, eos_token_id=[3, 9], results=2)
        ours, theirs = together.sequences[row, :, ids.shape[1] :], alone.sequences[0, :, len(prompt) :]
        assert torch.equal(ours[:, : theirs.shape[1]], theirs)
        torch.testing.assert_close(together.scores[row], alone.scores[0], atol=1e-4, rtol=0)


def test_groups_are_told_what_the_earlier_ones_took():
    model, steps, groups, diversity = Random(5, 1), 6, 3, 1.5
    found = beam_search(model, torch.tensor([[0]]), steps, groups, groups=groups, diversity=diversity, results=groups)
    scores, texts = groups_by_loops(model, [0], steps, groups, diversity)
    assert found.sequences[0].tolist() == texts
    assert found.scores[0].tolist() == pytest.approx(scores)
    assert len({tuple(text) for text in found.sequences[0].tolist()}) == groups


def test_no_steps_and_no_rows():
    found = beam_search(Stub("NEXT"), torch.tensor([[1, 2]]), 0, 2, results=2)
    assert found.sequences.tolist() == [[[1, 2], [1, 2]]] and found.scores.tolist() == [[0, 0]]
    assert beam_search(Stub("NEXT"), torch.zeros((0, 2), dtype=torch.long), 3, 2).sequences.shape == (0, 1, 5)


def test_a_processor_never_meets_a_text_that_it_has_forbidden():
    def count_up(ids, logits):
        legal = torch.full_like(logits, -torch.inf)
        for row, text in enumerate(ids.tolist()):
            if text == list(range(1, len(text) + 1)):  # any other text has no way on
                legal[row, len(text) + 1] = logits[row, len(text) + 1]
        return legal

    found = beam_search(Random(10, 0), torch.tensor([[1]]), 4, 3, processors=[count_up], results=2)
    assert found.sequences.tolist() == [[[1, 2, 3, 4, 5], [1, 0, 0, 0, 0]]]
    assert found.scores.isinf().tolist() == [[False, True]]


def test_a_search_ends_where_nothing_can_go_on():
    def one_word(ids, logits):
        legal = torch.full_like(logits, -torch.inf)
        legal[:, 4 if ids.shape[1] == 1 else 7] = 0.0
        return legal

    how = {"processors": [one_word], "eos_token_id": 7, "results": 2}
    steps = list(beam_steps(Random(10, 0), torch.tensor([[1]]), 30, 3, processors=[one_word], eos_token_id=7))
    assert len(steps) == 2
    for groups in (1, 3):
        found = beam_search(Random(10, 0), torch.tensor([[1]]), 30, 3, groups=groups, **how)
        assert found.sequences[0, 0].tolist() == [1, 4, 7]


def test_a_beam_that_cannot_be_takes_nothing_from_the_next_group():
    # Two beams a group, and only one text is open: its token costs the second group one diversity, not two.
    def two(ids, logits):
        return logits.new_tensor([0.0, -0.8] + [-torch.inf] * 8).expand_as(logits)

    def first(ids, logits):
        return two(ids, logits).index_fill(-1, torch.tensor([1]), -torch.inf) if ids.shape[1] == 1 else two(ids, logits)

    step = next(beam_steps(Random(10, 0), torch.tensor([[1]]), 1, 4, groups=2, diversity=0.7, processors=[first]))
    assert step.totals[0].tolist() == [0.0, -torch.inf, -0.7, -torch.inf]


@pytest.mark.parametrize("method", ["beam", "best", "contrastive", "speculative"])
def test_dropout_in_train_mode_is_told_once(method):
    model = fresh_tiny("GPT2", dropout=0.5).train()
    calls = {
        "beam": lambda: beam_search(model, PROMPTS[:1], 2, 2),
        "best": lambda: best_of(model, PROMPTS[:1], 2, 2),
        "contrastive": lambda: contrastive_search(model, PROMPTS[:1], 2),
        "speculative": lambda: speculative_generate(model, prompt_lookup, PROMPTS[:1], 2, False),
    }
    with pytest.warns(UserWarning, match="train mode") as told:
        calls[method]()
    assert len(told) == 1


def test_the_steps_tell_how_the_texts_grew():
    model, x = Random(6, 2), torch.tensor([[0], [3]])
    texts, totals = x[:, None].expand(2, 3, 1), None
    for step in beam_steps(model, x, 4, 3, eos_token_id=5):
        for row in range(2):
            grown = [
                [*texts[row, parent].tolist(), text[-1].item()]
                for parent, text in zip(step.parents[row], step.texts[row])
            ]
            assert step.texts[row].tolist() == grown
            said = step.log_probs[row, step.parents[row], step.texts[row, :, -1]]
            before = torch.zeros(3).double() if totals is None else totals[row, step.parents[row]]
            torch.testing.assert_close(step.totals[row], before + said)
        texts, totals = step.texts, step.totals
    found = beam_search(model, x, 4, 3, eos_token_id=5, results=3)
    for row in range(2):
        assert found.scores[row].tolist() == [score for score, _text in step.finished[row]]
        assert found.sequences[row, 0].tolist()[: len(step.finished[row][0][1])] == step.finished[row][0][1].tolist()


def test_what_a_processor_returns_is_checked_and_its_name_given():
    def culprit(ids, logits):
        return logits[:, :3]

    with pytest.raises(ValueError, match=r"culprit must return usable logits of shape \(2, 10\), got \(2, 3\)"):
        beam_search(Stub("NEXT"), torch.tensor([[1]]), 3, 2, processors=[culprit])
    with pytest.raises(TypeError, match="processors must be a list of functions, got 3"):
        beam_search(Stub("NEXT"), torch.tensor([[1]]), 3, 2, processors=3)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"width": 0}, ValueError, "width must be an integer >= 1, got 0"),
        ({"width": 11}, ValueError, "width must leave each beam a token of its own among 10, got 11"),
        ({"width": 10, "eos_token_id": 3}, ValueError, "width must leave each beam a token"),
        ({"width": 2, "results": 3}, ValueError, "results must be <= width 2, got 3"),
        ({"width": 3, "groups": 2}, ValueError, "width must be a multiple of groups"),
        ({"width": 2, "diversity": -1}, ValueError, "diversity must be >= 0"),
        ({"width": 2, "length_penalty": float("nan")}, ValueError, "length_penalty must be finite"),
        (
            {"width": 2, "length_penalty": 1000.0},
            ValueError,
            "length_penalty must keep 3 ",
        ),
        ({"width": 2, "length_penalty": -1000.0}, ValueError, "finite float > 0, got -1000.0"),
        ({"width": 2, "early_stopping": 1}, ValueError, "early_stopping must be True, False or 'never', got 1"),
        ({"width": 2, "early_stopping": "soon"}, ValueError, "early_stopping must be True, False or 'never'"),
        ({"width": True}, TypeError, "width must be an integer"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, error, words):
    with pytest.raises(error, match=words):
        beam_search(Stub("NEXT"), torch.tensor([[1]]), 3, **settings)


def test_numbers_and_flags_of_numpy_are_welcome():
    model, x = tiny("LLaMA"), torch.tensor([[1, 2, 3]])
    expected = beam_search(model, x, 4, 2, early_stopping=True, length_penalty=0.5)
    found = beam_search(
        model, x, np.int64(4), np.int32(2), early_stopping=np.True_, length_penalty=np.float32(0.5), groups=np.int64(1)
    )
    assert found.sequences.equal(expected.sequences) and found.scores.equal(expected.scores)
