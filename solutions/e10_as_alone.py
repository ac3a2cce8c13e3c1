"""Padding must not be read, positions must be the row's own (or differ by one shift), and the text must come last.

Right padding stands where the text goes on, so writing is lost; scoring is not, as nobody looks to the right. Shifting
a whole row changes learned positions, while rotary ones, which are differences, do not notice.

The key is computed with a model of three lines: what it says depends on each token that it sees and on that token's
position, or on its distance from the last token.
"""

import torch

from llm_gen import check_generation_mask
from solutions.vocabulary import Choice

SHORT, GAP, PAD = [3, 1, 2], 2, 9
MASK = [0] * GAP + [1] * len(SHORT)
LEFT, RIGHT = [PAD] * GAP + SHORT, SHORT + [PAD] * GAP


def say(tokens: list[int], seen: list[int], positions: list[int], rotary: bool) -> float:
    """What a model says after the last of the tokens; seen: 1 where it may look."""
    distances = [positions[-1] - place if rotary else place for place in positions]
    return sum(looks * (token + 0.5) ** (1 + distance) for token, looks, distance in zip(tokens, seen, distances))


def own(mask: list[int]) -> list[int]:
    return [max(0, sum(mask[: end + 1]) - 1) for end in range(len(mask))]


def columns(tokens: list[int]) -> list[int]:
    return list(range(len(tokens)))


def ones(tokens: list[int]) -> list[int]:
    return [1] * len(tokens)


def same(tokens: list[int], seen: list[int], positions: list[int], kinds: tuple[bool, ...] = (True, False)) -> str:
    """ "a" if the models of these kinds say what they say for the short prompt alone, else "b"."""
    alone = [say(SHORT, ones(SHORT), columns(SHORT), rotary) for rotary in kinds]
    return "a" if [say(tokens, seen, positions, rotary) for rotary in kinds] == alone else "b"


def refused() -> str:
    try:
        check_generation_mask(torch.tensor([MASK[::-1]]), torch.tensor([RIGHT]))
    except ValueError:
        return "c"
    return "b"


def as_alone() -> dict[str, str]:
    return {
        "left, masked, positions from the mask": same(LEFT, MASK, own(MASK)),
        "left, mask forgotten": same(LEFT, ones(LEFT), columns(LEFT)),
        "left, masked, learned positions by column": same(LEFT, MASK, columns(LEFT), (False,)),
        "left, masked, rotary positions by column": same(LEFT, MASK, columns(LEFT), (True,)),
        "right, no mask, writing after the last column": same(RIGHT, ones(RIGHT), columns(RIGHT)),
        "right, no mask, scoring the tokens of the prompt": same(RIGHT[:3], ones(SHORT), columns(SHORT)),
        "right, its mask given to generate": refused(),
        "all prompts equally long, no mask": same(SHORT, ones(SHORT), columns(SHORT)),
    }


check_letters = Choice(as_alone)


def changed(start: str, letter: str) -> dict[str, str]:
    return {name: letter if name.startswith(start) else right for name, right in as_alone().items()}


def wrong_model_knows_padding() -> dict[str, str]:
    """You trust the model to know padding when it sees it; without a mask the pad is a token like any other."""
    return changed("left, mask forgotten", "a")


def wrong_shift_is_harmless() -> dict[str, str]:
    """You let learned positions be shifted; each place has a vector of its own, so every token changes."""
    return changed("left, masked, learned", "a")


def wrong_shift_is_harmful() -> dict[str, str]:
    """You fear for rotary positions; attention sees differences only, and a shift of the whole row keeps them."""
    return changed("left, masked, rotary", "b")


def wrong_right_is_harmless() -> dict[str, str]:
    """You write after right padding; the logits of the last column stand behind the pads and continue those."""
    return changed("right, no mask, writing", "a")


def wrong_right_is_always_bad() -> dict[str, str]:
    """You think that padding behind a token changes its logits, but a causal model never looks to the right."""
    return changed("right, no mask, scoring", "b")


def wrong_no_guard() -> dict[str, str]:
    """You expect generate to take a mask with its zeros on the right; it refuses, for writing there goes wrong."""
    return changed("right, its mask", "b")


def wrong_mask_always() -> dict[str, str]:
    """You ask for a mask where there is no padding; a mask of ones says nothing."""
    return changed("all prompts", "b")


def wrong_never_the_same() -> dict[str, str]:
    """You think that a padded row can never be as alone; with mask and positions it is, and that is their purpose."""
    return changed("left, masked, positions", "b")


def wrong_expects_errors() -> dict[str, str]:
    """You expect an error, but all shapes fit, and a model reads what it is given; only a mask can be refused."""
    return dict.fromkeys(as_alone(), "c")


def wrong_mask_mends_the_right() -> dict[str, str]:
    """You trust the mask to mend right padding; the text would still go on behind a gap, so generate refuses it."""
    return changed("right, its mask", "a")


def right_by_hand() -> dict[str, str]:
    return dict(zip(as_alone(), "abbabaca"))
