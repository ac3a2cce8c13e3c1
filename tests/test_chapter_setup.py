"""What a chapter starts with, how it prints a table, and how numbers and tokens are written."""

from __future__ import annotations

import random

import matplotlib
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from notebooks import panels
from notebooks.panels.words import shortened, token_count, two_decimals, visible


@pytest.fixture
def settings_put_back():
    """`start_chapter` changes settings of the whole process; other tests must not see them."""
    dtype, threads, options = torch.get_default_dtype(), torch.get_num_threads(), np.get_printoptions()
    figures, state = matplotlib.rcParams.copy(), (torch.get_rng_state(), np.random.get_state(), random.getstate())
    yield
    torch.set_default_dtype(dtype)
    torch.set_num_threads(threads)
    torch.set_printoptions(profile="default")
    np.set_printoptions(**options)
    matplotlib.rcParams.update(figures)
    torch.set_rng_state(state[0])
    np.random.set_state(state[1])
    random.setstate(state[2])


def test_a_chapter_starts_the_same_everywhere(settings_put_back, capsys):
    panels.start_chapter()
    first = torch.rand(3), np.random.rand(3), random.random()
    panels.start_chapter()
    assert torch.equal(torch.rand(3), first[0])
    assert (np.random.rand(3) == first[1]).all()
    assert random.random() == first[2]
    assert torch.get_num_threads() == 1
    assert torch.get_default_dtype() == torch.float64
    assert str(torch.tensor([1e-5, 1000.0])) == "tensor([   0.0000, 1000.0000])"
    assert capsys.readouterr().out == ""


def test_a_table_is_aligned_and_rounded(capsys):
    rows = [[0.5, "cat", 12, 0.86681], [torch.tensor(2), "a dog", 3, np.float64(-1e-9)], [None, "", 1000, 1.0]]
    panels.table(["tau", "token", "n", "p"], rows, decimals=[1, 0, 0, 3])
    assert capsys.readouterr().out.splitlines() == [
        "tau  token     n      p",
        "---  -----  ----  -----",
        "0.5  cat      12  0.867",
        "  2  a dog     3  0.000",
        "            1000  1.000",
    ]


def test_a_table_takes_rows_that_can_be_read_only_once(capsys):
    panels.table(["n", "word"], zip([1, 2], ["cat", "dog"]))
    assert capsys.readouterr().out.splitlines()[2:] == ["1  cat", "2  dog"]


def test_a_table_refuses_rows_of_another_length():
    with pytest.raises(ValueError, match="each row must have 2 cells, got"):
        panels.table(["a", "b"], [[1, 2], [3]])
    with pytest.raises(ValueError, match="each row must have 2 cells, got"):
        panels.table(["a", "b"], [[1, 2]], decimals=[3])


def test_a_table_without_rows_is_its_header(capsys):
    panels.table(["a", "long"], [])
    assert capsys.readouterr().out == "a  long\n-  ----\n"


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_fixed_rounds_and_never_writes_a_negative_zero(value, decimals):
    text = panels.fixed(value, decimals)
    assert float(text) == pytest.approx(value, abs=0.5001 * 10**-decimals)
    assert not (text.startswith("-") and float(text) == 0)


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0.0%"), (1e-9, "<0.1%"), (0.0005, "0.1%"), (0.461, "46.1%"), (1, "100.0%")]
)
def test_a_share_that_is_not_zero_does_not_look_like_zero(share, text):
    assert panels.percent(share) == text


@pytest.mark.parametrize(("value", "text"), [(0.8, "0.80"), (1.0, "1.00"), (0.685, "0.685"), (1.64, "1.64")])
def test_a_setting_is_written_whole(value, text):
    assert two_decimals(value) == text


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        (b" the", "\u2423the"),
        (b"\n\n", "\u21b5\u21b5"),
        (b"\tx", "\u21e5x"),
        ("caf\u00e9".encode(), "caf\u00e9"),
        (b"\xf0\x9f", "<F0 9F>"),
        (b"\x00", "<00>"),
        ("plain", "plain"),
        (b"", ""),
    ],
)
def test_a_token_shows_what_it_is(piece, text):
    assert visible(piece) == text


def test_counts_and_cuts_read_well():
    assert [token_count(1), token_count(2), token_count(49152)] == ["1 token", "2 tokens", "49,152 tokens"]
    assert [shortened("abcdef", 6), shortened("abcdef", 5)] == ["abcdef", "abcd\u2026"]
