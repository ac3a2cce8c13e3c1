"""The six families as the choices that differ from ModelConfig's defaults, one row each.

A row fills in what a user's config leaves out; nothing else in the package looks at a family's name.
Sources: GPT (Radford 2018), GPT-2 (Radford 2019), LLaMA arXiv:2302.13971, Mistral arXiv:2310.06825,
Mixtral arXiv:2401.04088, Gemma arXiv:2403.08295.
"""

from __future__ import annotations

from typing import Any

_GPT: dict[str, Any] = {
    "positions": "learned",
    "norm": "layer",
    "activation": "gelu_tanh",
    "gated_mlp": False,
    "qkv_bias": True,
    "attention_out_bias": True,
    "mlp_bias": True,
    "tie_embeddings": True,
}

FAMILIES: dict[str, dict[str, Any]] = {
    "GPT": {**_GPT, "pre_norm": False},
    "GPT2": _GPT,
    "LLaMA": {},
    "Mistral": {"window_size": 4096},
    "Mixtral": {"num_experts": 8, "top_k_experts": 2, "rope_theta": 1e6},
    "Gemma": {
        "activation": "gelu_tanh",
        "norm_adds_one": True,
        "norm_eps": 1e-6,
        "tie_embeddings": True,
        "scale_embeddings": True,
    },
}
