"""A model without weights, for loaders to fill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from llm_gen.checks import CheckpointError
from llm_gen.config import ModelConfig
from llm_gen.model import DecoderLM

_INITS = torch.nn.init
_DRAWS = (_INITS.normal_, _INITS.uniform_, _INITS.kaiming_uniform_, Tensor.normal_, Tensor.uniform_)


class _WithoutDrawing(TorchFunctionMode):
    """Skips random initial weights: they would be thrown away, and drawing them on "meta" imports for seconds."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in _DRAWS:
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def blank_model(config: ModelConfig, path: str | Path = "the config") -> DecoderLM:
    """A model whose parameters have a name and a shape and take no memory: fill it with
    `model.load_state_dict(weights, assign=True)`. CheckpointError naming `path` if no tensor can have its sizes."""
    try:
        with torch.device("meta"), _WithoutDrawing():
            return DecoderLM(config)
    except (RuntimeError, TypeError):  # a number of cells, or a length, beyond 64 bits
        raise CheckpointError(f"{path} describes no usable model: it is too large to be one") from None


def check_count(path: Path, config: ModelConfig, count: int) -> None:
    """Stops an absurd config before a model of that many blocks is built: `path` holds `count` tensors."""
    blocks = config.num_layers * (config.num_experts or 1)
    if blocks > count:
        raise CheckpointError(f"{path} holds {count} tensors, too few for {blocks} blocks or experts")
