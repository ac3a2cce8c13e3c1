"""Pictures that answer at once: what a chapter shows, kept out of its cells."""

from notebooks.panels.chapter import start_chapter, table
from notebooks.panels.context import Context, stored_contexts
from notebooks.panels.dart import dart
from notebooks.panels.filter_order import filter_order
from notebooks.panels.next_token import reshape
from notebooks.panels.nucleus import nucleus
from notebooks.panels.panel import Panel
from notebooks.panels.temperature_map import temperature_map
from notebooks.panels.words import fixed, percent

__all__ = [
    "Context",
    "Panel",
    "dart",
    "filter_order",
    "fixed",
    "nucleus",
    "percent",
    "reshape",
    "start_chapter",
    "stored_contexts",
    "table",
    "temperature_map",
]
