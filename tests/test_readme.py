"""The README promises nothing that is not so: its code runs, its commands are accepted, its table lists what exists."""

import re
import shlex
from pathlib import Path

import pytest

from llm_gen.cli.arguments import build_parser

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.+?)\s*(?:#.*)?$", README, flags=re.MULTILINE)


def test_the_table_lists_the_chapters_that_exist_and_no_other():
    listed = re.findall(r"^\| \[[^\]]+\]\(notebooks/([^)]+)\)", README, flags=re.MULTILINE)
    assert listed == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_links_and_pictures_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_library_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code.splitlines()) <= 9
    exec(compile(code, "README", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Once upon a time") and second.startswith("Long ago, in a small village")
    assert len(first) > 100 and len(second) > 100


@pytest.mark.parametrize("command", [line for line in COMMANDS if "llm_gen" in line])
def test_the_commands_are_accepted(command):
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "llm_gen"]
    assert callable(build_parser().parse_args(words[3:]).run)


def test_course_py_knows_its_two_commands():
    source = (ROOT / "course.py").read_text(encoding="utf-8")
    named = [line.split()[2] for line in COMMANDS if "course.py" in line]
    assert named == ["lab", "test"] and all(f'"{name}"' in source for name in named)


def test_its_speeds_are_those_of_the_recorded_runs():
    recorded = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8").split("\n## ")
    assert " with AVX2, " in recorded[0] and " with AVX512, " in recorded[1]
    runs = [{tuple(cells[1:3]): cells[6] for cells in table_rows(run) if len(cells) == 10} for run in recorded[:2]]
    claims = [cells for cells in table_rows(README.partition("times as fast")[2]) if len(cells) == 4]
    assert len(claims) >= 5
    for what, beside, *ratios in claims:
        assert [float(ratio) for ratio in ratios] == [round(float(run[what, beside]), 1) for run in runs], what


def table_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_it_is_short():
    assert len(README.splitlines()) <= 92
