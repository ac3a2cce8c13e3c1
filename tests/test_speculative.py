"""Speculative decoding: the target's own law, by enumeration; the target's own greedy text, token for token."""

import itertools

import pytest
import torch
from stubs import FAMILIES, Stub, fresh_tiny, tiny

from llm_gen import generate
from llm_gen.beyond import accept, prompt_lookup, residual, speculative_generate
from llm_gen.beyond import speculative as module

GRID = 400  # equally spaced uniforms stand for the one that decides about a guess


def law_of_accept(monkeypatch, tokens, proposed, probs):
    """The exact law of the tokens that `accept` lets through, up to 1 / GRID: {tokens: probability}."""
    law, drawn_from = {}, []

    def draw(distribution, count, generator=None):
        drawn_from.append(distribution)
        return torch.zeros(1, dtype=torch.long)

    monkeypatch.setattr(module.torch, "multinomial", draw)
    for uniforms in itertools.product(range(GRID), repeat=len(tokens)):
        values = iter((torch.tensor(uniforms, dtype=torch.float64) + 0.5) / GRID)
        monkeypatch.setattr(module.torch, "rand", lambda *a, values=values, **k: next(values))
        kept, _ = accept(torch.tensor(tokens), proposed, probs)
        for token, chance in enumerate(drawn_from.pop().tolist()):
            text = (*tokens[:kept], token)
            law[text] = law.get(text, 0.0) + chance / GRID ** len(tokens)
    return law


@pytest.mark.parametrize("seed", range(4))
def test_one_guess_gives_exactly_the_targets_law(seed, monkeypatch):
    generator = torch.Generator().manual_seed(seed)
    q = torch.rand(1, 4, dtype=torch.float64, generator=generator).pow(2)
    p = torch.rand(2, 4, dtype=torch.float64, generator=generator).pow(2)
    p[0, seed] = 0.0  # a token that a filter has dropped
    q, p = q / q.sum(-1, keepdim=True), p / p.sum(-1, keepdim=True)
    first = torch.zeros(4, dtype=torch.float64)
    for token in range(4):
        for text, chance in law_of_accept(monkeypatch, [token], q, p).items():
            first[text[0]] += q[0, token] * chance
    torch.testing.assert_close(first, p[0], atol=1 / GRID, rtol=0)


def test_two_guesses_give_the_law_of_two_tokens(monkeypatch):
    monkeypatch.setattr("test_speculative.GRID", 60)
    generator = torch.Generator().manual_seed(9)
    table = torch.rand(3, 3, dtype=torch.float64, generator=generator)
    draft = torch.rand(3, 3, dtype=torch.float64, generator=generator)
    table, draft = table / table.sum(-1, keepdim=True), draft / draft.sum(-1, keepdim=True)
    start, pairs = 0, torch.zeros(3, 3, dtype=torch.float64)
    for first, second in itertools.product(range(3), repeat=2):
        chance = draft[start, first] * draft[first, second]
        law = law_of_accept(monkeypatch, [first, second], draft[[start, first]], table[[start, first, second]])
        for text, part in law.items():
            if len(text) == 1:  # refused at once: the second token comes from the target in the next round
                pairs[text[0]] += chance * part * table[text[0]]
            else:
                pairs[text[0], text[1]] += chance * part
    torch.testing.assert_close(pairs, table[start][:, None] * table, atol=2 / GRID, rtol=0)


