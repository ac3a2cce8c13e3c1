"""Refuse bad settings.

Write the check that comes before sampling. Good settings give None. Otherwise raise an error whose message
names the argument that is wrong. temperature: a finite number above 0. top_k: None or a whole number from 1.
top_p: None or a number above 0 and up to 1. top_k and top_p together are refused too, naming both. A value of
the wrong kind is a TypeError (a bool is not a number, and 2.0 is not a whole number), a wrong value is a
ValueError.
"""

objective = "State and check the rules for sampling settings"
difficulty = 3
minutes = 12
hints = (
    "isinstance(True, int) is True, so bool has to be ruled out first.",
    "math.isfinite is False for inf and for nan. And nan fails every comparison: is your test of top_p safe?",
    "Write the good range and negate it: `if not 0 < top_p <= 1: raise ValueError(...)` also catches nan.",
)


def check_settings(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise TypeError or ValueError, naming the argument, unless the settings can be sampled with."""
    raise NotImplementedError
