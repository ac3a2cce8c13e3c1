"""Held text plus the new piece: look for a stop in it; else hold the longest end of it that begins a stop.

Tokens know nothing of stop strings: "User:" may come as "Us", "er", ":". So the search goes over text and not over
pieces. What has been shown cannot be taken back, hence the waiting; but whoever always waits for the length of the
longest stop string makes the text stutter for no reason.
"""

import re
from collections.abc import Callable, Iterator

from llm_gen.answer import StopStrings
from solutions.vocabulary import Check, ListOf, OneOf


def until_stop(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """Text as it may be shown, up to the first of the stop strings; yields after each piece what has become sure."""
    held = ""
    for piece in pieces:
        text = held + piece
        found = [text.index(stop) for stop in stops if stop in text]
        if found:
            yield text[: min(found)]
            return
        waiting = [n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])]
        sure = len(text) - max(waiting, default=0)
        yield text[:sure]
        held = text[sure:]
    yield held


NOT_TAKEN = "(not taken)"


def watched(answer: Callable, pieces: list[str], stops: list[str]) -> list[str]:
    """What is given out after each piece, before the next one is taken; the last entry is for the end of the pieces."""
    taken = 0
    shown = [NOT_TAKEN] * (len(pieces) + 1)

    def one_by_one() -> Iterator[str]:
        nonlocal taken
        for place in range(len(shown)):
            taken, shown[place] = place, ""
            if place < len(pieces):
                yield pieces[place]

    for text in answer(one_by_one(), stops):
        shown[taken] = shown[taken].replace(NOT_TAKEN, "") + text
    return shown


check_pieces = Check(
    until_stop,
    call=watched,
    used_with="an iterator of the pieces; entry by entry, what is given out before the next piece is taken, and "
    "in the end when there are no more",
    pieces=ListOf(OneOf("b", "a", "c", "ab", "ba", "aa", "", "bab", "acab"), least=0, most=5),
    stops=ListOf(OneOf("ab", "aab", "ba", "bb", "abab", "c"), least=0, most=3),
    examples=[
        (["Hello", "!\n", "Us", "er", ": bye"], ["User:"]),
        (["a", "a", "b"], ["aab"]),
        (["a", "a", "a", "b"], ["aab"]),
        (["U", "s", "ual"], ["User:"]),
        (["Yes.", "\n", "\n", "No."], ["\n\n", "No"]),
        (["x", "ab", "c"], ["b", "ab"]),
        (["a", "ba", "b"], ["abab", "ba"]),
        (["The end", " is", " near"], []),
        (["abcd"], ["bcd", "c"]),
        (["<|", "end", "of", "text", "|>", "!"], ["<|endoftext|>"]),
        (["so.", "what", "?", "no"], ["?"]),
        (["the user", ": x"], ["User:"]),
        (["Hi", "User:", " ok"], ["\nUser:"]),
        (["ab", "a\n", "b"], ["ax"]),
        (["a", "b"], ["x", "y", "z", "b"]),
    ],
)
not_checked = "speed, stop strings that are empty"
equivalent = {
    "waiting = [n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])] -> "
    "waiting = [n for stop in stops for n in range(0, len(stop)) if text.endswith(stop[:n])]": "holds 0 characters",
    "sure = len(text) - max(waiting, default=0) -> sure = len(text) - max(waiting, default=-1)": (
        "a slice that ends one character after the text is the whole text"
    ),
}


def first_stop(text: str, stops: list[str]) -> int | None:
    return min((text.index(stop) for stop in stops if stop in text), default=None)


