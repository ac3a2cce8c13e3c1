"""A pass reads all weights and computes all tokens side by side, and takes as long as the slower of the two.

16 GB at 400 GB a second take 40 ms; 16 x 10^9 operations at 40 x 10^12 a second take 0.4 ms.
One row waits for memory: a step of 40 ms writes 1 token, 25 a second.
With 16 rows it takes no longer, as 6.4 ms of computing hide behind the reading, and writes 16.
Half the bytes are half the time. The prompt feeds 1,000 tokens in one pass: 400 ms of computing.
Both are equal at 40 / 0.4 = 100 tokens.
"""

from solutions.vocabulary import Numbers

WEIGHTS, BANDWIDTH, OPERATIONS = 8e9, 400e9, 40e12
Table = dict[str, float]


def what_bounds() -> dict[str, float]:
    return table()


def seconds(tokens: int, bytes_per_weight: float = 2, operations: float = 2) -> float:
    """Of one pass: the slower of reading the weights and computing the tokens."""
    reading = WEIGHTS * bytes_per_weight / BANDWIDTH
    return max(reading, tokens * WEIGHTS * operations / OPERATIONS)


def table(pace=seconds, bytes_per_weight: float = 2, operations: float = 2) -> Table:
    reading, computing = WEIGHTS * bytes_per_weight / BANDWIDTH, WEIGHTS * operations / OPERATIONS
    return {
        "tokens a second, one row": 1 / pace(1, bytes_per_weight, operations),
        "tokens a second, 16 rows together": 16 / pace(16, bytes_per_weight, operations),
        "tokens a second, one row, 1 byte a weight": 1 / pace(1, bytes_per_weight / 2, operations),
        "milliseconds for a prompt of 1,000": 1000 * pace(1000, bytes_per_weight, operations),
        "tokens in a pass where both are equal": reading / computing,
    }


check_table = Numbers(what_bounds, tolerance=0.01)
variants = (
    (
        "8 billion",
        "WEIGHTS, BANDWIDTH, OPERATIONS = 8e9",
        "16 GB at 400 GB a second take 40 ms; 16 x 10^9 operations at 40 x 10^12 a second take 0.4 ms",
        "a step of 40 ms writes 1 token, 25 a second",
        "6.4 ms of computing",
        "400 ms of computing",
        "40 / 0.4 = 100",
    ),
    (
        "4 billion",
        "WEIGHTS, BANDWIDTH, OPERATIONS = 4e9",
        "8 GB at 400 GB a second take 20 ms; 8 x 10^9 operations at 40 x 10^12 a second take 0.2 ms",
        "a step of 20 ms writes 1 token, 50 a second",
        "3.2 ms of computing",
        "200 ms of computing",
        "20 / 0.2 = 100",
    ),
    (
        "20 billion",
        "WEIGHTS, BANDWIDTH, OPERATIONS = 20e9",
        "40 GB at 400 GB a second take 100 ms; 40 x 10^9 operations at 40 x 10^12 a second take 1 ms",
        "a step of 100 ms writes 1 token, 10 a second",
        "16 ms of computing",
        "1,000 ms of computing",
        "100 / 1 = 100",
    ),
)


def wrong_adds_both() -> Table:
    """adds the two times, although reading and computing overlap"""
    return table(lambda tokens, size, ops: WEIGHTS * size / BANDWIDTH + tokens * WEIGHTS * ops / OPERATIONS)


def wrong_computing_only() -> Table:
    """counts the operations and forgets that the weights must be read"""
    return table(lambda tokens, _size, ops: tokens * WEIGHTS * ops / OPERATIONS)


def wrong_reading_only() -> Table:
    """lets the prompt take no longer than one token, as if computing were free"""
    return table(lambda _tokens, size, _ops: WEIGHTS * size / BANDWIDTH)


def wrong_rows_read_alone() -> Table:
    """reads the weights again for each row of the batch; a pass reads them once for all"""
    return table() | {"tokens a second, 16 rows together": 1 / seconds(1)}


def wrong_prompt_token_by_token() -> Table:
    """feeds the prompt one token at a time, so that the weights are read 1,000 times"""
    return table() | {"milliseconds for a prompt of 1,000": 1e6 * seconds(1)}


def wrong_one_operation() -> Table:
    """counts one operation for each weight; it is multiplied and added"""
    return table(operations=1)


def wrong_bytes_do_not_matter() -> Table:
    """expects nothing of smaller weights, but a step that waits for memory is as long as its bytes"""
    return table() | {"tokens a second, one row, 1 byte a weight": 1 / seconds(1)}


def wrong_one_byte() -> Table:
    """takes the number of weights for the number of bytes"""
    return table(bytes_per_weight=1)


def wrong_seconds() -> Table:
    """gives seconds instead of milliseconds"""
    return table() | {"milliseconds for a prompt of 1,000": seconds(1000)}


def right_by_hand() -> Table:
    return dict(zip(what_bounds(), (25.0, 400.0, 50.0, 400.0, 100.0)))
