"""The same folder gives the same logits and the same greedy text as transformers, family by family."""

from __future__ import annotations

import pytest
import torch
from parity_table import BOUND, CASES, CONTEXT, LENGTHS, NEW_TOKENS, measure

from llm_gen import GPT, GPT2, Gemma, LLaMA, Mistral, Mixtral, ModelConfig


@pytest.mark.parametrize("case", CASES, ids=str)
def test_logits_and_greedy_text_equal_transformers(case, tmp_path):
    """Rounding alone parts transformers' own two attention kernels by up to 1.3e-5 on these models, so above a
    logit of 2 the bound is relative."""
    result = measure(case, tmp_path)
    assert result.difference <= BOUND * max(1.0, result.largest / 2)
    assert result.agreeing == result.compared == NEW_TOKENS * (2 * len(LENGTHS) + 1)


def test_the_cases_reach_what_they_claim():
    """All six families; sliding windows shorter than the text; no reference cut by its context."""
    assert {case.family for case in CASES} == {"OpenAIGPT", "GPT2", "Llama", "Mistral", "Mixtral", "Gemma"}
    windows = [case.config["sliding_window"] for case in CASES if case.config.get("sliding_window")]
    assert len(windows) >= 3
    assert max(windows) < max(LENGTHS) + NEW_TOKENS <= CONTEXT
    assert min(windows) < min(LENGTHS) + NEW_TOKENS


@pytest.mark.parametrize("other", [GPT, GPT2, Mistral, Mixtral, Gemma])
@pytest.mark.parametrize("fields", [
    {"positions": "learned", "norm": "layer", "pre_norm": False, "gated_mlp": False, "activation": "gelu_tanh",
     "qkv_bias": True, "attention_out_bias": True, "mlp_bias": True, "tie_embeddings": True},
    {"num_kv_heads": 1, "head_size": 6, "window_size": 5, "rope_theta": 77.0, "num_experts": 3, "top_k_experts": 2},
    {"norm_adds_one": True, "norm_eps": 1e-3, "scale_embeddings": True, "activation": "gelu", "qkv_bias": True},
], ids=["like GPT", "like Mixtral", "like Gemma"])  # fmt: skip
def test_behaviour_comes_from_fields_and_not_from_the_name(fields, other):
    """Every field spelled out, so that a family's row has nothing left to fill in."""
    sizes = {"vocab_size": 23, "embed_dim": 16, "num_heads": 4, "num_layers": 2, "max_position_embeddings": 32}
    config = ModelConfig(**sizes, **fields).to_dict()
    one, two = LLaMA(config).eval(), other(config).eval()
    for tensor in one.parameters():
        torch.nn.init.normal_(tensor, std=0.35, generator=torch.Generator().manual_seed(tensor.numel()))
    two.load_state_dict(one.state_dict())
    ids = torch.arange(20)[None] % 23
    assert torch.equal(one(ids), two(ids))
    assert torch.equal(one.generate(ids, 20, False), two.generate(ids, 20, False))
