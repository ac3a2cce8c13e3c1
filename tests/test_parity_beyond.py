"""Each line of the second parity table: transformers keeps the same, and speculation keeps the law of the target."""

from __future__ import annotations

import pytest
import torch
from every_run import law
from law_of_speculation import RUNS, enumeration
from parity_beyond import LOOPS, PLUGGED, compare_rows, everything_in_order, mirostat, print_table
from parity_search import BEAMS, FAMILIES, beam, contrastive, groups, ranking, speculation

from llm_gen.beyond import speculative


@pytest.mark.parametrize("method", [*PLUGGED, *LOOPS])
def test_the_same_tokens_stay_with_the_same_probabilities(method):
    line = compare_rows(method, "", *{**PLUGGED, **LOOPS}[method])
    assert line.same == line.compared == 200
    assert line.difference < 1e-6


def test_mirostat_cuts_where_the_loop_cuts():
    line = mirostat()
    assert line.same == line.compared == 40 and line.difference < 1e-6


def test_all_together_act_in_the_order_of_transformers():
    """The logits of the two models differ by rounding, so the probabilities do too."""
    line = everything_in_order()
    assert line.same == line.compared == 200 and line.difference < 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_finds_the_same_texts_with_the_same_scores(family):
    line = beam(family)
    assert line.same == line.compared == 4 * len(BEAMS) and line.difference < 1e-4


def test_speculation_writes_the_greedy_text_of_transformers():
    line = speculation()
    assert line.same == line.compared == 2 * len(FAMILIES)


def test_diverse_groups_are_those_of_the_loop():
    line = groups()
    assert line.same == line.compared == 2 * len(FAMILIES) and line.difference < 1e-5


def test_best_of_ranks_as_the_loop_does():
    line = ranking()
    assert line.same == line.compared == 2 * len(FAMILIES) and line.difference < 1e-5


def test_contrastive_search_is_that_of_the_loop():
    line = contrastive()
    assert line.same == line.compared == 2 * len(FAMILIES)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_run_of_speculative_sampling_adds_up_to_the_law_of_the_target(run):
    """Models with weights round on the way, and not alike with a cache and without."""
    line = enumeration(*run)
    assert line.same == line.compared >= 8
    assert line.difference < (1e-6 if "caches" in run[0] else 1e-14)


HONEST = speculative._Drafter.__call__


def lying(self, text, count, vocab_size):
    tokens, _proposed = HONEST(self, text, count, vocab_size)
    return tokens, torch.full((len(tokens), vocab_size), 1 / vocab_size, dtype=torch.float64)


FAULTS = {
    "draws from the target after a refusal": (speculative, "residual", lambda p, q: p),
    "takes the likeliest of what is left": (speculative, "residual", lambda p, q: ((p - q) == (p - q).max()).double()),
    "is judged by another distribution than it drew from": (speculative._Drafter, "__call__", lying),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_enumeration_sees_a_fault(fault, monkeypatch):
    monkeypatch.setattr(*FAULTS[fault])
    assert enumeration("a Markov model", 2, {}).difference > 0.005


def test_every_run_is_made_once_and_the_chances_sum_to_one():
    probs, made = torch.tensor([0.5, 0.25, 0.0, 0.25]), []

    def program():
        first = int(torch.multinomial(probs, 1))
        late = bool(torch.rand(()) * torch.tensor(0.5) >= torch.tensor(0.1)) if first else None
        made.append((first, late))
        return first, late

    found = law(program)
    assert found == pytest.approx({(0, None): 0.5, (1, True): 0.2, (1, False): 0.05, (3, True): 0.2, (3, False): 0.05})
    assert len(made) == len(set(made)) == len(found)


def test_the_table_tells_the_largest_deviation(capsys, monkeypatch):
    monkeypatch.setattr("parity_beyond.lines", lambda: iter([mirostat(), enumeration("a Markov model", 1, {})]))
    print_table()
    table = capsys.readouterr().out.splitlines()
    assert table[3].startswith("| Mirostat | plain loop | 40 of 40 |")
    assert float(table[-1].rpartition(" ")[2]) < 1e-14
