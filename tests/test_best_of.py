"""Best of n: the texts of `generate`, ranked by a mean that is computed here from scratch; the prompt is read once."""

from __future__ import annotations

import pytest
import torch
from plain_search import best_of_by_loops
from stubs import FAMILIES, Stub, pad_left, tiny, watch_caches

from llm_gen import generate
from llm_gen.beyond import ban_tokens, best_of

PROMPTS = torch.tensor([[3, 1, 4, 1], [9, 2, 6, 5]])


def dice(count: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in range(count)]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_texts_are_those_of_generate_and_the_best_comes_first(family):
    model, n, eos = tiny(family, max_len=64), 5, [3, 8]
    found = best_of(model, PROMPTS, 12, n, 1.2, top_k=9, eos_token_id=eos, pad_token_id=30, generator=dice(2 * n))
    apart = generate(
        model, PROMPTS.repeat_interleave(n, 0), 12, True, 1.2, top_k=9, eos_token_id=eos, pad_token_id=30,
        generator=dice(2 * n),
    )  # fmt: skip
    for row in range(2):
        texts = apart[row * n : (row + 1) * n].tolist()
        wanted = sorted(((best_of_by_loops(model, 4, text, eos), text) for text in texts), key=lambda pair: -pair[0])
        assert found.sequences[row].tolist() == [text for _, text in wanted]
        assert found.scores[row].tolist() == pytest.approx([score for score, _ in wanted], abs=1e-5)


@pytest.mark.parametrize("use_cache", [True, False])
def test_the_cache_and_the_end_of_the_context_change_nothing(use_cache):
    model = tiny("Mistral", max_len=8)
    found = best_of(model, PROMPTS, 9, 3, use_cache=use_cache, generator=dice(6))
    rows = generate(model, PROMPTS.repeat_interleave(3, 0), 9, True, use_cache=False, generator=dice(6))
    assert sorted(found.sequences.flatten(0, 1).tolist()) == sorted(rows.tolist())


def test_each_prompt_is_read_once(monkeypatch):
    model, fed = tiny("LLaMA"), watch_caches(monkeypatch)
    best_of(model, PROMPTS, 3, 4, generator=dice(8))
    assert fed == [(2, 4), (8, 1), (8, 1)]


def test_padded_prompts_are_ranked_as_they_are_alone():
    model, prompts = tiny("GPT2"), [[5, 6], [3, 1, 4, 1, 5]]
    ids, mask = pad_left(prompts)
    together = best_of(model, ids, 6, 3, attention_mask=mask, generator=dice(6))
    for row, prompt in enumerate(prompts):
        alone = best_of(model, torch.tensor([prompt]), 6, 3, generator=dice(6)[3 * row : 3 * row + 3])
        assert together.sequences[row, :, ids.shape[1] :].tolist() == alone.sequences[0, :, len(prompt) :].tolist()
        torch.testing.assert_close(together.scores[row], alone.scores[0], atol=1e-5, rtol=0)


def test_the_score_is_the_models_own_whatever_was_drawn_from():
    model = tiny("GPT2")
    forbid = lambda ids, logits: ban_tokens(ids, logits, [0, 1, 2, 3])  # noqa: E731
    found = best_of(model, PROMPTS[:1], 5, 2, 3.0, processors=[forbid], generator=dice(2))
    for text, score in zip(found.sequences[0].tolist(), found.scores[0]):
        assert score.item() == pytest.approx(best_of_by_loops(model, 4, text, []), abs=1e-5)
        assert min(text[4:]) > 3


def test_no_steps_and_no_rows():
    found = best_of(Stub("NEXT"), torch.tensor([[1, 2]]), 0, 3)
    assert found.sequences.tolist() == [[[1, 2]] * 3] and found.scores.tolist() == [[0, 0, 0]]
    assert best_of(Stub("NEXT"), torch.zeros((0, 2), dtype=torch.long), 2, 3).sequences.shape == (0, 3, 4)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n": 0}, ValueError, "n must be an integer >= 1, got 0"),
        ({"temperature": 0}, ValueError, "temperature must be > 0"),
        ({"generator": dice(3)}, ValueError, "generator must be one or a list of one per row, 2 here, got 3"),
        ({"warpers": [lambda ids, logits: None]}, ValueError, "<lambda> must return usable logits"),
        ({"max_new_tokens": -1}, ValueError, "max_new_tokens must be an integer >= 0"),
    ],
)
def test_wrong_arguments_are_refused_by_name(change, error, words):
    with pytest.raises(error, match=words):
        best_of(**{"model": Stub("NEXT"), "x": torch.tensor([[1]]), "max_new_tokens": 2, "n": 2, **change})
