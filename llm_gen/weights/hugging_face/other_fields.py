"""Fields of a config.json that are no size and no choice of ours.

Such a field must have one value (DEMANDED) or changes no logit (HARMLESS). Whatever is in neither, and no field of
the family either, is refused by its name.
"""

from __future__ import annotations

from typing import Any

# null means "none" or "derive it" here; anywhere else it is no value.
NULLABLE = {"num_key_value_heads", "head_dim", "n_inner", "sliding_window", "rope_scaling"}

# Fields that would change the logits in a way that ModelConfig cannot say: only this value is accepted.
DEMANDED: dict[str, Any] = {
    "add_cross_attention": False,
    "attention_bias": False,
    "is_causal": True,
    "is_encoder_decoder": False,
    "mlp_bias": False,
    "partial_rotary_factor": 1,
    "pruned_heads": {},
    "rope_interleaved": False,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
    "use_bidirectional_attention": False,
}

_BOOKKEEPING = """
    _name_or_path architectures dtype is_decoder is_llama_config model_type name_or_path tie_encoder_decoder
    tokenizer_class torch_dtype torchscript transformers_version transformers.js_config unsloth_fixed
    unsloth_version use_bfloat16
"""
# Dropout acts in training only; a loaded model has none.
_TRAINING = """
    attention_dropout attn_pdrop embd_pdrop gradient_checkpointing initializer_range output_router_logits
    resid_pdrop router_aux_loss_coef router_jitter_noise tf_legacy_loss
"""
# How the same numbers are reached: caches, precision inside attention, split products, extra outputs.
_COMPUTATION = """
    _attn_implementation attn_implementation chunk_size_feed_forward output_attentions output_hidden_states
    pretraining_tp reorder_and_upcast_attn return_dict use_cache use_return_dict
"""
# Sizes that tensors repeat or that nothing reads any more.
_REPEATED = "max_sequence_length n_ctx n_special predict_special_tokens"
_OTHER_HEADS = """
    finetuning_task id2label label2id num_labels problem_type summary_activation summary_first_dropout
    summary_proj_to_labels summary_type summary_use_proj
"""
# Settings of generate(), which is given its own.
_GENERATION = """
    bad_words_ids begin_suppress_tokens bos_token_id decoder_start_token_id diversity_penalty do_sample
    early_stopping encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty forced_bos_token_id
    forced_eos_token_id length_penalty max_length min_length no_repeat_ngram_size num_beam_groups num_beams
    num_return_sequences output_scores pad_token_id prefix remove_invalid_values repetition_penalty
    return_dict_in_generate sep_token_id suppress_tokens task_specific_params temperature top_k top_p typical_p
    unk_token_id
"""
HARMLESS = frozenset(" ".join((_BOOKKEEPING, _TRAINING, _COMPUTATION, _REPEATED, _OTHER_HEADS, _GENERATION)).split())
