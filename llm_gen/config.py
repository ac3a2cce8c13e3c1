"""ModelConfig: the sizes and choices of one model, validated once, so that no later code has to ask again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import Any

from llm_gen.checks import check_flag, check_integer, check_mapping, check_real

CHOICES = {
    "positions": ("rope", "learned"),
    "norm": ("rms", "layer"),
    "activation": ("silu", "gelu", "gelu_tanh", "relu"),
}
COUNTS = ("vocab_size", "embed_dim", "num_heads", "num_layers", "max_position_embeddings")
OPTIONAL_COUNTS = ("num_kv_heads", "head_size", "mlp_dim", "window_size", "num_experts", "top_k_experts")
FLAGS = (
    "norm_adds_one",
    "pre_norm",
    "gated_mlp",
    "qkv_bias",
    "attention_out_bias",
    "mlp_bias",
    "tie_embeddings",
    "scale_embeddings",
)
ROPE_SCALING_KEYS = {
    "linear": {"factor"},
    "llama3": {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
}


@dataclass(frozen=True)
class ModelConfig:
    """What one decoder is made of. The defaults describe a LLaMA-style block.

    num_kv_heads: key/value heads, default num_heads (arXiv:2305.13245). head_size: default embed_dim / num_heads.
    mlp_dim: inner width of the MLP, default 4 * embed_dim, or 8/3 of it when gated (arXiv:2002.05202).
    positions: "rope" (arXiv:2104.09864) or "learned". rope_scaling: None, or a dict of Hugging Face's form with
    rope_type "linear" or "llama3". norm_adds_one: RMSNorm multiplies by 1 + weight. pre_norm=False: the norm
    follows the residual sum and there is no final norm. scale_embeddings: by sqrt(embed_dim).
    window_size: a token sees itself and the window_size - 1 tokens before it. num_experts and top_k_experts:
    mixture of experts in place of the MLP (arXiv:2401.04088).

    Raises TypeError or ValueError naming the field, the rule and the value.
    """

    vocab_size: int
    embed_dim: int
    num_heads: int
    num_layers: int
    max_position_embeddings: int
    dropout: float = 0.0
    num_kv_heads: int | None = None
    head_size: int | None = None
    mlp_dim: int | None = None
    positions: str = "rope"
    rope_theta: float = 10000.0
    rope_scaling: Mapping[str, Any] | None = None
    norm: str = "rms"
    norm_eps: float = 1e-5
    norm_adds_one: bool = False
    pre_norm: bool = True
    activation: str = "silu"
    gated_mlp: bool = True
    qkv_bias: bool = False
    attention_out_bias: bool = False
    mlp_bias: bool = False
    tie_embeddings: bool = False
    scale_embeddings: bool = False
    window_size: int | None = None
    num_experts: int | None = None
    top_k_experts: int | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """A config from a mapping (else TypeError); ValueError names unknown and missing fields."""
        check_mapping("config", values)
        known = [field.name for field in fields(cls)]
        unknown = sorted(str(name) for name in values if name not in known)
        if unknown:
            raise ValueError(f"config must hold only known fields, got {', '.join(unknown)}")
        missing = [name for name in COUNTS if name not in values]
        if missing:
            raise ValueError(f"config must hold {', '.join(COUNTS)}, missing {', '.join(missing)}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """All fields, derived defaults filled in; `from_dict` reads it back."""
        return asdict(self)

    def __post_init__(self) -> None:
        for name in COUNTS:
            self._set(name, check_integer(name, getattr(self, name), minimum=1))
        self._derive_sizes()
        for name in OPTIONAL_COUNTS:
            if getattr(self, name) is not None:
                self._set(name, check_integer(name, getattr(self, name), minimum=1))
        for name in FLAGS:
            self._set(name, check_flag(name, getattr(self, name)))
        self._check_choices()
        self._check_numbers()
        self._check_heads()
        self._check_experts()
        self._check_rope_scaling()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _derive_sizes(self) -> None:
        if self.num_kv_heads is None:
            self._set("num_kv_heads", self.num_heads)
        if self.head_size is None:
            if self.embed_dim % self.num_heads:
                raise ValueError(
                    f"embed_dim must be a multiple of num_heads unless head_size is given, "
                    f"got {self.embed_dim} and {self.num_heads}"
                )
            self._set("head_size", self.embed_dim // self.num_heads)
        if self.mlp_dim is None:
            self._set("mlp_dim", max(1, 8 * self.embed_dim // 3) if self.gated_mlp else 4 * self.embed_dim)

    def _check_choices(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str):
                raise TypeError(f"{name} must be a string, one of {', '.join(allowed)}, got {value!r}")
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")

    def _check_numbers(self) -> None:
        for name in ("dropout", "rope_theta", "norm_eps"):
            self._set(name, check_real(name, getattr(self, name)))
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout}")
        for name in ("rope_theta", "norm_eps"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be > 0, got {getattr(self, name)}")

    def _check_heads(self) -> None:
        if self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_heads must be a multiple of num_kv_heads, got {self.num_heads} and {self.num_kv_heads}"
            )
        if self.positions == "rope" and self.head_size % 2:
            raise ValueError(f"head_size must be even for rotary positions, got {self.head_size}")
        if self.norm_adds_one and self.norm != "rms":
            raise ValueError(f"norm_adds_one must go with norm 'rms', got norm {self.norm!r}")

    def _check_experts(self) -> None:
        if (self.num_experts is None) != (self.top_k_experts is None):
            raise ValueError(
                f"num_experts and top_k_experts must be given together, got {self.num_experts} and {self.top_k_experts}"
            )
        if self.num_experts is not None and self.top_k_experts > self.num_experts:
            raise ValueError(f"top_k_experts must be <= num_experts {self.num_experts}, got {self.top_k_experts}")

    def _check_rope_scaling(self) -> None:
        if self.rope_scaling is None:
            return
        if self.positions != "rope":
            raise ValueError(f"rope_scaling must go with positions 'rope', got positions {self.positions!r}")
        # A copy: the caller's dict may change, the model may not.
        self._set("rope_scaling", _plain_scaling(dict(check_mapping("rope_scaling", self.rope_scaling))))


def _plain_scaling(scaling: dict[str, Any]) -> dict[str, Any]:
    """The same fields, checked, with Python's own numbers: what is no whole number becomes a float."""
    needed = ROPE_SCALING_KEYS.get(str(scaling.get("rope_type")))
    if needed is None or set(scaling) != needed | {"rope_type"}:
        raise ValueError(
            f"rope_scaling must have rope_type linear (factor) or llama3 "
            f"({', '.join(sorted(ROPE_SCALING_KEYS['llama3']))}) and nothing else, got {scaling!r}"
        )
    plain = {name: _positive(name, value) if name in needed else str(value) for name, value in scaling.items()}
    if plain["rope_type"] == "llama3" and plain["high_freq_factor"] <= plain["low_freq_factor"]:
        raise ValueError(f"rope_scaling high_freq_factor must be > low_freq_factor, got {scaling!r}")
    return plain


def _positive(name: str, value: object) -> float:
    number = check_real(f"rope_scaling {name}", value)
    if number <= 0:
        raise ValueError(f"rope_scaling {name} must be > 0, got {value!r}")
    return int(value) if isinstance(value, Integral) else number
