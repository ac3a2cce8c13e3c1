"""A judged story in lines: what comes after its first slip in another colour, and the judge's reason under it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from llm_gen.text import _
from notebooks.panels.chart import WIDTH
from notebooks.panels.measured import Story
from notebooks.panels.scene import Mark, Text

LINE_HEIGHT, SIZE, CHARACTER = 19, 12, 7.23


def story_lines(story: Story, shown: int, left: float, top: float, bottom: float) -> Iterator[Mark]:
    """Story number `shown` from `left` to the right edge; lines that do not fit above `bottom` are left out."""
    slipped = _("story {n}: leaves the stories where it turns orange")
    words = _("story {n}: true") if story.character is None else slipped
    yield Text(left, top - 2, words.format(n=shown), 12, "muted", bold=True)
    letters, y = int((WIDTH - left) / CHARACTER), top + 16
    room = int((bottom - y) / LINE_HEIGHT) - (2 if story.reason else 0)
    for start, line in wrapped(printable(story.text), letters)[:room]:
        yield from _split(line, left, y, len(line) if story.character is None else story.character - start)
        y += LINE_HEIGHT
    for line in textwrap.wrap(story.reason, letters)[:2]:
        yield Text(left, y + 6, line, 11, "muted")
        y += LINE_HEIGHT - 2


def _split(line: str, left: float, y: float, at: int) -> Iterator[Mark]:
    """The line with another colour from character `at` on."""
    at = min(max(at, 0), len(line))
    if line[:at]:
        yield Text(left, y, line[:at], SIZE, mono=True)
    if line[at:]:
        yield Text(left + at * CHARACTER, y, line[at:], SIZE, "orange", mono=True)


def printable(text: str) -> str:
    """The text with one sign in place of each character that no page can show; every place stays where it is."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def wrapped(text: str, letters: int) -> list[tuple[int, str]]:
    """(first character, line) of each line of at most `letters` characters, broken at blanks where there are any."""
    lines, start = [], 0
    while start < len(text):
        end = min(start + letters, len(text))
        if end < len(text) and " " in text[start:end]:
            end = start + text[start:end].rindex(" ") + 1
        lines.append((start, text[start:end]))
        start = end
    return lines
