"""Several answers side by side, as wide as the terminal allows."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from llm_gen.answer import Answer, TextSettings
from llm_gen.story.metrics import distinct_n, repeated_phrases
from llm_gen.text import _

NARROWEST, GAP = 34, 3


def side_by_side(prompt: str, grid: Sequence[TextSettings], answers: Sequence[Answer], width: int | None = None) -> str:
    """A block for each answer: its settings, its text, what was measured; as many in a row as fit `width` columns."""
    width = shutil.get_terminal_size((100, 24)).columns if width is None else width
    in_a_row = max(1, min(len(grid), (width + GAP) // (NARROWEST + GAP)))
    column = (width + GAP) // in_a_row - GAP
    blocks = [_block(settings, prompt + answer.text, answer, column) for settings, answer in zip(grid, answers)]
    rows = [blocks[start : start + in_a_row] for start in range(0, len(blocks), in_a_row)]
    return "\n\n".join(_join(row, column) for row in rows)


def measures(answer: Answer) -> dict[str, str]:
    """distinct-2: share of word pairs that differ; surprise: mean bits a token under the model at that temperature."""
    bits = [-log_prob / math.log(2) for log_prob in answer.full_log_probs]
    return {
        _("distinct-2"): f"{distinct_n([answer.text]):.2f}",
        _("surprise"): _("{bits:.2f} bits a token").format(bits=sum(bits) / len(bits) if bits else 0.0),
        _("repeated phrases"): f"{repeated_phrases(answer.text):.0%}",
        _("ended by"): f"{answer.finish}, {len(answer.ids)}",
    }


def _block(settings: TextSettings, text: str, answer: Answer, width: int) -> list[str]:
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, width) or [""]]
    facts = [f"{name}: {value}" for name, value in measures(answer).items()]
    return [str(settings)[:width], "-" * width, *lines, "-" * width, *(fact[:width] for fact in facts)]


def _join(blocks: Sequence[list[str]], width: int) -> str:
    tallest = max(len(block) for block in blocks)
    # The measures stand at the foot of each block, level with those beside it.
    level = [block[:-5] + [""] * (tallest - len(block)) + block[-5:] for block in blocks]
    lines = zip_longest(*level, fillvalue="")
    return "\n".join((" " * GAP).join(f"{cell:<{width}}" for cell in line).rstrip() for line in lines)
