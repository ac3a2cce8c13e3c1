"""A story grammar: rules with variables, and the exact distribution of what comes next.

A rule is a name and its alternatives, one per line, an optional weight `3*` in front, `-` for nothing:

    Opening:
      2* Once there was {hero:folk.a} who lived {:place.at}.
      {hero:folk} was (sad|very sad).
    Story:
      <Opening> <Plot> {hero.He} was happy.

`{x:class.form}` picks a value of the class that no other variable of the story has, binds it to x and writes
that form; `{:class.form}` picks without binding; `{x.form}` writes what x is; `{y=x}` makes y the same as x and
writes nothing; `<Rule>` and `(one|other)` choose an alternative. Rules with a capital hold whole sentences,
rules without one hold phrases. A story is what `Story` derives; a state is (symbols still to write, bindings).
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from llm_gen.story.lexicon import Value
from llm_gen.story.pieces import split_pieces

END = "<end>"
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


Symbol = str | Slot | Alias | Call
Body = tuple[Symbol, ...]
Bindings = tuple[tuple[str, Value], ...]
State = tuple[Body, Bindings]


def spaced(body: Body) -> Body:
    """The same body with a space in front of what it writes first."""
    if not body:
        return body
    head, rest = body[0], body[1:]
    if isinstance(head, Alias):
        return (head, *spaced(rest))
    return (" " + head if isinstance(head, str) else replace(head, space=True), *rest)


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


class Grammar:
    """Rules over a lexicon. `rules[name]` is a list of (probability, sentences), a sentence being a body.

    Raises ValueError for a rule, class, form or variable that does not exist, and for a variable of two classes.
    """

    def __init__(self, rules: str, lexicon: dict[str, tuple[Value, ...]]) -> None:
        self.lexicon = lexicon
        self.rules: dict[str, list[tuple[float, tuple[Body, ...]]]] = {}
        self.kind_of: dict[str, str] = {}
        for name, lines in read_rules(rules).items():
            self.add_rule(name, lines)
        self.check()
        self.finish()

    def finish(self) -> None:
        """Joins the sentences of every alternative, once without and once with a space in front."""
        self._bodies = {}
        for name, alternatives in self.rules.items():
            joined = [(p, join_sentences(sentences)) for p, sentences in alternatives]
            self._bodies[name, False] = joined
            self._bodies[name, True] = [(p, spaced(body)) for p, body in joined]
        self.start: State = ((Call("Story"),), ())

    def add_rule(self, name: str, lines: list[tuple[float, str]]) -> None:
        total = sum(weight for weight, _ in lines)
        cut = split_sentences if name[0].isupper() else lambda text: [text]
        self.rules[name] = [(w / total, tuple(self.parse(text) for text in cut(line))) for w, line in lines]

    def parse(self, template: str) -> Body:
        """One sentence or phrase as symbols; the space before a symbol belongs to it."""
        body: list[Symbol] = []
        space = False
        for part in SYMBOL.split(template):
            if SYMBOL.fullmatch(part):
                symbol = self.parse_symbol(part)
                if isinstance(symbol, Alias):
                    body.append(symbol)
                    continue
                body.append(replace(symbol, space=space))
                space = False
            elif part:
                *words, last = split_pieces(part)
                space = last == " "
                body += words if space else [*words, last]
        return tuple(body)

    def parse_symbol(self, text: str) -> Symbol:
        inside = text[1:-1]
        if text[0] == "(":
            name = f"({len(self.rules)}) {inside}"
            self.rules[name] = []
            choices = inside.split("|")
            self.rules[name] = [(1 / len(choices), (self.parse(choice),)) for choice in choices]
            return Call(name)
        if text[0] == "<":
            return Call(inside)
        if "=" in inside:
            var, source = inside.split("=")
            return Alias(var, source)
        head, _, form = inside.partition(".")
        var, colon, kind = head.partition(":")
        if colon and var:
            self.bind_kind(var, kind)
        return Slot(var or None, kind if colon else None, form or "name")

    def bind_kind(self, var: str, kind: str) -> None:
        if kind not in self.lexicon or self.kind_of.setdefault(var, kind) != kind:
            raise ValueError(f"variable {var!r} cannot be of class {kind!r}")

    def check(self) -> None:
        """Looks up everything that the rules mention; an alias gets the class of its source."""
        symbols = [s for lines in self.rules.values() for _, parts in lines for part in parts for s in part]
        aliases = [symbol for symbol in symbols if isinstance(symbol, Alias)]
        for alias in aliases * len(aliases):  # an alias may have an alias for its source
            if alias.source in self.kind_of:
                self.bind_kind(alias.var, self.kind_of[alias.source])
        for symbol in symbols:
            if isinstance(symbol, Call) and symbol.rule not in self.rules:
                raise ValueError(f"rule {symbol.rule!r} does not exist")
            if isinstance(symbol, Alias) and symbol.source not in self.kind_of:
                raise ValueError(f"variable {symbol.source!r} is bound nowhere")
            if isinstance(symbol, Slot):
                self.check_slot(symbol)

    def check_slot(self, slot: Slot) -> None:
        kind = slot.kind or self.kind_of.get(slot.var)
        if kind not in self.lexicon:
            raise ValueError(f"variable {slot.var!r} is bound nowhere" if slot.var else f"no class {kind!r}")
        for value in self.lexicon[kind]:
            value.wordings(slot.form, slot.space)

    def choices(self, symbol: Symbol, bindings: Bindings) -> list[tuple[float, Body, Bindings]]:
        """What a symbol can become: (probability, symbols in its place, bindings after it)."""
        if isinstance(symbol, Call):
            return [(p, body, bindings) for p, body in self._bodies[symbol.rule, symbol.space]]
        bound = dict(bindings)
        if isinstance(symbol, Alias):
            return [(1.0, (), (*bindings, (symbol.var, bound[symbol.source])))]
        if symbol.kind is None:
            return self.write(bound[symbol.var], symbol, 1.0, bindings)
        taken = set(bound.values())
        values = [value for value in self.lexicon[symbol.kind] if value not in taken]
        result = []
        for value in values:
            after = (*bindings, (symbol.var, value)) if symbol.var else bindings
            result += self.write(value, symbol, 1 / len(values), after)
        return result

    @staticmethod
    def write(value: Value, slot: Slot, p: float, bindings: Bindings) -> list[tuple[float, Body, Bindings]]:
        wordings = value.wordings(slot.form, slot.space)
        return [(p / len(wordings), wording, bindings) for wording in wordings]

    def expand(self, state: State) -> Iterator[tuple[float, str, State | None]]:
        """Every way to write one more piece: (probability, piece, state after it). `END` leads to None."""
        symbols, bindings = state
        if not symbols:
            yield 1.0, END, None
            return
        head, rest = symbols[0], symbols[1:]
        if isinstance(head, str):
            yield 1.0, head, (rest, bindings)
            return
        for p, body, after in self.choices(head, bindings):
            for q, piece, following in self.expand((body + rest, after)):
                yield p * q, piece, following

    def sample_pieces(self, rng: random.Random) -> list[str]:
        """One story, piece by piece."""
        pieces: list[str] = []
        symbols, bindings = self.start
        while symbols:
            head, symbols = symbols[0], symbols[1:]
            if isinstance(head, str):
                pieces.append(head)
                continue
            options = self.choices(head, bindings)
            weights = [p for p, _, _ in options]
            _, body, bindings = options[pick(weights, rng)]
            symbols = body + symbols
        return pieces

    def sample(self, rng: random.Random) -> str:
        """One story as text."""
        return "".join(self.sample_pieces(rng))


def pick(weights: list[float], rng: random.Random) -> int:
    """Index drawn by weights that sum to 1."""
    u = rng.random()
    for index, weight in enumerate(weights):
        u -= weight
        if u < 0:
            return index
    return len(weights) - 1


def join_sentences(sentences: tuple[Body, ...]) -> Body:
    first, *others = sentences or ((),)
    return sum((spaced(sentence) for sentence in others), first)


def read_rules(text: str) -> dict[str, list[tuple[float, str]]]:
    """Rule name -> [(weight, template)]."""
    rules: dict[str, list[tuple[float, str]]] = {}
    for line in filter(str.strip, text.splitlines()):
        if not line[0].isspace():
            current = rules.setdefault(line.strip().removesuffix(":"), [])
            continue
        weight, star, rest = line.strip().partition("* ")
        template = " ".join((rest if star else line).split())
        current.append((float(weight) if star else 1.0, "" if template == "-" else template))
    return rules
