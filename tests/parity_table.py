"""This package beside transformers on tiny random models: `python -m tests.parity_table` prints two tables.

The first is about the models; test_parity.py asserts each line of it. The second, about `llm_gen.beyond`, is made in
parity_beyond.py. Weights are normal with deviation 0.35: with the usual 0.02 the likeliest
token hardly depends on the text, and faults stay hidden.
"""

from __future__ import annotations

import copy
import sys
import tempfile
import zlib
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from llm_gen import DecoderLM
from llm_gen.weights.hugging_face import load_hugging_face

BOUND = 1e-5  # for a logit of up to 2; in proportion to the largest logit above that
NEW_TOKENS = 64
LENGTHS = (5, 24, 13)
VOCABULARY, CONTEXT = 61, 96
SIZES = {"vocab_size": VOCABULARY, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GPT_SIZES = SIZES | {"n_positions": CONTEXT, "n_embd": 16, "n_layer": 2, "n_head": 4}
LLAMA_SIZES = SIZES | {
    "max_position_embeddings": CONTEXT,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}


@dataclass(frozen=True)
class Case:
    """One model: its family, what is special about it, its config, and how the folder is written."""

    family: str
    name: str
    config: dict[str, Any]
    dtype: torch.dtype = torch.float32
    save: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.family}-{self.name.replace(' ', '_')}"


CASES = [
    Case("OpenAIGPT", "post-norm", GPT_SIZES),
    Case("OpenAIGPT", "relu, eps 1e-2", GPT_SIZES | {"afn": "relu", "layer_norm_epsilon": 1e-2}),
    Case("OpenAIGPT", "silu, untied", GPT_SIZES | {"afn": "silu", "tie_word_embeddings": False}),
    Case("GPT2", "gelu_new", GPT_SIZES),
    Case("GPT2", "erf gelu, n_inner, eps 1e-2", GPT_SIZES
         | {"activation_function": "gelu", "n_inner": 40, "layer_norm_epsilon": 1e-2}),
    Case("GPT2", "untied, shards", GPT_SIZES | {"tie_word_embeddings": False}, save={"max_shard_size": "5KB"}),
    Case("Llama", "4 heads", LLAMA_SIZES | {"num_key_value_heads": 4}),
    Case("Llama", "2 kv heads, head_dim 6", LLAMA_SIZES | {"head_dim": 6, "rms_norm_eps": 1e-2}),
    Case("Llama", "1 kv head, theta 500, tied", LLAMA_SIZES
         | {"num_key_value_heads": 1, "rope_theta": 500.0, "tie_word_embeddings": True}),
    Case("Llama", "llama3 rope, biases", LLAMA_SIZES
         | {"rope_scaling": LLAMA3, "rope_theta": 5e5, "attention_bias": True, "mlp_bias": True}),
    Case("Llama", "linear rope, shards", LLAMA_SIZES | {"rope_scaling": {"rope_type": "linear", "factor": 4.0}},
         save={"max_shard_size": "5KB"}),
    Case("Llama", "bfloat16 folder", LLAMA_SIZES, dtype=torch.bfloat16),
    Case("Mistral", "window 7", LLAMA_SIZES | {"sliding_window": 7}),
    Case("Mistral", "window 24, head_dim 8", LLAMA_SIZES | {"sliding_window": 24, "head_dim": 8}),
    Case("Mistral", "no window, gelu", LLAMA_SIZES | {"sliding_window": None, "hidden_act": "gelu"}),
    Case("Mixtral", "2 of 4 experts", LLAMA_SIZES | {"num_local_experts": 4}),
    Case("Mixtral", "3 of 5, window 9, shards", LLAMA_SIZES
         | {"num_local_experts": 5, "num_experts_per_tok": 3, "sliding_window": 9}, save={"max_shard_size": "5KB"}),
    Case("Mixtral", "joined experts, head_dim 8", LLAMA_SIZES | {"num_local_experts": 4, "head_dim": 8},
         save={"save_original_format": False}),
    Case("Gemma", "1 kv head, head_dim 8", LLAMA_SIZES | {"num_key_value_heads": 1, "head_dim": 8}),
    Case("Gemma", "untied, biases, eps 1e-2", LLAMA_SIZES
         | {"head_dim": 8, "tie_word_embeddings": False, "attention_bias": True, "rms_norm_eps": 1e-2}),
    Case("Gemma", "bfloat16 folder, linear rope", LLAMA_SIZES
         | {"head_dim": 8, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}, dtype=torch.bfloat16),
]  # fmt: skip


