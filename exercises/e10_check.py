"""Does my batch give each row what it gets alone?

Write the check that finds out, for any generator. `generate_batch` takes a list of prompts, each a list of ids, and
gives back a list of texts, the new ids of each prompt in the same order. It is greedy, so that the same call always
gives the same answer. Say which rows of the batch differ from what their prompt gets when it is alone in a batch.

The generators that your check will meet are not all right, and they are wrong in different ways: some rows may be too
short, in another place, or missing. (A row that is missing differs; rows are counted from 0.)
"""

from collections.abc import Callable

objective = "Test that each row gets what it gets alone"
difficulty = 3
minutes = 12
hints = (
    "One call for the whole batch, and one for each prompt, as a batch with a single row.",
    "Compare whole texts. zip stops at the end of the shorter list, so it does not see what is missing.",
    "itertools.zip_longest pairs the texts of the batch with the texts alone, and gives None where a row is missing.",
)


def rows_that_differ(
    generate_batch: Callable[[list[list[int]]], list[list[int]]], prompts: list[list[int]]
) -> list[int]:
    """Numbers of the rows, from 0 and upwards, whose text in the batch is not the text of their prompt alone."""
    raise NotImplementedError
