"""llm_gen: how a language model writes text. Small, exact and fast, in plain PyTorch."""

from llm_gen.attention import check_generation_mask
from llm_gen.cache import KVCache, cache_start_pos, check_sequence_length, kv_cache_bytes, token_passes
from llm_gen.checks import CheckpointError
from llm_gen.config import ModelConfig
from llm_gen.generation import generate, generate_steps, next_generation_input
from llm_gen.model import GPT, GPT2, DecoderLM, Gemma, LLaMA, Mistral, Mixtral
from llm_gen.rollout import RolloutBatch, batched_generate, compute_logprobs, generate_with_logprobs
from llm_gen.sampling import filter_logits, sample_next_token, validate_sampling_args
from llm_gen.steps import Step
from llm_gen.tokenizer import Tokenizer
from llm_gen.weights import load_model, load_tokenizer

__version__ = "0.1.0"
__all__ = [
    "GPT",
    "GPT2",
    "CheckpointError",
    "DecoderLM",
    "Gemma",
    "KVCache",
    "LLaMA",
    "Mistral",
    "Mixtral",
    "ModelConfig",
    "RolloutBatch",
    "Step",
    "Tokenizer",
    "batched_generate",
    "cache_start_pos",
    "check_generation_mask",
    "check_sequence_length",
    "compute_logprobs",
    "filter_logits",
    "generate",
    "generate_steps",
    "generate_with_logprobs",
    "kv_cache_bytes",
    "load_model",
    "load_tokenizer",
    "next_generation_input",
    "sample_next_token",
    "token_passes",
    "validate_sampling_args",
]