def longest_beginning(text: str, stops: list[str]) -> int:
    return max((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)


def until(
    pieces: Iterator[str], stops: list[str], end: Callable = first_stop, waiting: Callable = longest_beginning
) -> Iterator[str]:
    """`until_stop` in which a wrong answer changes where the text ends, or how much of it waits."""
    held = ""
    for piece in pieces:
        text = held + piece
        found = end(text, stops)
        if found is not None:
            yield text[:found]
            return
        sure = len(text) - waiting(text, stops)
        yield text[:sure]
        held = text[sure:]
    yield held


def wrong_by_characters(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """takes each piece character by character, so that a stop string which is complete first wins over one that begins
    before it"""

    def complete_first(text: str, stops: list[str]) -> int | None:
        ends = [text.index(stop) + len(stop) for stop in stops if stop in text]
        return first_stop(text[: min(ends)], stops) if ends else None

    return until(pieces, stops, complete_first)


def wrong_piece_by_piece(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """looks for the stop string in each piece alone, so one that is cut into two pieces slips through"""
    for piece in pieces:
        found = [piece.index(stop) for stop in stops if stop in piece]
        yield piece[: min(found, default=len(piece))]
        if found:
            return


def wrong_shows_at_once(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """finds the stop string in the whole text, but has shown its beginning by then"""
    text = ""
    for piece in pieces:
        shown, text = len(text), text + piece
        found = [text.index(stop) for stop in stops if stop in text]
        yield text[shown : min(found, default=len(text))]
        if found:
            return


def wrong_waits_for_the_end(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """shows nothing before it knows the whole text"""
    yield "".join(until_stop(pieces, stops))


def wrong_always_holds(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """always holds back as many characters as the longest stop string has, less one, whatever they are"""
    most = max(map(len, stops), default=1) - 1
    return until(pieces, stops, waiting=lambda text, stops: min(len(text), most))


def wrong_shows_the_stop(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """ends in time, but shows the stop string itself"""

    def after_it(text: str, stops: list[str]) -> int | None:
        found = [(text.index(stop), len(stop)) for stop in stops if stop in text]
        return sum(min(found)) if found else None

    return until(pieces, stops, after_it)


def wrong_loses_the_last(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """never shows what is held back when the pieces run out"""
    held = StopStrings(stops)
    for piece in pieces:
        shown, stopped = held.feed(piece)
        yield shown
        if stopped:
            return


def wrong_first_in_the_list(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """takes the stop string that is listed first, not the one that begins first in the text"""

    def first_listed(text: str, stops: list[str]) -> int | None:
        return next((text.index(stop) for stop in stops if stop in text), None)

    return until(pieces, stops, first_listed)


def wrong_forgets_false_alarms(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """drops what it held back when that turns out to be no stop string"""
    held = ""
    for piece in pieces:
        text = held + piece
        found = [text.index(stop) for stop in stops if stop in text]
        if found:
            yield text[: min(found)]
            return
        waiting = longest_beginning(text, stops)
        yield text[: len(text) - waiting].removeprefix(held) if waiting < len(text) else ""
        held = text[len(text) - waiting :]
    yield held


def wrong_all_or_nothing(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """holds back only if all that is held, and not just an end of it, could begin a stop string"""

    def all_of_it(text: str, stops: list[str]) -> int:
        return len(text) if any(stop.startswith(text) for stop in stops) else 0

    return until(pieces, stops, waiting=all_of_it)


def wrong_shortest_beginning(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """holds back the shortest end that begins a stop string instead of the longest"""

    def shortest_beginning(text: str, stops: list[str]) -> int:
        return min((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)

    return until(pieces, stops, waiting=shortest_beginning)


def wrong_goes_on(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """cuts the stop string out and goes on with the text after it"""
    held = ""
    for piece in pieces:
        text = held + piece
        for stop in stops:
            text = text.replace(stop, "")
        sure = len(text) - longest_beginning(text, stops)
        yield text[:sure]
        held = text[sure:]
    yield held


def wrong_takes_one_more(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """takes one more piece after the stop string has come"""
    held = StopStrings(stops)
    for piece in pieces:
        shown, stopped = held.feed(piece)
        yield shown
        if stopped:
            next(pieces, None)
            return
    yield held.held


def wrong_only_at_the_end(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """looks for a stop string at the end of the text only, although a piece may bring it and more text behind it"""

    def at_the_end(text: str, stops: list[str]) -> int | None:
        return min((len(text) - len(stop) for stop in stops if text.endswith(stop)), default=None)

    return until(pieces, stops, at_the_end)


def wrong_joins_all_pieces(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """takes all pieces before it shows anything, also those after the stop string"""
    text = "".join(pieces)
    yield text[: min((text.index(stop) for stop in stops if stop in text), default=len(text))]


def wrong_holds_for_one_stop(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """holds back what could begin the first stop string of the list, and forgets the others"""
    return until(pieces, stops, waiting=lambda text, stops: longest_beginning(text, stops[:1]))


def right_library(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    matcher = StopStrings(stops)
    for piece in pieces:
        shown, stopped = matcher.feed(piece)
        yield shown
        if stopped:
            return
    yield matcher.held


def right_pattern(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    whole = re.compile("|".join(map(re.escape, stops)) or "(?!)")
    beginnings = {stop[:n] for stop in stops for n in range(1, len(stop))}
    begun = re.compile(f"(?:{'|'.join(map(re.escape, beginnings))})\\Z") if beginnings else re.compile("(?!)")
    text = ""
    for piece in pieces:
        text += piece
        if match := whole.search(text):
            yield text[: match.start()]
            return
        match = begun.search(text)
        sure = match.start() if match else len(text)
        yield text[:sure]
        text = text[sure:]
    yield text


def wrong_waits_for_an_earlier_one(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """goes on although a stop string has come, because one that would begin before it may still come"""

    def first_for_sure(text: str, stops: list[str]) -> int | None:
        found = first_stop(text, stops)
        return found if found is not None and found <= len(text) - longest_beginning(text, stops) else None

    return until(pieces, stops, first_for_sure)


def right_by_character(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    text, shown = "", 0
    for piece in pieces:
        text += piece
        for start in range(shown, len(text) + 1):
            if any(text.startswith(stop, start) for stop in stops):
                yield text[shown:start]
                return
            if any(stop.startswith(text[start:]) for stop in stops) or start == len(text):
                break
        later = [s for s in range(start, len(text)) if any(text.startswith(stop, s) for stop in stops)]
        if later:
            yield text[shown : later[0]]
            return
        yield text[shown:start]
        shown = start
    yield text[shown:]
