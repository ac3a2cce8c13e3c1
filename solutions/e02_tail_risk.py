"""One step goes wrong with 1,000 x 0.0001 = 0.1, fifty steps all go well with 0.9 ** 50, which is 0.5 %.

Tokens of one step exclude each other, so their probabilities add up. Steps do not: adding 0.1 fifty times
gives 5, which is the expected number of senseless tokens and no probability.
"""

from solutions.vocabulary import Numbers

TOKENS, EACH, STEPS = 1000, 0.0001, 50
Table = dict[str, float | int]


def tail_risk() -> dict[str, float | int]:
    return table(TOKENS * EACH)


def table(per_step: float, steps: int = STEPS) -> Table:
    until = next(n for n in range(1, 100_000) if (1 - per_step) ** n < 0.5)
    return {"in one step": per_step, "in 50 steps": 1 - (1 - per_step) ** steps, "steps until likely": until}


check_table = Numbers(tail_risk, tolerance=0.001)


def wrong_one_token() -> Table:
    """forgets that there are 1,000 such tokens"""
    return table(EACH)


def wrong_adds_steps() -> Table:
    """adds up the steps, which gives the expected number of senseless tokens and no probability"""
    return tail_risk() | {"in 50 steps": STEPS * TOKENS * EACH, "steps until likely": 5}


def wrong_all_well() -> Table:
    """gives the probability that all 50 steps go well"""
    return tail_risk() | {"in 50 steps": 1 - tail_risk()["in 50 steps"]}


def wrong_every_step() -> Table:
    """gives the probability that every one of the 50 steps goes wrong"""
    return tail_risk() | {"in 50 steps": (TOKENS * EACH) ** STEPS}


def wrong_capped() -> Table:
    """adds up the steps and stops at 1, as if it were certain"""
    return tail_risk() | {"in 50 steps": 1.0}


def wrong_one_step_early() -> Table:
    """stops one step early: after 6 steps a senseless token is still a little less likely than not"""
    return tail_risk() | {"steps until likely": 6}


def wrong_half_of_fifty() -> Table:
    """takes half of the 50 steps for an even chance"""
    return tail_risk() | {"steps until likely": 25}


def wrong_tokens_independent() -> Table:
    """multiplies within a step, as if 1,000 tokens were drawn; one token is drawn, so their probabilities add up"""
    return table(1 - (1 - EACH) ** TOKENS)


def right_by_hand() -> Table:
    return {"in one step": 0.1, "in 50 steps": 0.995, "steps until likely": 7}
