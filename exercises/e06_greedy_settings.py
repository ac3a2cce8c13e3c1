"""One form for all settings.

Users write settings in many ways: temperature 0 for greedy, top_k = 0 for off, top_p = 1 or more for off. Turn them
into (temperature, top_k, top_p) for sampling, where None is off. Temperature 0 means greedy decoding, written as
(1.0, 1, None), whatever the other two say. Otherwise top_k = 0 becomes None, top_p >= 1 becomes None, and the rest
stays as it is. top_k and top_p may be None already.
"""

objective = "Write greedy decoding as sampling settings"
difficulty = 2
minutes = 8
hints = (
    "Which of the three decides alone? Look at it first, and return at once.",
    "None cannot be compared with a number: test for None before you ask whether top_p >= 1.",
    "The temperature of greedy is 1.0 and not 0: nobody may divide by it later.",
)


def plain_settings(
    temperature: float, top_k: int | None, top_p: float | None
) -> tuple[float, int | None, float | None]:
    """(temperature, top_k, top_p) to sample with, None for off; temperature 0 gives (1.0, 1, None)."""
    raise NotImplementedError
