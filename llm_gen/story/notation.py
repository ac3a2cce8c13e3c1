"""The notation of story rules, read into symbols.

A rule is a name and its alternatives, one per line, an optional weight `3*` in front, `-` for nothing:

    Opening:
      2* Once there was {hero:folk.a} who lived {:place.at}.
      {hero:folk} was (sad|very sad).
    Story:
      <Opening> <Plot> {hero.He} was happy.

`{x:class.form}` picks a value of the class that no other variable of the story has, binds it to x and writes
that form; `{:class.form}` picks without binding; `{x.form}` writes what x is; `{y=x}` makes y the same as x and
writes nothing; `<Rule>` and `(one|other)` choose an alternative. Rules with a capital hold whole sentences,
rules without one hold phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from llm_gen.story.pieces import split_pieces

SYMBOL = re.compile(r"(\{[^}]*\}|<\w+>|\([^()]*\))")
SENTENCE_CALL = re.compile(r"\s*(<[A-Z]\w*>)\s*")
SENTENCE_GAP = re.compile(r'(?:(?<=[.!?])|(?<=[.!?]")) (?=["A-Z{<])')


@dataclass(frozen=True, eq=False)
class Slot:
    """`var` writes or binds a variable, `kind` is the class to pick from (None: refer to what is bound)."""

    var: str | None
    kind: str | None
    form: str
    space: bool = False


@dataclass(frozen=True, eq=False)
class Alias:
    var: str
    source: str


@dataclass(frozen=True, eq=False)
class Call:
    rule: str
    space: bool = False


@dataclass(frozen=True, eq=False)
class Group:
    bodies: tuple[Body, ...]


# Symbols compare by identity, which makes a state of the grammar cheap to look up.
Symbol = str | Slot | Alias | Call | Group
Body = tuple[Symbol, ...]
Rules = dict[str, list[tuple[float, tuple[Body, ...]]]]


def read_rules(text: str) -> Rules:
    """Rule name -> [(probability, sentences)]; a sentence is a body of symbols, a phrase counts as one."""
    lines: dict[str, list[tuple[float, str]]] = {}
    for line in filter(str.strip, text.splitlines()):
        if not line[0].isspace():
            current = lines.setdefault(line.strip().removesuffix(":"), [])
        else:
            weight, star, rest = line.strip().partition("* ")
            current.append((float(weight), rest) if star else (1.0, line))
    return {name: [*parse_alternatives(name, alternatives)] for name, alternatives in lines.items()}


def parse_alternatives(name: str, lines: list[tuple[float, str]]) -> Iterator[tuple[float, tuple[Body, ...]]]:
    total = sum(weight for weight, _ in lines)
    for weight, line in lines:
        template = " ".join(line.split())
        parts = split_sentences(template) if name[0].isupper() else [template.removeprefix("-")]
        yield weight / total, tuple(map(parse, parts))


def split_sentences(template: str) -> list[str]:
    """Cuts a template into sentences; calls of sentence rules stand alone, quotations stay whole."""
    sentences: list[str] = []
    for part in filter(None, SENTENCE_CALL.split(template)):
        whole = True
        for text in SENTENCE_GAP.split(part):
            if whole:
                sentences.append(text)
            else:
                sentences[-1] += " " + text
            whole = sentences[-1].count('"') % 2 == 0
    return sentences


def parse(template: str) -> Body:
    """One sentence or phrase as symbols; the space before a symbol belongs to it."""
    body: list[Symbol] = []
    space = False
    for part in filter(None, SYMBOL.split(template)):
        if not SYMBOL.fullmatch(part):
            *words, last = split_pieces(part)
            space = last == " "
            body += words if space else [*words, last]
            continue
        symbol = parse_symbol(part)
        if space and not isinstance(symbol, Alias):
            symbol, space = with_space(symbol), False
        body.append(symbol)
    return tuple(body)


def parse_symbol(text: str) -> Symbol:
    inside = text[1:-1]
    if text[0] == "(":
        return Group(tuple(map(parse, inside.split("|"))))
    if text[0] == "<":
        return Call(inside)
    if "=" in inside:
        return Alias(*inside.split("="))
    head, _, form = inside.partition(".")
    var, colon, kind = head.partition(":")
    return Slot(var or None, kind if colon else None, form or "name")


def with_space(symbol: Symbol) -> Symbol:
    """The symbol with a space in front of what it writes."""
    if isinstance(symbol, str):
        return " " + symbol
    if isinstance(symbol, Group):
        return Group(tuple(map(spaced, symbol.bodies)))
    return replace(symbol, space=True)


def spaced(body: Body) -> Body:
    """The body with a space in front of what it writes first."""
    if body and isinstance(body[0], Alias):
        return (body[0], *spaced(body[1:]))
    return (with_space(body[0]), *body[1:]) if body else ()


def join_sentences(sentences: tuple[Body, ...]) -> Body:
    """One body, with a space between any two sentences."""
    return sum((spaced(sentence) for sentence in sentences[1:]), sentences[0])
