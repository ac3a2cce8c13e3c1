"""The whole batch once, each prompt alone once, and whole texts compared.

That is the definition, so it finds every fault whatever its cause: padding that is read, positions that are counted
from the rectangle's edge, a loop that ends with its first row, rows in another order. A check of lengths, of the first
token or of one favourite row lets one of them through. And a batch of copies is not the same as being alone: equal
prompts need no padding.
"""

from collections.abc import Callable
from itertools import zip_longest

from solutions.vocabulary import Check, ListOf, OneOf, Whole, fails

Texts = list[list[int]]


def rows_that_differ(
    generate_batch: Callable[[list[list[int]]], list[list[int]]], prompts: list[list[int]]
) -> list[int]:
    """Numbers of the rows, from 0 and upwards, whose text in the batch is not the text of their prompt alone."""
    together = generate_batch(prompts)
    alone = [text for prompt in prompts for text in generate_batch([prompt])]
    return [row for row, (own, other) in enumerate(zip_longest(together, alone)) if own != other]


# The generators. Each writes up to five tokens: the sum of what it has read, each id with its position; 0 is the end.


def write(text: list[int], first_position: int = 0) -> list[int]:
    written: list[int] = []
    while len(written) < 5 and written[-1:] != [0]:
        places = enumerate(text + written, start=first_position + 1)
        written.append(sum(token + place for place, token in places) % 7)
    return written


def right(prompts: Texts) -> Texts:
    return [write(prompt) for prompt in prompts]


def reads_padding(prompts: Texts) -> Texts:
    width = max(map(len, prompts))
    return [write([3] * (width - len(prompt)) + prompt) for prompt in prompts]


def counts_from_the_edge(prompts: Texts) -> Texts:
    width = max(map(len, prompts))
    return [write(prompt, width - len(prompt)) for prompt in prompts]


def stops_when_one_row_ends(prompts: Texts) -> Texts:
    steps = min(map(len, right(prompts)))
    return [text[:steps] for text in right(prompts)]


def forgets_to_sort_back(prompts: Texts) -> Texts:
    return right(sorted(prompts, key=len))


def leaves_the_pads(prompts: Texts) -> Texts:
    steps = max(map(len, right(prompts)))
    return [text + [0] * (steps - len(text)) for text in right(prompts)]


def loses_a_row(prompts: Texts) -> Texts:
    return right(prompts[: max(1, len(prompts) - 1)])


def loses_the_first(prompts: Texts) -> Texts:
    return right(prompts[1:] or prompts)


def slips_in_the_end(prompts: Texts) -> Texts:
    last = right(prompts)[0][-1]
    return [[*text[:-1], last] for text in right(prompts)]


def turns_texts_round(prompts: Texts) -> Texts:
    return right(prompts) if len(prompts) == 1 else [text[::-1] for text in right(prompts)]


GENERATORS = {
    made.__name__.replace("_", " "): made
    for made in (
        right,
        reads_padding,
        counts_from_the_edge,
        stops_when_one_row_ends,
        forgets_to_sort_back,
        leaves_the_pads,
        loses_a_row,
        loses_the_first,
        slips_in_the_end,
        turns_texts_round,
    )
}


def with_generator(answer: Callable, generator: str, prompts: Texts) -> list[int]:
    return answer(lambda given: GENERATORS[generator]([list(prompt) for prompt in given]), prompts)


check_checks = Check(
    rows_that_differ,
    call=with_generator,
    used_with='a generator of the kind that is named; "right" gives each row what it gets alone',
    generator=OneOf(*GENERATORS),
    prompts=ListOf(ListOf(Whole(1, 6), least=1, most=4), least=1, most=4),
    examples=[
        *((name, [[4, 1, 2], [5], [2, 6]]) for name in GENERATORS),
        ("loses a row", [[5], [2], [5]]),
        ("counts from the edge", [[1, 2, 3], [4], [5], [1, 1], [6]]),
        ("reads padding", [[1], [2], [3], [4], [5], [6], [1, 2]]),
    ],
)
not_checked = "speed, sampling"


@fails("shape")
def wrong_lengths(generate_batch: Callable, prompts: Texts) -> list[int]:
    """compares how long the texts are, not what they say"""
    pairs = zip_longest(generate_batch(prompts), [generate_batch([prompt])[0] for prompt in prompts], fillvalue=[])
    return [row for row, (own, other) in enumerate(pairs) if len(own) != len(other)]


