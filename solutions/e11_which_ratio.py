"""Equal settings on both sides give 1 (A and C). A filter on one side only leaves the kept mass between the two.

B divides the whole softmax by the filtered one: what is left is the kept mass. E does the opposite. D forgets the
temperature, and cold has made likely tokens likelier: the ratio is below 1 there and above 1 at unlikely tokens.

The key is computed: each program is run on a row of probabilities, for every token that could be drawn.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from llm_gen import filter_logits
from solutions.vocabulary import Choice

LOGITS = torch.tensor([[0.5, 0.25, 0.12, 0.08, 0.05]], dtype=torch.float64).log()
Row = Callable[[], Tensor]


def filtered() -> Tensor:
    return filter_logits(LOGITS, 0.8, None, 0.9).log_softmax(dim=-1)[0]


def heated() -> Tensor:
    return filter_logits(LOGITS, 0.8).log_softmax(dim=-1)[0]


def plain() -> Tensor:
    return LOGITS[0]


PROGRAMS: dict[str, tuple[Row, Row]] = {
    "program A": (filtered, filtered),
    "program B": (filtered, heated),
    "program C": (heated, heated),
    "program D": (heated, plain),
    "program E": (heated, filtered),
}


def which_ratio() -> dict[str, str]:
    return {name: letter(new() - old()) for name, (old, new) in PROGRAMS.items()}


def letter(difference: Tensor) -> str:
    """The option for log-ratios (V,), judged by the tokens that the filter keeps, likeliest first."""
    ratios = difference[filtered().isfinite()].exp()
    if torch.allclose(ratios, torch.ones_like(ratios)):
        return "a"
    if torch.allclose(ratios, ratios[:1]):
        return "b" if ratios[0] < 1 else "c"
    return "d"


check_letters = Choice(which_ratio)


def wrong_filter_unseen() -> dict[str, str]:
    """Top-p renormalises: what stays is divided by its mass, so a filtered probability is not a full one."""
    return which_ratio() | {"program B": "a", "program E": "a"}


def wrong_way_round() -> dict[str, str]:
    """B and E are the other way round: the filtered probability is the larger one, and in B it is the old one."""
    return which_ratio() | {"program B": "c", "program E": "b"}


def wrong_full_is_unheated() -> dict[str, str]:
    """full_log_probs are not those at temperature 1, but those at the temperature of the draw."""
    return which_ratio() | {"program C": "d", "program D": "a"}


def wrong_constant_heat() -> dict[str, str]:
    """A temperature moves each token by another factor, so it cannot be one number for all."""
    return which_ratio() | {"program D": "b"}


def wrong_only_filtered() -> dict[str, str]:
    """Program C compares a distribution with itself too: the whole softmax, heated on both sides."""
    return which_ratio() | {"program C": "b"}


def wrong_all_one() -> dict[str, str]:
    """An unchanged model has the ratio 1 only if both sides use the same settings."""
    return dict.fromkeys(PROGRAMS, "a")


def right_by_hand() -> dict[str, str]:
    return dict(zip(PROGRAMS, "abadc"))
