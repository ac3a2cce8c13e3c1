"""Stop strings across token borders.

A model's text comes in `pieces`, one for each token, and must end before the first of several stop strings. Write a
generator: it takes a piece, yields what may be shown now, and only then takes the next one.

- A stop string, and what follows it, is never shown; not even its beginning, if a later piece completes it.
- Hold back only what could still be the beginning of a stop string. Everything before that is shown at once.
- When a stop string has come, return: no further piece is taken. Of several, the one that begins first counts.
- When the pieces run out, what is held back is ordinary text: yield it.

No stop string is empty. To yield an empty string, or nothing, where there is nothing to show, is the same.
"""

from collections.abc import Iterator

objective = "Catch stop strings across token borders"
difficulty = 4
minutes = 20
hints = (
    "Keep one string: what is held back, with the new piece after it. Look for the stop strings in that.",
    "No stop string in it? Then ask: which end of the text is also a beginning of a stop string? Take the longest one.",
    "text.endswith(stop[:n]) for n from 1 to len(stop) - 1: the largest such n over all stops is what must wait.",
)


def until_stop(pieces: Iterator[str], stops: list[str]) -> Iterator[str]:
    """Text as it may be shown, up to the first of the stop strings; yields after each piece what has become sure."""
    raise NotImplementedError
