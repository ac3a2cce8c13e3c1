"""The models to measure, ours and the same one in transformers and, where it is installed, in litgpt."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from llm_gen import GPT2, generate, load_model
from llm_gen.weights.smollm2 import fetch

GPT2_SMALL = {
    "vocab_size": 50257,
    "embed_dim": 768,
    "num_heads": 12,
    "num_layers": 12,
    "max_position_embeddings": 1024,
    "dropout": 0.0,
}
TOP_P = 0.9


@dataclass(frozen=True)
class Pair:
    """One model twice; `large`: a token takes tens of milliseconds."""

    name: str
    ours: Any
    theirs: Any
    large: bool


@cache
def pair(name: str) -> Pair:
    """ "tiny", "smollm2" or "gpt2" (random weights of that size)."""
    torch.manual_seed(0)
    makers = {"tiny": _tiny, "smollm2": _smollm2, "gpt2": _gpt2}
    ours, theirs = makers[name]()
    theirs.generation_config.eos_token_id = None
    return Pair(name, ours, theirs.eval(), large=name != "tiny")


def _tiny() -> tuple[Any, Any]:
    from transformers import LlamaForCausalLM

    model = load_model("tiny")
    theirs = LlamaForCausalLM(_llama_config(model.config))
    with torch.no_grad():
        for weight in theirs.parameters():  # as large as trained ones: what they say plays no part in the time
            weight.mul_(3.0)
    return model, theirs


def _llama_config(config: Any) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=config.vocab_size, hidden_size=config.embed_dim, intermediate_size=config.mlp_dim,
        num_hidden_layers=config.num_layers, num_attention_heads=config.num_heads,
        num_key_value_heads=config.num_kv_heads, head_dim=config.head_size, rms_norm_eps=config.norm_eps,
        max_position_embeddings=config.max_position_embeddings, tie_word_embeddings=config.tie_embeddings,
        bos_token_id=None, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip


def _smollm2() -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM

    file = fetch()
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar that no setting turns off
        theirs = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    return load_model("smollm2"), theirs


def _gpt2() -> tuple[Any, Any]:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2(GPT2_SMALL).eval(), GPT2LMHeadModel(GPT2Config(bos_token_id=None, eos_token_id=None))


def prompt(vocab_size: int, batch: int, length: int) -> Tensor:
    """Random ids (B, P), the same in every run."""
    return torch.randint(3, vocab_size, (batch, length), generator=torch.Generator().manual_seed(length))


def writer(model: Any, ids: Tensor, tokens: int, sampled: bool = False, **more: Any) -> Callable[[], Tensor]:
    """A run of ours that writes so many tokens after ids (B, P)."""
    settings = {"top_p": TOP_P} if sampled else {}
    return lambda: generate(model, ids, tokens, sampled, **settings, **more)


def their_writer(model: Any, ids: Tensor, tokens: int, sampled: bool = False, **more: Any) -> Callable[[], Tensor]:
    """The same by transformers' `generate`; cache_implementation="static" for its static cache."""
    settings = {"do_sample": sampled, "top_k": 0 if sampled else None, "top_p": TOP_P if sampled else None}
    fixed = {"attention_mask": torch.ones_like(ids), "pad_token_id": 0, "max_new_tokens": tokens}
    return lambda: model.generate(ids, **fixed, **settings, **more)


def litgpt_writer(config: Any, ids: Tensor, tokens: int) -> Callable[[], Tensor] | None:
    """litgpt's own greedy loop on random weights of the same sizes; None without litgpt, or for another family."""
    try:
        from litgpt import GPT, Config
        from litgpt.generate.base import generate as write
    except ImportError:
        return None
    if config.norm != "rms" or len(ids) != 1:
        return None
    sizes = Config(
        block_size=config.max_position_embeddings, vocab_size=config.vocab_size, padded_vocab_size=config.vocab_size,
        n_layer=config.num_layers, n_head=config.num_heads, n_query_groups=config.num_kv_heads,
        n_embd=config.embed_dim, head_size=config.head_size, intermediate_size=config.mlp_dim,
        rotary_percentage=1.0, parallel_residual=False, bias=False, norm_class_name="RMSNorm",
        mlp_class_name="LLaMAMLP",
    )  # fmt: skip
    model = GPT(sizes).eval()
    model.max_seq_length = ids.shape[1] + tokens
    model.set_kv_cache(batch_size=1)
    return lambda: write(model, ids[0], ids.shape[1] + tokens, temperature=0.0, top_p=0.0)