@dataclass(frozen=True)
class Result:
    """difference: the largest between two logits, largest: the largest logit, tokens: greedy tokens that agree."""

    difference: float
    largest: float
    compared: int
    agreeing: int


def make_reference(case: Case) -> PreTrainedModel:
    """The model of transformers in eval mode and float32, its weights rounded to the dtype of the case."""
    # A copy, because transformers writes into what it is given.
    config = getattr(transformers, f"{case.family}Config")(**deepcopy(case.config))
    head = "LMHeadModel" if "GPT" in case.family else "ForCausalLM"
    model = getattr(transformers, f"{case.family}{head}")(config).eval()
    generator = torch.Generator().manual_seed(zlib.crc32(str(case).encode()))
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            tensor.normal_(std=0.35, generator=generator)
            if tensor.ndim == 1 and name.endswith("weight") and case.family != "Gemma":
                tensor += 1  # a norm
            tensor.copy_(tensor.to(case.dtype))  # model.to(dtype) would round the rotary angles too
    return model


def save_reference(model: PreTrainedModel, case: Case, folder: Path) -> None:
    copy.deepcopy(model).to(case.dtype).save_pretrained(folder, **case.save)


def make_batch() -> tuple[Tensor, Tensor]:
    """Ids (3, 24) and mask: three texts, padded on the left with an id that is also text."""
    ids = torch.randint(VOCABULARY, (len(LENGTHS), max(LENGTHS)), generator=torch.Generator().manual_seed(1))
    mask = torch.arange(max(LENGTHS)) >= max(LENGTHS) - torch.tensor(LENGTHS)[:, None]
    return ids.masked_fill(~mask, 7), mask.long()


@torch.no_grad()
def compare(reference: PreTrainedModel, ours: DecoderLM) -> Result:
    ids, mask = make_batch()
    padded = reference(ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0)).logits
    plain = reference(ids).logits
    real = mask.bool()
    differences = (ours(ids) - plain).abs().max(), (ours(ids, attention_mask=mask) - padded)[real].abs().max()
    expected = greedy_by_reference(reference, ids, mask)
    pairs = [
        (ours.generate(ids, NEW_TOKENS, False, attention_mask=mask), expected),
        (ours.generate(ids, NEW_TOKENS, False, attention_mask=mask, use_cache=False), expected),
        (ours.generate(ids[1:2], NEW_TOKENS, False), expected[1:2]),  # the row without padding, alone
    ]
    return Result(
        difference=float(max(differences)),
        largest=float(max(plain.abs().max(), padded[real].abs().max())),
        compared=sum(theirs[:, ids.shape[1] :].numel() for _, theirs in pairs),
        agreeing=sum(int((mine == theirs)[:, ids.shape[1] :].sum()) for mine, theirs in pairs),
    )


def greedy_by_reference(model: PreTrainedModel, ids: Tensor, mask: Tensor) -> Tensor:
    return model.generate(ids, attention_mask=mask, max_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=0)


def measure(case: Case, folder: Path) -> Result:
    reference = make_reference(case)
    save_reference(reference, case, folder)
    return compare(reference, load_hugging_face(folder))


def main() -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    print(f"| family | case | largest logit | largest difference | greedy tokens equal |\n|{' --- |' * 5}")
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(case, Path(folder))
        print(
            f"| {case.family} | {case.name} | {result.largest:.1f} | {result.difference:.1e} | "
            f"{result.agreeing} of {result.compared} |",
            flush=True,
        )
    # As a module of the folder above it, this file does not see the ones beside it.
    sys.path.insert(0, str(Path(__file__).parent))
    from parity_beyond import print_table

    print_table()


if __name__ == "__main__":
    main()
