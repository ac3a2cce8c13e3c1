"""Exact prediction: which derivations agree with what was read, and what they write next.

A language writes stories in symbols of our choice: pieces, or the tokens of any tokenizer that never merges
across two pieces. A belief is a table (symbols of the current piece still to come, grammar state) -> probability
given what was read. Reading one symbol is one step of forward filtering in float64: nothing is approximated.
"""

from collections.abc import Callable, Hashable, Iterable

from llm_gen.story.grammar import Grammar, State

KNOWN_STATES = 50_000  # whose moves are kept, about 60 MB; a story passes through some hundreds

Symbols = tuple[Hashable, ...]
Position = tuple[Symbols, State | None]


class NotInLanguage(ValueError):
    """No story begins this way. `position` counts symbols read before the refused one, `found` (None: asked what
    follows the end); `expected` maps each symbol that can stand there to its probability (empty after the end)."""

    def __init__(self, position: int, found: Hashable, expected: dict[Hashable, float]) -> None:
        self.position, self.found, self.expected = position, found, expected
        likely = ", ".join(repr(symbol) for symbol in sorted(expected, key=expected.get, reverse=True)[:3])
        wanted = f"a story has one of {likely}" if expected else "for the story is over"
        stands = "nothing can stand" if found is None else f"stands {found!r}"
        super().__init__(f"not in the language: at position {position} {stands}, {wanted}")


class Language:
    """A grammar spelled in symbols. `encode` maps a piece (or `END`) to its symbols; `prefix` opens every story."""

    def __init__(self, grammar: Grammar, encode: Callable[[str], Iterable[Hashable]], prefix: Symbols = ()) -> None:
        self.grammar = grammar
        self.encode = encode
        self.prefix = prefix
        self._moves: dict[State | None, dict[Hashable, dict[Position, float]]] = {}

    def start(self) -> "Belief":
        return Belief(self, {(self.prefix, self.grammar.start): 1.0})

    def read(self, symbols: Iterable[Hashable]) -> "Belief":
        """The belief after these symbols. Raises NotInLanguage at the first one that no story has there."""
        belief = self.start()
        for symbol in symbols:
            belief = belief.read(symbol)
        return belief

    def moves(self, state: State | None) -> dict[Hashable, dict[Position, float]]:
        """First symbol of the next piece -> {position after it: probability}; none after the end."""
        if state not in self._moves:
            if len(self._moves) >= KNOWN_STATES:
                self._moves.clear()
            table: dict[Hashable, dict[Position, float]] = {}
            for p, piece, following in self.grammar.expand(state) if state is not None else ():
                first, *others = self.encode(piece)
                ends = table.setdefault(first, {})
                position = (tuple(others), following)
                ends[position] = ends.get(position, 0.0) + p
            self._moves[state] = table
        return self._moves[state]


class Belief:
    """What is known after a prefix; reading gives a new belief and leaves this one as it is."""

    def __init__(self, language: Language, weights: dict[Position, float], length: int = 0) -> None:
        self.language, self.weights, self.length = language, weights, length

    def next(self) -> dict[Hashable, float]:
        """Symbol -> probability that it comes next; sums to 1, empty when the story is over."""
        result: dict[Hashable, float] = {}
        for (pending, state), weight in self.weights.items():
            if pending:
                result[pending[0]] = result.get(pending[0], 0.0) + weight
                continue
            for symbol, ends in self.language.moves(state).items():
                result[symbol] = result.get(symbol, 0.0) + weight * sum(ends.values())
        return result

    def read(self, symbol: Hashable) -> "Belief":
        """Raises NotInLanguage if no story goes on with this symbol."""
        after: dict[Position, float] = {}
        for (pending, state), weight in self.weights.items():
            if pending:
                ends = {(pending[1:], state): 1.0} if pending[0] == symbol else {}
            else:
                ends = self.language.moves(state).get(symbol, {})
            for position, p in ends.items():
                after[position] = after.get(position, 0.0) + weight * p
        if not after:
            raise NotInLanguage(self.length, symbol, self.next())
        total = sum(after.values())
        return Belief(self.language, {position: w / total for position, w in after.items()}, self.length + 1)
