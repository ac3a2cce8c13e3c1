"""The six families as Hugging Face folders spell them: tables of config fields and tensor names, no code.

Defaults are those of transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NEEDED = object()  # in place of a default: the field has none


@dataclass(frozen=True)
class Family:
    """One family.

    architecture: the class in transformers. fields: config field -> (our fields, value when absent).
    settled: what the family decides for all its models. activations: their name -> ours; the first one that fits
    is written. outer, inner: our module -> their modules whose rows it joins, the inner ones inside a block.
    prefix: what stands before all names but the head's, or does not. renames: other spellings of inner names.
    transposed: the linear layers of a block are stored as (in, out). whole_heads: transformers refuses a hidden
    size that is no multiple of the heads. written: further fields to save, so that no default slips in.
    """

    architecture: str
    prefix: str
    fields: Mapping[str, tuple[str, Any]]
    settled: Mapping[str, Any]
    outer: Mapping[str, str]
    block: str
    inner: Mapping[str, tuple[str, ...]]
    activations: Mapping[str, str]
    renames: Mapping[str, str] = field(default_factory=dict)
    transposed: bool = False
    whole_heads: bool = False
    written: Mapping[str, Any] = field(default_factory=dict)


ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
}

# ---- GPT and GPT-2

_GPT_FIELDS = {
    "vocab_size": ("vocab_size", NEEDED),
    "n_embd": ("embed_dim", NEEDED),
    "n_head": ("num_heads", NEEDED),
    "n_layer": ("num_layers", NEEDED),
    "n_positions": ("max_position_embeddings", NEEDED),
    "layer_norm_epsilon": ("norm_eps", 1e-5),
    "tie_word_embeddings": ("tie_embeddings", True),
}
_GPT_SETTLED = {
    "positions": "learned",
    "norm": "layer",
    "gated_mlp": False,
    "qkv_bias": True,
    "attention_out_bias": True,
    "mlp_bias": True,
}
_GPT_INNER = {
    "attn_norm": ("ln_1",),
    "attn.qkv": ("attn.c_attn",),
    "attn.out": ("attn.c_proj",),
    "mlp_norm": ("ln_2",),
    "mlp.up": ("mlp.c_fc",),
    "mlp.down": ("mlp.c_proj",),
}
_GPT_WRITTEN = {"embd_pdrop": 0.0, "resid_pdrop": 0.0, "attn_pdrop": 0.0}

_GPT = Family(
    architecture="OpenAIGPTLMHeadModel",
    prefix="transformer.",
    fields={**_GPT_FIELDS, "afn": ("activation", "gelu")},
    settled={**_GPT_SETTLED, "pre_norm": False},
    outer={"embed": "tokens_embed", "positions": "positions_embed", "head": "lm_head"},
    block="h",
    inner=_GPT_INNER,
    # This family's "gelu" has always been the tanh form.
    activations={"gelu": "gelu_tanh", "relu": "relu", "silu": "silu", "swish": "silu"},
    transposed=True,
    written=_GPT_WRITTEN,
)
_GPT2 = Family(
    architecture="GPT2LMHeadModel",
    prefix="transformer.",
    fields={
        **_GPT_FIELDS,
        "n_inner": ("mlp_dim", None),
        "activation_function": ("activation", "gelu_new"),
    },
    settled={**_GPT_SETTLED, "pre_norm": True},
    outer={"embed": "wte", "positions": "wpe", "final_norm": "ln_f", "head": "lm_head"},
    block="h",
    inner=_GPT_INNER,
    activations=ACTIVATIONS,
    transposed=True,
    written=_GPT_WRITTEN,
)

# ---- LLaMA and its kin

_LLAMA_FIELDS = {
    "vocab_size": ("vocab_size", NEEDED),
    "hidden_size": ("embed_dim", NEEDED),
    "intermediate_size": ("mlp_dim", NEEDED),
    "num_attention_heads": ("num_heads", NEEDED),
    "num_hidden_layers": ("num_layers", NEEDED),
    "max_position_embeddings": ("max_position_embeddings", NEEDED),
    "num_key_value_heads": ("num_kv_heads", None),
    "head_dim": ("head_size", None),
    "rms_norm_eps": ("norm_eps", 1e-6),
    "hidden_act": ("activation", "silu"),
    "rope_theta": ("rope_theta", 10000.0),
    "rope_scaling": ("rope_scaling", None),
    "tie_word_embeddings": ("tie_embeddings", False),
}
_ATTENTION_BIAS = {"attention_bias": ("qkv_bias attention_out_bias", False)}
_LLAMA_SETTLED = {"positions": "rope", "norm": "rms", "gated_mlp": True}
_LLAMA_OUTER = {"embed": "embed_tokens", "final_norm": "norm", "head": "lm_head"}
_ATTENTION = {
    "attn_norm": ("input_layernorm",),
    "attn.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attn.out": ("self_attn.o_proj",),
    "mlp_norm": ("post_attention_layernorm",),
}
_LLAMA_INNER = {**_ATTENTION, "mlp.up": ("mlp.gate_proj", "mlp.up_proj"), "mlp.down": ("mlp.down_proj",)}

_LLAMA = Family(
    architecture="LlamaForCausalLM",
    prefix="model.",
    fields={**_LLAMA_FIELDS, **_ATTENTION_BIAS, "mlp_bias": ("mlp_bias", False)},
    settled=_LLAMA_SETTLED,
    outer=_LLAMA_OUTER,
    block="layers",
    inner=_LLAMA_INNER,
    activations=ACTIVATIONS,
    whole_heads=True,
)
_MISTRAL = Family(
    architecture="MistralForCausalLM",
    prefix="model.",
    fields={
        **_LLAMA_FIELDS,
        "num_key_value_heads": ("num_kv_heads", 8),
        "sliding_window": ("window_size", 4096),
    },
    settled=_LLAMA_SETTLED,
    outer=_LLAMA_OUTER,
    block="layers",
    inner=_LLAMA_INNER,
    activations=ACTIVATIONS,
)
_MIXTRAL = Family(
    architecture="MixtralForCausalLM",
    prefix="model.",
    fields={
        **_LLAMA_FIELDS,
        "num_key_value_heads": ("num_kv_heads", 8),
        "rms_norm_eps": ("norm_eps", 1e-5),
        "rope_theta": ("rope_theta", 1e6),
        "sliding_window": ("window_size", None),
        "num_local_experts": ("num_experts", 8),
        "num_experts_per_tok": ("top_k_experts", 2),
    },
    settled=_LLAMA_SETTLED,
    outer=_LLAMA_OUTER,
    block="layers",
    inner={
        **_ATTENTION,
        "mlp.router": ("block_sparse_moe.gate",),
        "mlp.experts.{e}.up": ("block_sparse_moe.experts.{e}.w1", "block_sparse_moe.experts.{e}.w3"),
        "mlp.experts.{e}.down": ("block_sparse_moe.experts.{e}.w2",),
    },
    activations=ACTIVATIONS,
    renames={".mlp.": ".block_sparse_moe."},
)
_GEMMA = Family(
    architecture="GemmaForCausalLM",
    prefix="model.",
    fields={
        **_LLAMA_FIELDS,
        **_ATTENTION_BIAS,
        "num_key_value_heads": ("num_kv_heads", 16),
        "head_dim": ("head_size", 256),
        "hidden_act": ("activation", "gelu_pytorch_tanh"),
        "tie_word_embeddings": ("tie_embeddings", True),
    },
    settled={**_LLAMA_SETTLED, "norm_adds_one": True, "scale_embeddings": True},
    outer=_LLAMA_OUTER,
    block="layers",
    inner=_LLAMA_INNER,
    # Early releases say "gelu" and mean the tanh form; transformers reads it so.
    activations={"gelu_pytorch_tanh": "gelu_tanh", **ACTIVATIONS, "gelu": "gelu_tanh"},
)

FAMILIES: dict[str, Family] = {
    "openai-gpt": _GPT,
    "gpt2": _GPT2,
    "llama": _LLAMA,
    "mistral": _MISTRAL,
    "mixtral": _MIXTRAL,
    "gemma": _GEMMA,
}