@fails("shape")
def wrong_first_token(generate_batch: Callable, prompts: Texts) -> list[int]:
    """compares the first new token only"""
    pairs = zip_longest(generate_batch(prompts), [generate_batch([prompt])[0] for prompt in prompts], fillvalue=[])
    return [row for row, (own, other) in enumerate(pairs) if own[:1] != other[:1]]


@fails("shape")
def wrong_up_to_the_shorter(generate_batch: Callable, prompts: Texts) -> list[int]:
    """compares token by token up to the end of the shorter text, so a text that is cut off passes"""
    pairs = zip_longest(generate_batch(prompts), [generate_batch([prompt])[0] for prompt in prompts])
    return [row for row, (own, other) in enumerate(pairs) if own is None or any(a != b for a, b in zip(own, other))]


@fails("shape")
def wrong_missing_rows(generate_batch: Callable, prompts: Texts) -> list[int]:
    """does not notice that a row is missing"""
    pairs = zip(generate_batch(prompts), [generate_batch([prompt])[0] for prompt in prompts])
    return [row for row, (own, other) in enumerate(pairs) if own != other]


@fails("shape")
def wrong_first_row(generate_batch: Callable, prompts: Texts) -> list[int]:
    """looks at the first row only"""
    return [row for row in rows_that_differ(generate_batch, prompts) if row == 0]


@fails("shape")
def wrong_copies(generate_batch: Callable, prompts: Texts) -> list[int]:
    """tries each prompt among copies of itself, where nothing is padded"""
    many = len(prompts)
    return [
        row for row, prompt in enumerate(prompts) if generate_batch([prompt] * many) != generate_batch([prompt]) * many
    ]


@fails("shape")
def wrong_twice(generate_batch: Callable, prompts: Texts) -> list[int]:
    """compares the batch with itself, which shows only that it is greedy"""
    pairs = zip_longest(generate_batch(prompts), generate_batch(prompts))
    return [row for row, (own, other) in enumerate(pairs) if own != other]


@fails("shape")
def wrong_order(generate_batch: Callable, prompts: Texts) -> list[int]:
    """is content if each text of the batch is found somewhere among the texts alone"""
    alone = [generate_batch([prompt])[0] for prompt in prompts]
    return [row for row, (own, _text) in enumerate(zip_longest(generate_batch(prompts), alone)) if own not in alone]


@fails("shape")
def wrong_any_order(generate_batch: Callable, prompts: Texts) -> list[int]:
    """compares which tokens a text has, without regard to their order"""
    pairs = zip_longest(generate_batch(prompts), [generate_batch([prompt])[0] for prompt in prompts])
    return [row for row, (own, other) in enumerate(pairs) if own is None or sorted(own) != sorted(other)]


@fails("shape")
def wrong_which_tokens(generate_batch: Callable, prompts: Texts) -> list[int]:
    """compares the sets of tokens, without regard to their order and number"""
    pairs = zip_longest(generate_batch(prompts), [generate_batch([prompt])[0] for prompt in prompts])
    return [row for row, (own, other) in enumerate(pairs) if own is None or set(own) != set(other)]


@fails("shape")
def wrong_all_or_nothing(generate_batch: Callable, prompts: Texts) -> list[int]:
    """names every row as soon as one differs"""
    return list(range(len(prompts))) if rows_that_differ(generate_batch, prompts) else []


def wrong_from_one(generate_batch: Callable, prompts: Texts) -> list[int]:
    """counts the rows from 1"""
    return [row + 1 for row in rows_that_differ(generate_batch, prompts)]


@fails("shape")
def wrong_the_right_ones(generate_batch: Callable, prompts: Texts) -> list[int]:
    """names the rows that are as alone"""
    different = rows_that_differ(generate_batch, prompts)
    return [row for row in range(len(prompts)) if row not in different]


@fails("type")
def wrong_verdict(generate_batch: Callable, prompts: Texts) -> bool:
    """gives one verdict for the batch instead of the rows that differ"""
    return rows_that_differ(generate_batch, prompts) == []


def right_one_at_a_time(generate_batch: Callable, prompts: Texts) -> list[int]:
    batch, different = generate_batch(prompts), []
    for row in range(len(prompts)):
        if row >= len(batch) or batch[row] != generate_batch([prompts[row]])[0]:
            different.append(row)
    return different


def right_padded_list(generate_batch: Callable, prompts: Texts) -> list[int]:
    batch = generate_batch(prompts)
    batch = [*batch, *[None] * (len(prompts) - len(batch))]
    return [row for row, prompt in enumerate(prompts) if [batch[row]] != generate_batch([prompt])]
