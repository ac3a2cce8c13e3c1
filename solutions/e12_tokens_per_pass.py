"""1 + rate + rate^2 + ... + rate^guesses: guess k is kept if it and all before it are accepted.

The 1 is the target's own token. The closed form is (1 - rate^(guesses + 1)) / (1 - rate), which is 0 / 0 at rate 1; the
sum knows that a perfect draft gives guesses + 1 (arXiv:2211.17192).
"""

from llm_gen.beyond import expected_tokens
from solutions.vocabulary import Check, OneOf, Whole, fails


def tokens_per_pass(rate: float, guesses: int) -> float:
    """The mean number of tokens a pass, its own one included; rate in [0, 1], guesses >= 0."""
    return sum(rate**k for k in range(guesses + 1))


check_mean = Check(
    tokens_per_pass,
    rate=OneOf(0.5, 0.0, 1.0, 0.75, 0.25, 0.8, 0.9, 0.99, 0.999),
    guesses=Whole(0, 8),
    examples=[
        (0.5, 1),
        (0.8, 4),
        (1.0, 4),
        (0.0, 3),
        (0.9, 20),
        (0.9999, 50),
        (0.1, 4),
    ],
)


@fails("error")
def wrong_divides_by_zero(rate: float, guesses: int) -> float:
    """divides by zero at rate 1"""
    return (1 - rate ** (guesses + 1)) / (1 - rate)


def wrong_accepted_only(rate: float, guesses: int) -> float:
    """forgets the token that the target gives itself"""
    return tokens_per_pass(rate, guesses) - 1


def wrong_exponent(rate: float, guesses: int) -> float:
    """ends the series one term too early: rate to the power of guesses is missing"""
    return tokens_per_pass(rate, guesses) - rate**guesses


def wrong_share(rate: float, guesses: int) -> float:
    """counts accepted guesses after a refused one too: 1 + rate * guesses"""
    return 1 + rate * guesses


def wrong_all_or_nothing(rate: float, guesses: int) -> float:
    """counts guesses only if all of them are accepted"""
    return 1 + guesses * rate**guesses


def wrong_refusals(rate: float, guesses: int) -> float:
    """takes `rate` for the probability of a refusal"""
    return tokens_per_pass(1 - rate, guesses)


def wrong_for_ever(rate: float, guesses: int) -> float:
    """lets the draft guess without end: 1 / (1 - rate)"""
    return 1 / (1 - rate) if rate < 1 else guesses + 1.0


def wrong_nearly_one(rate: float, guesses: int) -> float:
    """takes a rate near 1 for 1, to be safe from 0 / 0"""
    return guesses + 1.0 if rate > 0.95 else tokens_per_pass(rate, guesses)


def wrong_at_one(rate: float, guesses: int) -> float:
    """gives `guesses` at rate 1, but the target's own token comes on top"""
    return tokens_per_pass(rate, guesses) if rate < 1 else float(guesses)


def wrong_always_most(rate: float, guesses: int) -> float:
    """says that all guesses are kept"""
    return guesses + 1.0


def right_closed_form(rate: float, guesses: int) -> float:
    return (1 - rate ** (guesses + 1)) / (1 - rate) if rate < 1 else guesses + 1.0


def right_case_by_case(rate: float, guesses: int) -> float:
    stops = sum((kept + 1) * rate**kept * (1 - rate) for kept in range(guesses))
    return stops + (guesses + 1) * rate**guesses


def right_library(rate: float, guesses: int) -> float:
    return expected_tokens(rate, guesses)
