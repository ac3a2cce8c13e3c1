"""The measuring itself, on a clock of our own: who runs when, which ratio is shown, what is left out."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("transformers", reason="a peer of the benchmarks (transformers is not installed)")

from benchmarks import __main__ as command
from benchmarks import measure
from benchmarks.growth import slope
from benchmarks.measure import QUICK, Row, compare, quartiles, race


class Clock:
    """Time that passes only when a side works."""

    def __init__(self, monkeypatch) -> None:
        self.now, self.order = 0.0, []
        monkeypatch.setattr(measure.time, "perf_counter", lambda: self.now)

    def side(self, name: str, *costs: float):
        """A run that takes these seconds, one after the other, the last one from then on."""
        left = list(costs)

        def run() -> None:
            self.order.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_the_sides_take_turns_and_the_order_turns_round(clock):
    race({"a": clock.side("a", 2.0), "b": clock.side("b", 3.0)}, turns=3)
    assert "".join(clock.order) == "ab" + "ab" + "ba" + "ab"  # the first of each warms up


def test_short_runs_are_repeated_until_a_turn_is_long_enough(clock):
    seconds = race({"a": clock.side("a", 0.001), "b": clock.side("b", 0.02)}, turns=2)
    assert seconds == {"a": pytest.approx([0.001] * 2), "b": pytest.approx([0.02] * 2)}
    assert clock.order.count("a") == 2 + 2 * 20 and clock.order.count("b") == 2 + 2 * 1


def test_the_figure_is_the_median_of_the_ratios_of_the_turns(clock):
    """A machine that slows down does so for both: the ratio of a turn stays, that of the medians may not."""
    sides = {"ours": clock.side("a", 9.0, 1.0, 2.0, 8.0), "peer": clock.side("b", 9.0, 3.0, 6.0, 12.0)}
    (row,) = compare("part", "what", sides, turns=3, amount=24, unit="tokens/s", goals={"peer": 3.5})
    assert (row.ours, row.theirs, row.ratio) == (12.0, 4.0, 3.0)
    assert row.spread == (2.25, 3.0)
    assert row.verdict == "missed"


def test_each_peer_has_its_row_beside_the_first_side(clock):
    sides = {name: clock.side(name, cost) for name, cost in (("ours", 2.0), ("one", 3.0), ("two", 1.0))}
    rows = compare("part", "what", sides, turns=2, goals={"one": 1.5})
    assert [(row.peer, row.ratio, row.verdict) for row in rows] == [("one", 1.5, "reached"), ("two", 0.5, "")]
    assert (rows[0].ours, rows[0].theirs, rows[0].unit) == (2000.0, 3000.0, "ms")


def test_quartiles_of_few_values():
    assert quartiles([2.0]) == (2.0, 2.0)
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 4.0)


def test_exponents_of_known_growth():
    assert slope([7 * n for n in (30, 60, 120, 240)]) == pytest.approx(1)
    assert slope([0.1 * n**2 for n in (30, 60, 120, 240)]) == pytest.approx(2)


@pytest.fixture
def parts(monkeypatch):
    def good(effort):
        yield Row("good", "a thing", "a peer", 250.4, 0.012345, "ms", 2.5, (2.0, 3.25), 2.0)

    def partly(effort):
        yield Row("partly", "another", "a peer", None, None, "", 0.5)
        raise LookupError("no Chromium found")

    monkeypatch.setattr(command, "PARTS", {"good": good, "partly": partly})
    monkeypatch.setattr(command, "LINES", [])
    monkeypatch.setattr(command, "_be_quiet", lambda: None)


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(command.sys, "argv", ["benchmarks", "--threads", "1", *map(str, arguments)])
    return command.main()


def test_the_table_and_the_files_say_the_same(parts, monkeypatch, capsys, tmp_path):
    files = tmp_path / "t.md", tmp_path / "t.json"
    assert run(monkeypatch, "--quick", "--markdown", files[0], "--json", files[1]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| good | a thing | a peer | 250 | 0.0123 | ms | 2.50 | 2.00 to 3.25 | 2 | reached |" in lines
    assert "| partly | another | a peer |  |  |  | 0.50 |  |  |  |" in lines
    assert any(line.startswith("| partly | left out: no Chromium found |") for line in lines)
    assert files[0].read_text().splitlines() == lines
    rows = json.loads(files[1].read_text())["rows"]
    assert [row["ratio"] for row in rows] == [2.5, 0.5]


def test_parts_are_chosen_by_name(parts, monkeypatch, capsys):
    assert run(monkeypatch, "good") == 0
    assert "another" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run(monkeypatch, "goood")
    assert "no part goood; known: good, partly" in capsys.readouterr().err


def test_what_grows_is_counted_as_the_chapters_say():
    from benchmarks.growth import growth

    fed = next(growth(QUICK))
    assert fed.ours == pytest.approx(1.0) and fed.theirs == pytest.approx(2.0, abs=0.05)
