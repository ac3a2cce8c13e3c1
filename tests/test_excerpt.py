"""What a name needs of a program: all of that, in order, and nothing else."""

from __future__ import annotations

import pytest

from exercises.grader.excerpt import excerpt, parses, statements, without_magics

CHAPTER = [
    "%matplotlib inline\nimport math; import torch\nfrom torch import Tensor\nrate = 2",
    "def broken(:",
    "kite = {'roof': 0.5}\nlogits = torch.ones(3)\nprint('prose')",
    "def half(x: Tensor) -> Tensor:\n    logits = x / rate\n    return logits",
    "!pip install anything\nkite['hill'] = 0.5\nkite.update(sea=0)\ntorch.manual_seed(0)",
    "@cached\ndef share(name):\n    def inner():\n        return kite[name]\n    return inner()",
    "def cached(f): return f",
    "while True:\n    pass",
    "for i in range(3):\n    total = i",
    "%%bash\nrm -rf nothing",
    "%%time\nlate = math.pi",
    "from solutions import *",
]


def cut(*names):
    return excerpt(statements(CHAPTER), *names).splitlines()


def test_imports_constants_and_helpers_come_along_and_locals_do_not():
    assert cut("half") == [
        "import torch" if line == "import torch" else line
        for line in ["from torch import Tensor", "rate = 2", *CHAPTER[3].splitlines(), "from solutions import *"]
    ]


def test_what_changes_a_needed_value_is_needed_too():
    lines = cut("share")
    assert lines[:3] == ["kite = {'roof': 0.5}", "kite['hill'] = 0.5", "kite.update(sea=0)"]
    assert "def cached(f): return f" in lines and "@cached" in lines
    assert not any("manual_seed" in line or "while" in line for line in lines)


def test_values_made_in_loops_and_under_magics():
    assert cut("total")[:2] == ["for i in range(3):", "    total = i"]
    assert cut("late")[:2] == ["import math", "late = math.pi"]


@pytest.mark.parametrize("name", ["broken", "nothing", "logits_"])
def test_what_is_not_there_is_empty(name):
    assert cut(name) == []


def test_an_excerpt_does_what_the_program_does():
    space: dict = {}
    program = "a = [1]\nb = a\nb.append(2)\na[0] += 1\nc = [x + len(b) for x in a]\n"
    exec(excerpt(statements([program]), "c"), space)
    assert space["c"] == [4, 4]


@pytest.mark.parametrize("cell", ["x = (", "\0", "(" * 2000, "def f():\nreturn"])
def test_cells_that_do_not_parse_cost_nothing_else(cell):
    assert not parses(cell)
    assert excerpt(statements([cell, "y = 1"]), "y") == "y = 1\n"


def test_lines_of_the_notebook_keep_their_places():
    assert without_magics("for i in x:\n    %timeit f(i)\n?help").splitlines() == ["for i in x:", "    pass", "pass"]
    assert without_magics("a = 5 % 3") == "a = 5 % 3"


def test_letters_of_many_bytes_do_not_shift_the_cut():
    assert excerpt(statements(["s = 'τ→∞'; t = s + 'é'"]), "t") == "s = 'τ→∞'\nt = s + 'é'\n"
