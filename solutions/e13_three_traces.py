"""A is a loop whose phrase grows likelier each round, B drew a token of 1 in 100,000, C told its story and went on.

A and C were both cut at twelve tokens, and more room would only give more of the same: in A the loop came first, in C
nobody told the loop which id ends a text. B is the only one whose fault is a single token.

The key is computed: `diagnose` reads the traces, and the first finding counts.
"""

from llm_gen.beyond import Trace, diagnose
from solutions.vocabulary import Choice

A = Trace([1, 2, 3] * 4, [0.9, 0.3, 0.4, 0.9, 0.5, 0.6, 0.9, 0.8, 0.8, 0.9, 0.9, 0.9], [1.0] * 12, ended=False)
B = Trace(list(range(11)), [0.8, 0.4, 0.6, 0.9, 0.9, 1e-5, 0.01, 0.2, 0.1, 0.3, 0.2], [2.0] * 11, ended=True)
C = Trace(list(range(12)), [0.8, 0.4, 0.3, 0.6, 0.9, 0.7, 0.9, 0.9, 0.6, 0.9, 0.9, 0.9], [1.0] * 12, ended=False)
LETTERS = {"repetition loop": "ae", "sudden surprise": "bf", "early end": "ch", "runs on": "dg"}


def three_traces() -> dict[str, str]:
    first = {name: diagnose(trace)[0].name for name, trace in (("A", A), ("B", B), ("C", C))}
    return table("".join(LETTERS[fault] for fault in first.values()))


def table(letters: str) -> dict[str, str]:
    keys = [f"trace {name}, {part}" for name in "ABC" for part in ("fault", "remedy")]
    return dict(zip(keys, letters))


check_letters = Choice(three_traces)


def wrong_cut_is_cut() -> dict[str, str]:
    """The cut is not the fault: more room gives more rounds of the loop, and more stories after the first."""
    return table("dhbfdh")


def wrong_loop_in_c() -> dict[str, str]:
    """A second story begins in C, but nothing has come twice: it is no loop, it simply never stopped."""
    return three_traces() | {"trace C, fault": "a", "trace C, remedy": "e"}


def wrong_tail_everywhere() -> dict[str, str]:
    """Every token of A was likely, so the tail is not to blame; that they are likely is the trouble."""
    return three_traces() | {"trace A, fault": "b", "trace A, remedy": "f"}


def wrong_colder_loop() -> dict[str, str]:
    """Cutting the tail in A makes the likeliest token surer still, and the loop with it."""
    return three_traces() | {"trace A, remedy": "f"}


def wrong_early_end() -> dict[str, str]:
    """B did end, but the token of 0.00001 had spoiled it long before."""
    return three_traces() | {"trace B, fault": "c", "trace B, remedy": "h"}


def wrong_penalty_for_b() -> dict[str, str]:
    """Nothing repeats in B, and a penalty on what has come lifts the tail even further."""
    return three_traces() | {"trace B, remedy": "e"}


def wrong_more_room() -> dict[str, str]:
    """The story of C was over after eight tokens: more room does not help, it must be told what an end is."""
    return three_traces() | {"trace C, remedy": "h"}


def right_by_hand() -> dict[str, str]:
    return table("aebfdg")
