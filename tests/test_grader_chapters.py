"""Chapters and exercises agree: stubs, solved chapters, wrong answers, and a real kernel that survives bad ones.

The chapters are found by their files. A solved chapter runs in a shell of its own, forked from this process,
because that is as good as a kernel for code and starts in no time; one small notebook runs in a real kernel. All
wrong answers are tried in test_exercises; here the first of each exercise goes through the chapter's own cell.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from exercises.grader.catalog import FOLDER, all_exercises, find
from exercises.grader.isolate import isolation_level

CHAPTERS = sorted((FOLDER.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
needs_fork = pytest.mark.skipif(isolation_level() != "process", reason="this system has no fork to run chapters in")
CHECK = re.compile(r'check\("(\w+)", (\w+)\)')


@cache
def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def exercises_of(path: Path) -> list:
    return [exercise for exercise in all_exercises() if exercise.name.startswith(f"e{path.stem[:2]}_")]


def check_cell_of(path: Path, exercise) -> int:
    """The place among the code cells of the one that checks this exercise."""
    found = [
        i
        for i, cell in enumerate(code_cells(path))
        if (match := CHECK.fullmatch(cell.source.strip())) and find(match[1]) == exercise
    ]
    assert len(found) == 1, f"{path.name} must check {exercise.name} in one cell of its own"
    return found[0]


def answered(exercise, function: str = "") -> str:
    """A cell with the right answer, or that of another function of the page, in the place of the stub."""
    call = "" if exercise.is_code else "()"
    page = f"import solutions.{exercise.name} as page"
    return f"{page}\n{exercise.answer_name} = page.{function or exercise.answer_name}{call}"


@each_chapter
def test_the_stub_in_the_chapter_is_the_stub_of_the_exercise(path):
    for exercise in exercises_of(path):
        place = check_cell_of(path, exercise)
        assert code_cells(path)[place - 1].source.strip() == exercise.task.stub
        assert CHECK.fullmatch(code_cells(path)[place].source.strip())[2] == exercise.answer_name


@each_chapter
def test_the_saved_chapter_is_not_attempted(path):
    """Strict nbval proves that a fresh run gives these outputs again."""
    for exercise in exercises_of(path):
        outputs = code_cells(path)[check_cell_of(path, exercise)].outputs
        shown = [output.data["text/plain"] for output in outputs if "data" in output]
        assert [text.splitlines()[0] for text in shown] == [f"○ {exercise.short}: not attempted"]


@needs_fork
@each_chapter
def test_a_solved_chapter_passes_and_a_wrong_answer_gets_its_own_message(path, tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_COURSE_PROGRESS", str(tmp_path / "progress.json"))
    sources = [cell.source for cell in code_cells(path)]
    expected: dict[int, str] = {}
    for exercise in exercises_of(path):
        place = check_cell_of(path, exercise)
        sources[place - 1] = answered(exercise)
        expected[place] = f"{exercise.short}: passed"
    for exercise in exercises_of(path):
        name, function = next(iter(exercise.wrong.items()))
        sources += [answered(exercise, name), sources[check_cell_of(path, exercise)]]
        expected[len(sources) - 1] = words(function.__doc__).rstrip(".")
    outputs = run_in_a_shell(sources)
    assert [text for text in outputs if text.startswith("ERROR")] == []
    assert {place: text for place, text in expected.items() if text not in words(outputs[place])} == {}


def words(text: str) -> str:
    return " ".join(text.split())


def run_in_a_shell(sources: list[str]) -> list[str]:
    """What each cell shows, as text, run one after the other in an IPython shell in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "w", encoding="utf-8") as pipe:
                json.dump(_shown(sources), pipe)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def _shown(sources: list[str]) -> list[str]:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell, shown = InteractiveShell.instance(), []
    for source in sources:
        with capture_output() as captured:
            result = shell.run_cell(source)
        error = result.error_before_exec or result.error_in_exec
        texts = [output.data.get("text/plain", "") for output in captured.outputs]
        shown.append(f"ERROR {error!r} in {source}" if error else "\n".join([captured.stdout, *texts]))
    return shown


STUB = find("top_p").task.stub
KERNEL_CELLS = {
    "import torch\nfrom torch import Tensor\nfrom exercises import check, hint, progress\nkept = [1]": "",
    "torch.set_default_dtype(torch.float64)": "",
    f'{STUB}\ncheck("top_p", keep_top_p)': "○ top_p: not attempted",
    'def keep_top_p(probs, top_p):\n    while True: pass\ncheck("top_p", keep_top_p)': "no answer came in time",
    'def keep_top_p(probs, top_p):\n    kept.clear(); raise SystemExit\ncheck("top_p", keep_top_p)': "SystemExit",
    'def keep_top_p(probs, top_p):\n    display(1); print("seen")\ncheck("top_p", keep_top_p)': "It printed       ",
    'def keep_top_p(probs, top_p):\n    return input()\ncheck("top_p", keep_top_p)': "cannot ask for input",
    'def keep_top_p(probs, top_p):\n    probs[:] = 0\n    return kept.nothing\ncheck("top_p", keep_top_p)': (
        "At your line     return kept.nothing"
    ),
    'from solutions.e05_top_p import keep_top_p\nverdict = check("top_p", keep_top_p); verdict': "✓ top_p: passed",
    "print(kept, torch.get_default_dtype(), verdict.passed)": "[1] torch.float64 True",
    'hint("top_p")': "top_p: hint 1 of 3",
    "progress()": "Progress: 1 of",
}


def test_a_kernel_lives_through_bad_answers_and_shows_each_card_once(tmp_path):
    """The card comes as HTML and as text, once, even where it is not the last value of its cell."""
    environment = os.environ | {"LLM_COURSE_PROGRESS": str(tmp_path / "progress.json"), "OMP_NUM_THREADS": "1"}
    manager, client = start_new_kernel(kernel_name="python3", env=environment, cwd=str(FOLDER.parent))
    try:
        for source, expected in KERNEL_CELLS.items():
            messages: list[dict] = []
            client.execute_interactive(source, timeout=60, output_hook=messages.append)
            contents = [message["content"] for message in messages if message["msg_type"] != "status"]
            texts = [c.get("text") or c["data"]["text/plain"] for c in contents if "text" in c or "data" in c]
            assert expected in "".join(texts), (source, contents)
            assert len(texts) == bool(expected), (source, texts)
            assert all("text/html" in c["data"] for c in contents if "data" in c)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
