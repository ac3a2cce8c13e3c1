"""A small card of a title and labelled rows, as HTML and as text with the same words."""

from __future__ import annotations

import html
import sys
import textwrap
from dataclasses import dataclass, field
from typing import TextIO

GOOD, BAD, OPEN = "good", "bad", "open"
SIGNS = {GOOD: "\N{CHECK MARK}", BAD: "\N{BALLOT X}", OPEN: "\N{WHITE CIRCLE}"}
COLOURS = {GOOD: "#009E73", BAD: "#D55E00", OPEN: "#7F7F7F"}
WIDTH, LABEL_WIDTH, MOST_LINES = 96, 17, 25
FRAME = "border-left: 4px solid {colour}; padding: 4px 12px; margin: 4px 0; max-width: 960px"
INK = "color: var(--jp-content-font-color1, inherit); background: transparent"
CELL = "text-align: left; vertical-align: top; padding: 1px 12px 1px 0; border: 0; background: transparent"


@dataclass(frozen=True)
class Row:
    """A label and what it says; `code`: shown as it stands, line by line."""

    label: str
    text: str
    code: bool = False


@dataclass(frozen=True)
class Card:
    """What a student sees. tone: GOOD, BAD or OPEN; `longest`: lines of the text form at most."""

    title: str
    rows: list[Row] = field(default_factory=list)
    tone: str = OPEN
    longest: int = MOST_LINES

    @property
    def text(self) -> str:
        lines = [f"{SIGNS[self.tone]} {self.title}"]
        for row in self.rows:
            lines += _text_lines(row)
        if len(lines) > self.longest:
            lines = [*lines[: self.longest - 1], "  ..."]
        return "\n".join(lines)

    @property
    def html(self) -> str:
        body = "".join(_html_row(row) for row in self.rows)
        table = f'<table style="border: 0; margin: 2px 0; {INK}"><tbody>{body}</tbody></table>' if body else ""
        title = f"<strong>{SIGNS[self.tone]} {html.escape(self.title)}</strong>"
        frame = FRAME.format(colour=COLOURS[self.tone])
        return f'<div role="status" style="{frame}; {INK}">{title}{table}</div>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}

    def show(self) -> None:
        """Display in a notebook, print elsewhere."""
        ipython = sys.modules.get("IPython")
        if ipython is not None and ipython.get_ipython() is not None:
            ipython.display.display(self)
        else:
            print_text(self.text)


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print; a terminal that cannot show a sign shows a question mark."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, errors="replace").decode(encoding), file=stream)


def _text_lines(row: Row) -> list[str]:
    paragraphs = row.text.split("\n")
    if not row.code:
        paragraphs = [line for part in paragraphs for line in textwrap.wrap(part, WIDTH - LABEL_WIDTH - 2) or [""]]
    labels = [row.label] + [""] * (len(paragraphs) - 1)
    return [f"  {label:<{LABEL_WIDTH}}{part}".rstrip() for label, part in zip(labels, paragraphs)]


def _html_row(row: Row) -> str:
    text = html.escape(row.text)
    if row.code:
        text = f'<pre style="margin: 0; background: transparent; {INK}">{text}</pre>'
    label = f'<th style="{CELL}; font-weight: 600; white-space: nowrap">{html.escape(row.label)}</th>'
    return f'<tr>{label}<td style="{CELL}">{text}</td></tr>'
