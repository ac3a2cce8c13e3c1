"""A step of decoding compiled by torch.compile: fewer, larger kernels, after a minute or more of compiling.

It pays off for long texts of one model, and needs a C++ compiler. The tokens are the same.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from llm_gen.cache import KVCache
from llm_gen.decode import Decoder
from llm_gen.model import DecoderLM


def compile_decoding(model: DecoderLM) -> DecoderLM:
    """The model itself, whose single tokens are now computed by compiled code, with the weights it has at this time.

    Compiling happens at the first token, and again for another batch size. A deep copy is not compiled. Raises
    RuntimeError where there is no C++ compiler, and ValueError for a model that must be called as it is (a forward of
    its own, hooks, dropout, several dtypes).
    """
    if not Decoder.fits(model):
        raise ValueError("model must be one of llm_gen's own, without hooks, in eval mode, in one dtype")
    _check_compiler()
    decoder = CompiledDecoder(model)
    model.make_decoder = lambda owner: decoder if owner is model else Decoder(owner)
    return model


class CompiledDecoder(Decoder):
    """A Decoder whose arithmetic is one function of tensors of few shapes: it sees all of the cache's storage, and a
    bias hides what of it has not been written."""

    def __init__(self, model: DecoderLM) -> None:
        super().__init__(model)
        self._compiled = torch.compile(self._over_storage)

    def __call__(self, ids: Tensor, cache: KVCache) -> Tensor:
        position, bias = self._look(cache)
        if isinstance(position, int):  # a number would be compiled into the code
            position = torch.tensor([position], device=ids.device)
        seen = cache.reserve_columns(1)
        storage = cache.keys.shape[3]
        written = torch.zeros((1, 1, 1, seen), dtype=cache.keys.dtype, device=ids.device) if bias is None else bias
        bias = F.pad(written, (0, storage - seen), value=-torch.inf)
        slot = torch.tensor([cache.length % cache.slots], device=ids.device)
        ids = ids.clone(memory_format=torch.contiguous_format)  # where it lies in the text would be compiled in
        for tensor in (bias, cache.keys, cache.values):  # as wide as the storage, the only size that grows
            torch._dynamo.mark_dynamic(tensor, 3)
        with torch.no_grad():
            logits = self._compiled(ids, position, bias, slot, cache.keys, cache.values)
        cache.advance(1)
        return logits

    def _over_storage(self, ids, position, bias, slot, keys, values) -> Tensor:
        places = [(keys[layer], values[layer], slot) for layer in range(len(self.layers))]
        return self._run(ids, position, bias, places)

    def _attend(self, qkv, turn, bias, keys, values, slot) -> Tensor:
        q, k, v = self._heads(qkv, turn)
        keys.index_copy_(2, slot, k[:, :, None])
        values.index_copy_(2, slot, v[:, :, None])
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=bias).reshape(len(qkv), -1)


def _check_compiler() -> None:
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        get_cpp_compiler()
    except Exception:  # its class has moved between versions of torch
        raise RuntimeError(
            "compile_decoding needs a C++ compiler (g++, clang++ or cl), and none was found: "
            "install one, or generate without compiling; the tokens are the same"
        ) from None
