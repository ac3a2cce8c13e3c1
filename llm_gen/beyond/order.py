"""The order in which the loop applies what was plugged in, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from llm_gen.sampling import validate_sampling_args
from llm_gen.steps import Processor, function_name


def describe_order(
    do_sample: bool,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    processors: Sequence[Processor] = (),
    warpers: Sequence[Processor] = (),
) -> str:
    """What `generate` does with the logits under these settings, first to last.

    Greedy ignores temperature, filters and warpers, so they are not shown. Raises like `validate_sampling_args`.
    """
    validate_sampling_args(do_sample, temperature, top_k, top_p)
    parts = ["logits", *map(function_name, processors)]
    if not do_sample:
        return " -> ".join([*parts, "largest"])
    filters = {"top_k": top_k, "top_p": top_p}
    parts.append(f"temperature={temperature}")
    parts += [f"{name}={value}" for name, value in filters.items() if value is not None]
    return " -> ".join([*parts, *map(function_name, warpers), "draw"])
