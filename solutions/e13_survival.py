"""0.998 to the power of 100 is 0.819, and twice as long a text survives with the square of that.

The mean wait for something of probability 0.002 is 500 tokens. For 95 % the hundredth root of 0.95 must be survived at
each token: a risk of 0.000513, a quarter of what it was.
"""

from solutions.vocabulary import Numbers

RISK, TOKENS, WANTED = 0.002, 100, 0.95
Table = dict[str, float | int]


def survival() -> dict[str, float | int]:
    return {
        "100 tokens": (1 - RISK) ** TOKENS,
        "200 tokens": (1 - RISK) ** (2 * TOKENS),
        "tokens to the first slip": round(1 / RISK),
        "slips in 10,000": 10_000 * (1 - WANTED ** (1 / TOKENS)),
    }


check_table = Numbers(survival, tolerance=0.005)


def wrong_adds_up() -> Table:
    """subtracts the risk of each token, but risks of several tokens do not simply add up"""
    return survival() | {"100 tokens": 1 - TOKENS * RISK, "200 tokens": 1 - 2 * TOKENS * RISK}


def wrong_slipped() -> Table:
    """gives the share of texts that have slipped"""
    right = survival()
    return right | {name: 1 - right[name] for name in ("100 tokens", "200 tokens")}


def wrong_half() -> Table:
    """halves the share for a text twice as long, instead of squaring it"""
    return survival() | {"200 tokens": survival()["100 tokens"] / 2}


def wrong_median() -> Table:
    """gives the number of tokens after which half of the texts have slipped, which is not the mean"""
    return survival() | {"tokens to the first slip": 346}


def wrong_shared_out() -> Table:
    """shares 5 % out over the 100 tokens by dividing; that is near, but the survivors multiply"""
    return survival() | {"slips in 10,000": 10_000 * (1 - WANTED) / TOKENS}


def wrong_per_text() -> Table:
    """takes the 5 % of the texts for a risk at each token"""
    return survival() | {"slips in 10,000": 10_000 * (1 - WANTED)}


def wrong_single_risk() -> Table:
    """gives the risk at one token instead of the slips in 10,000"""
    return survival() | {"slips in 10,000": 1 - WANTED ** (1 / TOKENS)}


def right_by_hand() -> Table:
    return {"100 tokens": 0.819, "200 tokens": 0.670, "tokens to the first slip": 500, "slips in 10,000": 5.13}