def test_s01_after_a_refusal_nothing_is_filtered_again():
    rest = residual(torch.tensor([0.2, 0.6, 0.2]), torch.tensor([0.6, 0.2, 0.2]))
    torch.testing.assert_close(rest, torch.tensor([0.0, 1.0, 0.0]))
    same = torch.tensor([0.5, 0.5])
    assert torch.equal(residual(same, same), same)
    torch.testing.assert_close(
        residual(torch.tensor([0.1, 0.5, 0.4]), torch.tensor([1.0, 0.0, 0.0])), torch.tensor([0.0, 5 / 9, 4 / 9])
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_s02_greedy_is_the_targets_own_text_past_window_and_context_too(family):
    target, near = tiny(family, max_len=24), fresh_tiny(family, max_len=24)
    with torch.no_grad():
        for parameter, original in zip(near.parameters(), target.parameters()):
            parameter.copy_(original * 1.05)
    x = torch.tensor([[3, 1, 4, 1, 5]])
    for draft, eos in ((near, None), (tiny(family, max_len=24, seed=5), 9), (prompt_lookup, None), (target, [2, 9])):
        for count in (1, 2, 30):
            found = speculative_generate(target, draft, x, count, False, guesses=3, eos_token_id=eos)
            assert torch.equal(found.sequences, generate(target, x, count, False, eos_token_id=eos))
            assert 0 <= found.accepted <= found.guessed
    assert found.acceptance_rate > 0.5


def test_a_draft_that_is_the_target_is_never_refused():
    target, x = tiny("LLaMA", max_len=64), torch.tensor([[3, 1, 4]])
    found = speculative_generate(
        target, target, x, 40, True, 0.9, top_p=0.9, guesses=4, generator=torch.Generator().manual_seed(0)
    )
    assert found.acceptance_rate == 1 and found.target_passes == 8 and found.sequences.shape == (1, 43)


def test_filters_bind_draft_and_target_alike():
    target, draft, x = tiny("GPT2"), tiny("GPT2", seed=3), torch.tensor([[3, 1]])
    text = speculative_generate(
        target, draft, x, 30, True, top_k=2, generator=torch.Generator().manual_seed(1)
    ).sequences
    for end in range(2, text.shape[1]):
        assert text[0, end] in target(text[:, :end])[0, -1].topk(2).indices


def test_greedy_takes_no_random_numbers():
    model, generator = Stub("NEXT"), torch.Generator().manual_seed(0)
    state, before = generator.get_state(), torch.get_rng_state()
    speculative_generate(model, prompt_lookup, torch.tensor([[1, 2]]), 5, False, generator=generator)
    assert torch.equal(state, generator.get_state()) and torch.equal(before, torch.get_rng_state())


def test_prompt_lookup_names_what_came_last_time():
    assert prompt_lookup(torch.tensor([1, 2, 3, 9, 1, 2]), size=2, count=3) == [3, 9, 1]
    assert prompt_lookup(torch.tensor([5, 1, 5, 2, 5]), count=1) == [2]
    assert prompt_lookup(torch.tensor([1, 2, 3])) == [] and prompt_lookup(torch.tensor([1])) == []


def test_repeating_text_needs_few_passes():
    model = Stub("NEXT", vocab_size=5)
    x = torch.tensor([[0, 1, 2, 3, 4, 0, 1]])
    found = speculative_generate(model, prompt_lookup, x, 20, False, guesses=4)
    assert found.sequences.tolist() == generate(model, x, 20, False).tolist()
    assert found.target_passes == 4


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"x": torch.tensor([[1], [2]])}, ValueError, "x must have one row, got 2"),
        ({"draft": Stub("NEXT", vocab_size=9)}, ValueError, "draft must have the target's vocabulary of 10, got 9"),
        ({"draft": 3}, TypeError, "draft must be a model or a function"),
        ({"draft": lambda text: [77]}, ValueError, "guess must lie in the vocabulary"),
        ({"guesses": 0}, ValueError, "guesses must be an integer >= 1"),
        ({"eos_token_id": 10}, ValueError, "eos_token_id must lie in the vocabulary"),
        ({"temperature": 0, "do_sample": True}, ValueError, "temperature must be > 0"),
    ],
)
def test_wrong_arguments_are_refused_by_name(change, error, words):
    arguments = {"draft": prompt_lookup, "x": torch.tensor([[1, 2, 1]]), "do_sample": False, **change}
    with pytest.raises(error, match=words):
        speculative_generate(Stub("NEXT"), max_new_tokens=4, **arguments)
