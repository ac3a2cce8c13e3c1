"""Find the loop.

A text is caught in a loop if it ends with the same piece twice: its last 2n ids are n ids and the same n ids
again. Give the smallest such n >= 1, or 0 if the text ends in no repetition.
"""

objective = "Find the loop that a text has fallen into"
difficulty = 2
minutes = 8
hints = (
    "Try n = 1, then 2, and so on. How large can n be at most?",
    "The last n ids are ids[-n:]. Which slice holds the n ids before them?",
    "Compare ids[-n:] with ids[-2 * n : -n] for n from 1 to len(ids) // 2.",
)


def loop_length(ids: list[int]) -> int:
    """The smallest n >= 1 for which the last 2n ids are the same n ids twice; 0 if there is none."""
    raise NotImplementedError
