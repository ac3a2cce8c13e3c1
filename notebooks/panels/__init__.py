"""Pictures that answer at once: what a chapter shows, kept out of its cells.

    from notebooks import panels

    panels.start_chapter()
    story = panels.stored_contexts()["story"]
    panel = panels.reshape(story, tau=0.8)
    panel                                   # as the last line of a cell: the panel itself
    print(panel.set(tau=2.0, p=0.9))        # in the next cell: its sliders moved from code, and what it says

The panels: `reshape` (what the settings do to one distribution), `nucleus` (why the crossing token stays),
`temperature_map` (every temperature at once), `filter_order` (two filters, both ways round), `dart` (a draw as a
point on a ruler). Each takes contexts, made by hand with `Context` or out of `stored_contexts`. `stepping` takes a
model and its tokenizer, and writes a text step by step; `loop_meter` takes texts with their probabilities, of
`greedy_text` or `stored_texts`, and shows how a phrase feeds itself; `batch_board` takes a model and several prompts.
`caching` shows what a cache saves, `memory_price` what it weighs and what a token costs, `windows` who sees whom and
what becomes of a cache in a full context. `beam_tree` takes a model and shows a search as a tree, `speculation` a
model with its draft, and shows what is guessed and kept. `frontier` shows measured settings, quality against diversity.
"""

from notebooks.panels.batch_board import batch_board
from notebooks.panels.beam_tree import beam_tree
from notebooks.panels.caching import caching
from notebooks.panels.chapter import start_chapter, table
from notebooks.panels.context import Context, stored_contexts
from notebooks.panels.conversation import questions, stored_answers, stored_traces
from notebooks.panels.course_map import course_map
from notebooks.panels.dart import dart
from notebooks.panels.filter_order import filter_order
from notebooks.panels.frontier import frontier
from notebooks.panels.loop_meter import loop_meter
from notebooks.panels.measured import stored_frontier, stored_grammar, unbeaten
from notebooks.panels.memory_price import memory_price
from notebooks.panels.next_token import reshape
from notebooks.panels.nucleus import nucleus
from notebooks.panels.panel import Panel
from notebooks.panels.scored import ScoredText, greedy_text, stored_texts
from notebooks.panels.speculation import speculation
from notebooks.panels.start import self_test
from notebooks.panels.stepping import stepping
from notebooks.panels.temperature_map import temperature_map
from notebooks.panels.timing import measure_machine, random_model, seconds_per_pass, weight_bytes
from notebooks.panels.windows import windows
from notebooks.panels.words import fixed, percent

__all__ = [
    "Context",
    "Panel",
    "ScoredText",
    "batch_board",
    "beam_tree",
    "caching",
    "course_map",
    "dart",
    "filter_order",
    "fixed",
    "frontier",
    "greedy_text",
    "loop_meter",
    "measure_machine",
    "memory_price",
    "nucleus",
    "percent",
    "questions",
    "random_model",
    "reshape",
    "seconds_per_pass",
    "self_test",
    "speculation",
    "start_chapter",
    "stepping",
    "stored_answers",
    "stored_contexts",
    "stored_frontier",
    "stored_grammar",
    "stored_texts",
    "stored_traces",
    "table",
    "temperature_map",
    "unbeaten",
    "weight_bytes",
    "windows",
]
