"""Beyond greedy and top-p: what is used in practice, each method a plain function for one place in the loop.

Processors come before the temperature, warpers after top-p; both are functions (ids (B, S), logits (B, V)) -> logits.
`functools.partial` sets their numbers, and a function of your own goes in the same way:

    no_loops, no_noise = partial(repetition_penalty, penalty=1.2), partial(min_p, share=0.1)
    generate(model, x, 50, True, processors=[no_loops], warpers=[no_noise])

Searches take the same processors: `beam_search` and its `beam_steps`, `contrastive_search`, `best_of`.
`speculative_generate` writes what `generate` would, in fewer passes of the model; it is drafted for by a smaller model,
by `prompt_lookup` or by `corpus_lookup`.
"""

from llm_gen.beyond.beam import BeamResult, BeamStep, beam_search, beam_steps
from llm_gen.beyond.best_of import BestOf, best_of
from llm_gen.beyond.contrastive import contrastive_search
from llm_gen.beyond.detect import Finding, Loop, Trace, diagnose, find_loop, record_trace
from llm_gen.beyond.lookup import corpus_lookup, prompt_lookup
from llm_gen.beyond.order import describe_order
from llm_gen.beyond.penalties import (
    ban_tokens,
    bias_logits,
    force_tokens,
    frequency_penalty,
    minimum_length,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
)
from llm_gen.beyond.speculative import (
    Round,
    SpeculativeResult,
    accept,
    expected_tokens,
    residual,
    speculative_generate,
)
from llm_gen.beyond.warpers import Mirostat, epsilon_cut, eta_cut, min_p, top_n_sigma, typical

__all__ = [
    "BeamResult",
    "BeamStep",
    "BestOf",
    "Finding",
    "Loop",
    "Mirostat",
    "Round",
    "SpeculativeResult",
    "Trace",
    "accept",
    "ban_tokens",
    "beam_search",
    "beam_steps",
    "best_of",
    "bias_logits",
    "contrastive_search",
    "corpus_lookup",
    "describe_order",
    "diagnose",
    "epsilon_cut",
    "eta_cut",
    "expected_tokens",
    "find_loop",
    "force_tokens",
    "frequency_penalty",
    "min_p",
    "minimum_length",
    "no_repeat_ngram",
    "presence_penalty",
    "prompt_lookup",
    "record_trace",
    "repetition_penalty",
    "residual",
    "speculative_generate",
    "top_n_sigma",
    "typical",
]
