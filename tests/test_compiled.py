"""Compiled decoding: the same tokens, one compilation for texts of any length, and a clear word where it cannot be."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from multiprocessing import get_context

import pytest
import torch
from stubs import FAMILIES, ROWS, fresh_tiny, pad_left
from torch._inductor import cpp_builder

from llm_gen import compiled, generate
from llm_gen.compiled import compile_decoding


def has_compiler() -> bool:
    try:
        return bool(cpp_builder.get_cpp_compiler())
    except Exception:
        return False


def compiled_beside_plain() -> list[bool]:
    """Whether the texts are equal: one row past several sizes of storage, and padded rows."""
    torch._dynamo.config.fail_on_recompile_limit_hit = True  # otherwise it would go on without compiling
    equal = []
    for family in ("LLaMA", "Mistral"):  # the second turns its cache round
        model = fresh_tiny(family, 200, num_layers=1).requires_grad_(False)
        x, (ids, mask) = torch.tensor([ROWS[2]]), pad_left(ROWS)
        alone, together = generate(model, x, 130, False), generate(model, ids, 20, False, attention_mask=mask)
        several = generate(model, ids, 9, False)
        compile_decoding(model)
        equal += [generate(model, x, 130, False).equal(alone), generate(model, ids, 9, False).equal(several)]
        equal += [generate(model, ids, 20, False, attention_mask=mask).equal(together)]
    return equal


@pytest.mark.slow
@pytest.mark.skipif(not has_compiler(), reason="no C++ compiler here")
def test_tokens_are_the_same_through_growing_storage_and_a_turning_ring():
    # In a process of its own: the compiler refuses one in which distutils was imported before setuptools.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        assert fresh.submit(compiled_beside_plain).result() == [True] * 6


@pytest.fixture
def not_compiling(monkeypatch):
    """The same arithmetic over all of the storage, run as it is written: all shapes in no time."""
    monkeypatch.setattr(torch, "compile", lambda function, **options: function)
    monkeypatch.setattr(compiled, "_check_compiler", lambda: None)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("padded", [False, True])
def test_what_is_compiled_gives_the_same_tokens(family, rows, padded, not_compiling):
    model = fresh_tiny(family, 80).requires_grad_(False)
    ids, mask = pad_left(ROWS[:rows])
    mask = mask if padded else None
    text = generate(model, ids, 70, False, attention_mask=mask)
    assert generate(compile_decoding(model), ids, 70, False, attention_mask=mask).equal(text)


def test_a_copy_of_a_compiled_model_writes_with_its_own_weights(not_compiling):
    model, other = compile_decoding(fresh_tiny("LLaMA")), fresh_tiny("LLaMA", seed=5)
    x = torch.tensor([ROWS[2]])
    text, wanted = generate(model, x, 9, False), generate(other, x, 9, False)
    twin = deepcopy(model)
    twin.load_state_dict(other.state_dict())
    assert not text.equal(wanted)
    assert generate(twin, x, 9, False).equal(wanted) and generate(model, x, 9, False).equal(text)


def test_without_a_compiler_it_says_what_is_missing(monkeypatch):
    def none_found():
        raise RuntimeError("No working C++ compiler found")

    monkeypatch.setattr(cpp_builder, "get_cpp_compiler", none_found)
    with pytest.raises(RuntimeError, match=r"needs a C\+\+ compiler .* none was found"):
        compile_decoding(fresh_tiny("LLaMA"))


def test_a_model_that_must_be_called_is_refused():
    model = fresh_tiny("LLaMA")
    model.blocks[0].register_forward_hook(lambda *call: None)
    with pytest.raises(ValueError, match="without hooks"):
        compile_decoding(model)
