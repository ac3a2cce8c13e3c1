"""Contrastive search: its ends, padding and bad numbers; test_parity_beyond.py holds it against a plain loop."""

from __future__ import annotations

import pytest
import torch
from plain_search import contrastive_by_loops
from stubs import FAMILIES, Stub, pad_left, tiny, watch_caches

from llm_gen import generate
from llm_gen.beyond import ban_tokens, contrastive_search

PROMPTS = torch.tensor([[3, 1, 4, 1], [9, 2, 6, 5]])


@pytest.mark.parametrize("family", FAMILIES)
def test_both_greedy_ends(family):
    model = tiny(family, max_len=12)
    greedy = generate(model, PROMPTS, 14, False)
    assert torch.equal(contrastive_search(model, PROMPTS, 14, top_k=5, alpha=0), greedy)
    assert torch.equal(contrastive_search(model, PROMPTS, 14, top_k=1, alpha=0.9), greedy)
    assert not torch.equal(contrastive_search(model, PROMPTS, 14, top_k=5, alpha=0.9), greedy)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_cache_changes_nothing_also_past_window_and_context(family):
    model = tiny(family, max_len=12)
    fast, slow = (contrastive_search(model, PROMPTS, 14, 3, 0.5, use_cache=use) for use in (True, False))
    assert torch.equal(fast, slow)


@pytest.mark.parametrize("max_len", [1, 2, 3])
def test_a_context_of_few_columns(max_len):
    model = tiny("GPT2", max_len=max_len)
    found = contrastive_search(model, PROMPTS[:1], 6, 3, 0.5)[0].tolist()
    assert found == contrastive_by_loops(model, PROMPTS[0].tolist(), 6, 3, 0.5)


@pytest.mark.parametrize("family", ["GPT2", "Mistral", "Gemma"])
def test_a_padded_row_writes_what_it_writes_alone(family):
    model, prompts = tiny(family), [[5, 6], [3, 1, 4, 1, 5], [2, 7, 1]]
    ids, mask = pad_left(prompts)
    together = contrastive_search(model, ids, 10, 4, 0.6, attention_mask=mask)
    for row, prompt in enumerate(prompts):
        alone = contrastive_search(model, torch.tensor([prompt]), 10, 4, 0.6)
        assert together[row, ids.shape[1] :].tolist() == alone[0, len(prompt) :].tolist()


def test_each_column_is_read_once_with_a_cache(monkeypatch):
    model, fed = tiny("LLaMA"), watch_caches(monkeypatch)
    contrastive_search(model, PROMPTS, 3, 4, 0.6)
    assert fed == [(2, 4), (8, 1), (8, 1), (8, 1)]


def test_a_row_that_has_ended_is_padded_and_the_last_one_ends_the_loop():
    model = tiny("LLaMA")
    plain = contrastive_search(model, PROMPTS, 8, 4, 0.6)[:, 4:]
    first, second = plain[0, 1].item(), plain[1, 3].item()
    found = contrastive_search(model, PROMPTS, 8, 4, 0.6, eos_token_id=[first, second], pad_token_id=30)[:, 4:]
    for row, text in zip(found.tolist(), plain.tolist()):
        end = next(place for place, token in enumerate(text) if token in (first, second))
        assert row == [*text[: end + 1], *[30] * (len(row) - end - 1)]
    assert found.shape[1] <= 4


def test_what_is_banned_never_comes_even_where_nothing_else_is_a_candidate():
    only_four = lambda ids, logits: ban_tokens(ids, logits, [token for token in range(31) if token != 4])  # noqa: E731
    text = contrastive_search(tiny("GPT2"), PROMPTS, 5, top_k=6, alpha=1.0, processors=[only_four])
    assert (text[:, 4:] == 4).all()


def test_no_steps_no_rows_and_nothing_written_to():
    model, x = tiny("GPT2"), PROMPTS.clone()
    copy = contrastive_search(model, x, 0)
    assert torch.equal(copy, x) and copy.data_ptr() != x.data_ptr()
    assert contrastive_search(model, torch.zeros((0, 2), dtype=torch.long), 3).shape == (0, 5)
    contrastive_search(model, x, 3)
    assert torch.equal(x, PROMPTS)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"top_k": 0}, ValueError, "top_k must be an integer >= 1, got 0"),
        ({"top_k": 2.5}, TypeError, "top_k must be an integer"),
        ({"alpha": 1.5}, ValueError, r"alpha must lie in \[0, 1\], got 1.5"),
        ({"alpha": float("nan")}, ValueError, "alpha must be finite"),
        ({"max_new_tokens": -1}, ValueError, "max_new_tokens must be an integer >= 0"),
        ({"eos_token_id": 31}, ValueError, "eos_token_id must lie in the vocabulary"),
        ({"use_cache": 1}, TypeError, "use_cache must be True or False"),
        ({"model": Stub("NEXT", vocab_size=31)}, TypeError, "model must give its states, .* got Stub"),
        ({"processors": [lambda ids, logits: logits * torch.nan]}, ValueError, "<lambda> must return usable logits"),
    ],
)
def test_wrong_arguments_are_refused_by_name(change, error, words):
    arguments = {"model": tiny("GPT2"), "x": PROMPTS, "max_new_tokens": 2, **change}
    with pytest.raises(error, match=words):
        contrastive_search(**arguments)


def test_logits_are_made_of_the_hidden_states():
    model = tiny("Gemma")
    hidden = model.hidden(PROMPTS)
    assert hidden.shape == (2, 4, 32)
    assert torch.equal(model.logits(hidden), model(PROMPTS))
    with pytest.raises(ValueError, match=r"ids must hold ids in 0\.\.30, got 31"):
        model.hidden(torch.tensor([[31]]))


def test_what_becomes_of_a_finished_row_does_not_matter():
    def nothing_after_the_end(ids, logits):
        return torch.where(ids[:, -1:] == ends[0], -torch.inf, logits)

    model, x = tiny("LLaMA"), torch.tensor([[1, 2], [3, 4]])
    free = contrastive_search(model, x, 8, 4, 0.5)
    ends = [free[0, 3].item()]
    settings = {"eos_token_id": ends, "pad_token_id": 0}
    ids = contrastive_search(model, x, 8, 4, 0.5, processors=[nothing_after_the_end], **settings)
    assert ids.equal(contrastive_search(model, x, 8, 4, 0.5, **settings)) and (ids[0, 4:] == 0).all()
