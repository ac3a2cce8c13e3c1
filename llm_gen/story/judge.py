"""Judges a text: is every sentence one of the language, and do the sentences make one story?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from llm_gen.story.filtering import Belief, Language, NotInLanguage
from llm_gen.story.grammar import END, Grammar
from llm_gen.story.lexicon import Value
from llm_gen.story.notation import Slot
from llm_gen.story.pieces import split_pieces
from llm_gen.story.relax import relax
from llm_gen.story.tales import STORIES
from llm_gen.text import _


@dataclass(frozen=True)
class Verdict:
    """grammatical: the text is a row of sentences of the language. consistent: it is one whole story, or with
    `partial` the beginning of one; this implies grammatical. character, word: where the text first leaves the
    stories, counted from 0 (None where it does not); reason: why, in plain words."""

    grammatical: bool
    consistent: bool
    character: int | None = None
    word: int | None = None
    reason: str = ""


class Judge:
    """A judge for one grammar. It reads text, so how a tokenizer cut it plays no part."""

    def __init__(self, grammar: Grammar = STORIES) -> None:
        self.stories = Language(grammar, lambda piece: (piece,))
        self.sentences = Language(relax(grammar), lambda piece: (piece,))

    def __call__(self, text: str, partial: bool = False) -> Verdict:
        """The verdict on a text; with partial=True it may stop anywhere, even inside a word.

        Grammar is judged to the end of the text: one wrong name does not make the rest ungrammatical.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {text!r}")
        pieces = list(split_pieces(text)) + ([] if partial else [END])
        story, at = follow(self.stories, pieces, partial)
        if at is None:
            return Verdict(True, True)
        sentence, broken = follow(self.sentences, pieces, partial)
        words = sum(any(map(str.isalnum, piece)) for piece in pieces[:at])
        reason = explain(story, pieces[at]) if broken != at else explain_grammar(sentence, pieces[at])
        return Verdict(broken is None, False, len("".join(pieces[:at])), words, reason)


@cache
def default_judge() -> Judge:
    return Judge()


def judge(text: str, partial: bool = False) -> Verdict:
    """The verdict on a text under the stories of this package; see `Judge`."""
    return default_judge()(text, partial)


def follow(language: Language, pieces: list[str], partial: bool) -> tuple[Belief, int | None]:
    """The belief as far as the pieces can be read, and the index of the piece that cannot (None: all can)."""
    belief = language.start()
    for index, piece in enumerate(pieces):
        try:
            belief = belief.read(piece)
        except NotInLanguage as refusal:
            is_last = partial and index == len(pieces) - 1
            if is_last and any(known.startswith(piece) for known in refusal.expected if known != END):
                break
            return belief, index
    return belief, None


def explain(belief: Belief, found: str) -> str:
    """Why no story goes on with this piece although some sentence might."""
    expected = belief.next()
    if found == END:
        return _("the story stops before its end; it could go on with {words}").format(words=list_words(expected))
    if set(expected) == {END}:
        return _("the story is over, but the text goes on with {found}").format(found=quote(found))
    grammar = belief.language.grammar
    reasons = {blame_slot(grammar, slot, bindings, found) for slot, bindings in open_slots(belief)} - {""}
    if len(reasons) == 1:  # with several, the story has not yet said who or what it is about
        return reasons.pop()
    message = _("the story cannot go on with {found} here; it could go on with {words}")
    return message.format(found=quote(found), words=list_words(expected))


def explain_grammar(belief: Belief, found: str) -> str:
    words = list_words(belief.next())
    if found == END:
        return _("the text stops inside a sentence, which could go on with {words}").format(words=words)
    message = _("no sentence goes on with {found} here; it could go on with {words}")
    return message.format(found=quote(found), words=words)


def open_slots(belief: Belief) -> Iterator[tuple[Slot, dict[str, Value]]]:
    """The slots that could be written next, with what the story has bound so far."""
    todo = [state for pending, state in belief.weights if not pending and state]
    while todo:
        symbols, bindings = todo.pop()
        if not symbols:
            continue
        if isinstance(symbols[0], Slot):
            yield symbols[0], dict(bindings)
        elif not isinstance(symbols[0], str):
            choices = belief.language.grammar.choices(symbols[0], bindings)
            todo += [(body + symbols[1:], after) for _, body, after in choices]


def blame_slot(grammar: Grammar, slot: Slot, bindings: dict[str, Value], found: str) -> str:
    """A reason if `found` would fill this slot in another story, else nothing."""
    fits = [v for v in grammar.relatives(slot) if any(w[0] == found for w in v.wordings(slot.form, slot.space))]
    if not fits:
        return ""
    if slot.kind is None:
        value = bindings[slot.var]
        right = "".join(value.wordings(slot.form, slot.space)[0])
        message = _("the {role} of this story is {name}: expected {right}, found {found}")
        return message.format(role=role_name(slot.var), name=value.name, right=quote(right), found=quote(found))
    taken = [var for var, value in bindings.items() if value in fits]
    message = _("{found} already is the {role} of this story")
    return message.format(found=quote(found), role=role_name(taken[0])) if taken else ""


def role_name(var: str) -> str:
    return var.replace("_", " ")


def quote(piece: str) -> str:
    return repr(piece.strip())


def list_words(expected: dict[str, float], most: int = 3) -> str:
    """The likeliest continuations, for a sentence."""
    best = sorted(expected, key=lambda piece: -expected[piece])[:most]
    return ", ".join(_("the end") if piece == END else quote(piece) for piece in best)
