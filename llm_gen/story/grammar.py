"""A story grammar: rules with variables, and every way in which a story can go on.

A story is what the rule `Story` derives. A state is (symbols still to write, variables bound so far); symbols are
replaced from the left, so what is bound is known to everything after it. The notation of rules is in `notation`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from llm_gen.story.lexicon import Value, family, join_families
from llm_gen.story.notation import Alias, Body, Call, Group, Rules, Slot, Symbol, join_sentences, read_rules, spaced

END = "<end>"
Bindings = tuple[tuple[str, Value], ...]
State = tuple[Body, Bindings]
Choice = tuple[float, Body, Bindings]


class Grammar:
    """Rules, as text or as `read_rules` gives them, over a lexicon.

    Raises ValueError for a rule, class, form or variable that does not exist, and a variable of two families.
    """

    def __init__(self, rules: str | Rules, lexicon: dict[str, tuple[Value, ...]]) -> None:
        self.lexicon, self.families = lexicon, join_families(lexicon)
        self.rules = read_rules(rules) if isinstance(rules, str) else rules
        self.family_of: dict[str, str] = {}
        symbols = [*self.all_symbols()]
        self.find_families(symbols)
        self.check(symbols)
        self.start: State = ((Call("Story"),), ())
        self._bodies = {}
        for name, alternatives in self.rules.items():
            joined = [(p, join_sentences(sentences)) for p, sentences in alternatives]
            self._bodies[name, False] = joined
            self._bodies[name, True] = [(p, spaced(body)) for p, body in joined]

    def all_symbols(self) -> Iterator[Symbol]:
        bodies = [body for alternatives in self.rules.values() for _, parts in alternatives for body in parts]
        while bodies:
            for symbol in bodies.pop():
                yield symbol
                if isinstance(symbol, Group):
                    bodies += symbol.bodies

    def find_families(self, symbols: list[Symbol]) -> None:
        """The family of every variable; an alias gets that of its source."""
        for slot in symbols:
            if isinstance(slot, Slot) and slot.var and slot.kind:
                self.set_family(slot.var, family(slot.kind))
        aliases = [symbol for symbol in symbols if isinstance(symbol, Alias)]
        for alias in aliases * len(aliases):  # an alias may have an alias for its source
            if alias.source in self.family_of:
                self.set_family(alias.var, self.family_of[alias.source])

    def set_family(self, var: str, name: str) -> None:
        if self.family_of.setdefault(var, name) != name:
            raise ValueError(f"variable {var!r} cannot be a {name}, it is a {self.family_of[var]}")

    def check(self, symbols: list[Symbol]) -> None:
        """Looks up everything that the rules mention."""
        for symbol in symbols:
            if isinstance(symbol, Call) and symbol.rule not in self.rules:
                raise ValueError(f"rule {symbol.rule!r} does not exist")
            if isinstance(symbol, Alias) and symbol.source not in self.family_of:
                raise ValueError(f"variable {symbol.source!r} is bound nowhere")
            if isinstance(symbol, Slot):
                self.check_slot(symbol)

    def check_slot(self, slot: Slot) -> None:
        if slot.kind is None and slot.var not in self.family_of:
            raise ValueError(f"variable {slot.var!r} is bound nowhere")
        if slot.kind is not None and slot.kind not in self.lexicon:
            raise ValueError(f"class {slot.kind!r} does not exist")
        for value in self.relatives(slot):
            value.wordings(slot.form, slot.space)

    def relatives(self, slot: Slot) -> tuple[Value, ...]:
        """All values of the slot's family: what could stand there in a loose text."""
        return self.families[self.family_of_slot(slot)]

    def family_of_slot(self, slot: Slot) -> str:
        return family(slot.kind) if slot.kind else self.family_of[slot.var]

    def choices(self, symbol: Symbol, bindings: Bindings) -> list[Choice]:
        """What a symbol can become: (probability, symbols in its place, bindings after it)."""
        if isinstance(symbol, Call):
            return [(p, body, bindings) for p, body in self._bodies[symbol.rule, symbol.space]]
        if isinstance(symbol, Group):
            return [(1 / len(symbol.bodies), body, bindings) for body in symbol.bodies]
        bound = dict(bindings)
        if isinstance(symbol, Alias):
            return [(1.0, (), (*bindings, (symbol.var, bound[symbol.source])))]
        if symbol.kind is None:
            return write(bound[symbol.var], symbol, 1.0, bindings)
        return self.pick_values(symbol, bindings)

    def pick_values(self, slot: Slot, bindings: Bindings) -> list[Choice]:
        taken = {value for _, value in bindings}
        values = [value for value in self.lexicon[slot.kind] if value not in taken]
        result = []
        for value in values:
            after = (*bindings, (slot.var, value)) if slot.var else bindings
            result += write(value, slot, 1 / len(values), after)
        return result

    def expand(self, state: State) -> Iterator[tuple[float, str, State | None]]:
        """Every way to write one more piece: (probability, piece, state after it). `END` leads to None."""
        symbols, bindings = state
        if not symbols:
            yield 1.0, END, None
        elif isinstance(symbols[0], str):
            yield 1.0, symbols[0], (symbols[1:], bindings)
        else:
            for p, body, after in self.choices(symbols[0], bindings):
                for q, piece, following in self.expand((body + symbols[1:], after)):
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
            _, body, bindings = draw(self.choices(head, bindings), rng)
            symbols = body + symbols
        return pieces

    def sample(self, rng: random.Random) -> str:
        """One story as text."""
        return "".join(self.sample_pieces(rng))


def write(value: Value, slot: Slot, p: float, bindings: Bindings) -> list[Choice]:
    wordings = value.wordings(slot.form, slot.space)
    return [(p / len(wordings), wording, bindings) for wording in wordings]


def draw(choices: list[Choice], rng: random.Random) -> Choice:
    """One of the choices, by their probabilities."""
    u = rng.random()
    for choice in choices:
        u -= choice[0]
        if u < 0:
            return choice
    return choices[-1]
