"""The chapters keep the promises of their first cell, and their saved outputs hold every worked number."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

import nbformat
import pytest

from exercises.grader.catalog import all_exercises, find

ROOT = Path(__file__).resolve().parent.parent
# 00 shows how to use the course; it is no chapter of the subject.
CHAPTERS = [path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")) if path.stem[:2] != "00"]
WORKED = json.loads((ROOT / "tests" / "worked_tables.json").read_text(encoding="utf-8"))
CLOSING = ["Typical mistakes", "Exercises", "Summary", "References", "Next"]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")

each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@cache
def cells(path: Path, kind: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def prose(path: Path) -> str:
    return "\n\n".join(cell.source for cell in cells(path, "markdown"))


def words(text: str) -> int:
    """How many words a reader reads; a formula counts as one, tags and marks as none."""
    text = re.sub(r"\$\$?.+?\$\$?", "formula", text, flags=re.S)
    return sum(any(character.isalnum() for character in word) for word in re.sub(r"<.+?>", " ", text).split())


def chapter_objectives(path: Path) -> dict[str, str]:
    """The numbered list of the first cell: number -> objective, in small letters, without marks."""
    lines = re.findall(r"^(\d)\. (\*\*\w+\*\*.+)[;.]$", cells(path, "markdown")[0].source, re.M)
    return {number: text.replace("**", "").lower() for number, text in lines}


def posed_exercises(path: Path) -> dict[str, str]:
    """Name of each exercise that the chapter checks -> the text above its stub."""
    everything = nbformat.read(path, as_version=4).cells
    checks = [re.match(r'check\("(\w+)"', cell.source) for cell in everything]
    return {check[1]: everything[at - 2].source for at, check in enumerate(checks) if check}


def code_lines(cell: nbformat.NotebookNode) -> int:
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def test_there_are_chapters():
    assert CHAPTERS


@each_chapter
def test_a_chapter_fits_into_one_sitting(path):
    lengths = [code_lines(cell) for cell in cells(path, "code")]
    assert 45 <= len(lengths) + len(cells(path, "markdown")) <= 70
    assert 1800 <= words(prose(path)) <= 2800
    assert median(lengths) <= 6 and max(lengths) <= 12


@each_chapter
def test_code_fits_beside_an_open_file_browser(path):
    own = [cell.source for cell in cells(path, "code") if "NotImplementedError" not in cell.source]
    assert [line for line in "\n".join(own).splitlines() if len(line) > 96] == []


@each_chapter
def test_each_objective_has_its_exercise(path):
    objectives = list(chapter_objectives(path).values())
    exercises = [exercise for exercise in all_exercises() if exercise.chapter == int(path.stem[:2])]
    assert 3 <= len(objectives) <= 6
    assert set(objectives) == {exercise.task.objective.lower() for exercise in exercises}
    assert sorted(posed_exercises(path)) == [exercise.name for exercise in exercises]


@each_chapter
def test_the_chapter_poses_each_exercise_as_its_page_does(path):
    objectives = chapter_objectives(path)
    for name, text in posed_exercises(path).items():
        task = find(name).task
        line = re.search(r"^\*Objective (\d) · difficulty (●*)○* · (\d+) minutes\*$", text, re.M)
        number, dots, minutes = line.groups()
        assert objectives[number] == task.objective.lower()
        assert (len(dots), int(minutes)) == (task.difficulty, task.minutes)
        shown, parts = " ".join(text.split()), (task.title, task.text, *task.options.values())
        assert [part for part in parts if " ".join(part.split()) not in shown] == []


@each_chapter
def test_the_closing_parts_are_there_in_order(path):
    headings = re.findall(r"^## (.+)$", prose(path), re.M)
    assert [heading for heading in headings if heading in CLOSING] == CLOSING
    references = prose(path).split("## References")[1]
    assert re.findall(r"arXiv \d{4}\.\d{5}\b", references)


@each_chapter
def test_no_answer_comes_before_its_question(path):
    """Every fold belongs to a question; every question without a fold is answered by the next code cell."""
    for cell, following in pairwise(nbformat.read(path, as_version=4).cells):
        for part in re.split(r"\n(?=#)", cell.source if cell.cell_type == "markdown" else ""):
            folds = re.findall(r"<details><summary>(.+)</summary>\n\n", part)
            assert len(folds) == part.count("<details>") == part.count("\n\n</details>")
            asks, answers = re.search(r"\*\*(Predict|Question)", part), "Answer" in folds
            assert asks or not answers
            assert answers or not asks or following.cell_type == "code"


@each_chapter
def test_links_between_chapters_lead_somewhere(path):
    names = re.findall(r"`(\d\d_\w+\.ipynb)`", prose(path)) + re.findall(r"\]\((?!http)([^)#]+)\)", prose(path))
    assert [name for name in names if not (path.parent / name).exists()] == []


# Worked tables


def chapter(number: str) -> Path:
    return next(path for path in CHAPTERS if path.stem.startswith(number))


@cache
def printed(number: str) -> list[str]:
    """The text of each saved output of a chapter."""
    outputs = [output for cell in cells(chapter(number), "code") for output in cell.outputs]
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]


@cache
def lines_of_numbers(number: str) -> list[list[str]]:
    """Each line of the outputs as its numbers, and each column of lines that follow one another."""
    found = []
    for text in printed(number):
        rows = [NUMBER.findall(line.replace(",", "")) for line in text.splitlines()]
        found += rows
        for length in {len(row) for row in rows}:
            found += [list(column) for column in zip(*(row for row in rows if len(row) == length))]
    return found


def shows(printed_number: str, value: float) -> bool:
    """Whether it is the value rounded as printed: to three decimals or more, or with all that it has."""
    decimals = len(printed_number.partition(".")[2])
    exact = float(printed_number) == pytest.approx(value, rel=1e-9)
    return exact or (decimals >= 3 and abs(float(printed_number) - value) <= 0.5 * 10**-decimals + 1e-9)


def in_order(numbers: list[str], values: list[float]) -> bool:
    """Whether the values stand side by side in the numbers."""
    starts = range(len(numbers) - len(values) + 1)
    return any(all(shows(numbers[start + i], value) for i, value in enumerate(values)) for start in starts)


def tables_of(value: object) -> list[list[float]]:
    """Every list of numbers in a worked table, and every number on its own as a list of one; ranks are not numbers."""
    if isinstance(value, dict):
        return [found for key, part in value.items() if "ranks" not in key for found in tables_of(part)]
    if isinstance(value, list) and isinstance(value[0], dict):
        return [found for part in value for found in tables_of(part)]
    if isinstance(value, list):
        return [value]
    return [[value]] if isinstance(value, (int, float)) else []


PROVEN = {
    "02": ["garbage_tail"],
    "03": ["temperature", "temperature_limits"],
    "04": ["top_k"],
    "05": ["garbage_tail", "top_k", "top_p", "order", "order_other_way", "exercise_nucleus", "exercise_tau_nucleus"],
    "06": ["order", "order_other_way"],
    "08": ["token_passes", "kv_cache_bytes", "llama_7b_weights_fp16_bytes"],
    "09": ["token_passes"],
    "07": ["eos_batch", "budget", "chat_defaults"],
}


@pytest.mark.parametrize(
    ("number", "values"),
    [
        pytest.param(number, values, id=f"{name}-{values}")
        for number, names in PROVEN.items()
        for name in names
        for values in tables_of(WORKED[name])
    ],
)
def test_the_saved_outputs_hold_the_worked_number(number, values):
    assert any(in_order(line, values) for line in lines_of_numbers(number))


def after(number: str, label: str) -> list[str]:
    """What the lines of the outputs that begin with the label go on with, in order."""
    lines = [line for text in printed(number) for line in text.splitlines()]
    return [line.removeprefix(label).strip() for line in lines if line.startswith(label)]


def test_the_saved_outputs_name_the_nuclei_of_the_kite():
    words, order = ["roof", "hill", "sea", "piano"], WORKED["order"]
    cases = {
        WORKED["top_p"]["boundary"]["top_p"]: [WORKED["top_p"]["boundary"]],
        order["top_p"]: [order["tau_1"], order["tau_0.5"]],
    }
    for top_p, nuclei in cases.items():
        named = [" ".join(words[rank - 1] for rank in nucleus["nucleus_ranks"]) for nucleus in nuclei]
        assert after("05", f"nucleus at p = {top_p}:") == named


@pytest.mark.parametrize(("row", "name"), [("k, then p", "k_then_p"), ("p, then k", "p_then_k")])
def test_the_saved_outputs_show_both_orders_of_the_cuts(row, name):
    (shares,) = after("05", row)
    kept = [rank for rank, share in enumerate(shares.split(), start=1) if float(share) > 0]
    assert kept == WORKED["order_other_way"][name]
