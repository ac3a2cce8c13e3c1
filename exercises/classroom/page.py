"""One HTML page that needs nothing else: no script, no network, readable in light and dark and on paper."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #009E73; --part: #E69F00; --bad: #D55E00;
  --none: #8886; --heat: 0, 114, 178; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .2rem .7rem .2rem 0; }
tbody tr { border-top: 1px solid var(--line); } td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
td ul, td p { margin: 0; padding-left: 1rem; } td p { padding: 0; }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; margin: .3rem 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.tile { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem 1rem; } .tile b { font-size: 1.3rem; }
.bar { display: flex; width: 14rem; height: 1rem; background: var(--soft); } .bar i { display: block; height: 100%; }
.good { background: var(--good); } .part { background: var(--part); } .bad { background: var(--bad); }
.none { background: var(--none); }
.key i { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; }
.heat { overflow-x: auto; } .heat table { border-spacing: 1px; border-collapse: separate; }
.heat td { padding: 0; width: 1.1rem; min-width: 1.1rem; height: 1.1rem; border: 0; }
.heat th { font-weight: normal; font-size: .8rem; padding: 0 .6rem 0 0; white-space: nowrap; }
.heat thead th { writing-mode: vertical-rl; transform: rotate(180deg); padding: .3rem 0; text-align: left; }
.quiet { opacity: .7; }
"""


def page(title: str, parts: Iterable[str], language: str = "en") -> str:
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head = f"<head>{meta}<title>{text(title)}</title><style>{STYLE}</style></head>"
    body = "\n".join([f"<h1>{text(title)}</h1>", *parts])
    return f'<!doctype html>\n<html lang="{language}">{head}\n<body>\n{body}\n</body></html>\n'


def text(words: object) -> str:
    """Words as HTML; what cannot be written in UTF-8 becomes a question mark."""
    return html.escape(str(words).encode("utf-8", "replace").decode())


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of cells that are HTML already. numbers: columns set to the right."""
    sides = [' class="number"' if i in numbers else "" for i in range(len(header))]
    head = "".join(f"<th{side}>{text(cell)}</th>" for side, cell in zip(sides, header))
    lines = ("".join(f"<td{side}>{cell}</td>" for side, cell in zip(sides, row)) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def tiles(values: dict[str, object]) -> str:
    made = "".join(f'<div class="tile">{text(name)}<br><b>{text(value)}</b></div>' for name, value in values.items())
    return f'<div class="tiles">{made}</div>'


def bar(parts: dict[str, int], total: int, words: str) -> str:
    """A stacked bar; parts: CSS class -> count."""
    made = "".join(f'<i class="{kind}" style="width: {100 * n / max(total, 1):.1f}%"></i>' for kind, n in parts.items())
    return f'<div class="bar" role="img" aria-label="{text(words)}" title="{text(words)}">{made}</div>'


def listing(items: Iterable[str]) -> str:
    """A list of items that are HTML already; a dash if there are none."""
    made = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{made}</ul>" if made else "<p>\N{EN DASH}</p>"
