"""What a call of generate may not touch: its arguments, the model's mode, gradients, random numbers, the next call."""

from __future__ import annotations

import itertools
import warnings

import pytest
import torch
from stubs import FAMILIES, Stub, fresh_tiny, pad_left, tiny

from llm_gen import generate, generate_steps
from llm_gen.beyond import beam_search, contrastive_search, prompt_lookup, speculative_generate

X = torch.tensor([[1, 2], [5, 6]])


@pytest.mark.parametrize("count", [0, 3])
def test_i10_m16_x_and_mask_are_neither_written_to_nor_returned(count):
    x, mask = pad_left([[3, 4], [1, 2, 3, 4]])
    for given_mask in (mask, mask.bool()):
        kept = x.clone(), given_mask.clone()
        out = generate(Stub("SUM"), x, count, False, attention_mask=given_mask)
        assert out.shape == (2, 4 + count)
        out.fill_(0)
        assert x.equal(kept[0])
        assert given_mask.equal(kept[1])


def test_writing_into_x_or_the_mask_between_steps_changes_nothing():
    x, mask = pad_left([[3, 4], [1, 2, 3, 4]])
    expected = generate(Stub("SUM"), x, 4, False, attention_mask=mask)[:, 4:]
    for dtype in (torch.bool, torch.int64):
        own_x, own_mask = x.clone(), mask.to(dtype)
        steps = generate_steps(Stub("SUM"), own_x, 4, False, attention_mask=own_mask)
        tokens = []
        own_x.fill_(99), own_mask.fill_(0)
        for step in steps:
            tokens.append(step.tokens)
            own_x.fill_(-1)
        assert torch.cat(tokens, dim=1).equal(expected)


def test_i07_i08_the_mode_stays_and_dropout_in_train_mode_warns_once():
    model = fresh_tiny("GPT2", dropout=0.5).train()
    model.blocks[1].eval()
    modes = [part.training for part in model.modules()]
    with pytest.warns(UserWarning, match=r"model\.eval\(\)") as caught:
        model.generate(X, 3, False)
    assert len(caught) == 1
    next(generate_steps(tiny("GPT2"), X, 3, False))
    assert [part.training for part in model.modules()] == modes
    with pytest.warns(UserWarning, match="dropout"):
        runs = {tuple(model.generate(X, 12, False).flatten().tolist()) for _ in range(5)}
    assert len(runs) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len({tuple(model.eval().generate(X, 6, False).flatten().tolist()) for _ in range(10)}) == 1
        fresh_tiny("GPT2").train().generate(X, 2, False)
        generate(Stub("NEXT"), X, 2, False)


def test_i07_dropout_in_one_part_only_still_warns():
    model = fresh_tiny("LLaMA", dropout=0.5)
    model.blocks[0].train()
    with pytest.warns(UserWarning, match="dropout"):
        model.generate(X, 2, False)
    model.eval().blocks[1].attn.train()
    searches = (
        lambda: generate(model, X, 2, False),
        lambda: list(generate_steps(model, X, 2, False)),
        lambda: beam_search(model, X, 2, 2),
        lambda: contrastive_search(model, X, 2, 2, 0.5),
        lambda: speculative_generate(model, prompt_lookup, X[:1], 2, False),
    )
    for search in searches:
        with pytest.warns(UserWarning, match="dropout") as caught:
            search()
        assert [told.filename for told in caught] == [__file__]


@pytest.mark.parametrize("family", FAMILIES)
def test_i12_an_exception_in_between_leaves_nothing_behind(family):
    model = fresh_tiny(family, 8)
    expected, state = model.generate(X, 9, False), torch.get_rng_state()

    passes = itertools.count(1)

    def fail_in_step_three(*_):
        if next(passes) == 3:
            raise KeyboardInterrupt

    handle = model.register_forward_pre_hook(fail_in_step_three)
    with pytest.raises(KeyboardInterrupt):
        model.generate(X, 9, False)
    handle.remove()
    abandoned = generate_steps(model, X, 9, False)
    next(abandoned)
    abandoned.close()
    assert torch.is_grad_enabled()
    assert not model.training
    assert torch.get_rng_state().equal(state)
    assert model.generate(X, 9, False).equal(expected)


@pytest.mark.parametrize("use_cache", [True, False])
def test_the_output_is_an_ordinary_tensor_and_gradients_are_back_between_steps(use_cache):
    model = fresh_tiny("LLaMA", 4)
    assert not model.generate(X, 2, False, use_cache=use_cache).is_inference()
    for step in generate_steps(model, X, 5, False, use_cache=use_cache):
        assert torch.is_grad_enabled()
        assert not step.logits.requires_grad
        model(X).sum().backward()
    assert torch.is_grad_enabled()


def test_overridden_forward_and_hooks_count():
    class Stubborn(type(tiny("LLaMA"))):
        def forward(self, ids, attention_mask=None, cache=None):
            return super().forward(ids, attention_mask, cache) + 1e6 * torch.eye(31)[7]

    model = Stubborn(tiny("LLaMA").config).eval()
    assert model.generate(X, 3, False)[:, 2:].unique().tolist() == [7]
    plain, calls = fresh_tiny("LLaMA"), []
    plain.register_forward_hook(lambda *call: calls.append(1))
    plain.generate(X, 3, False)
    assert len(calls) == 3
