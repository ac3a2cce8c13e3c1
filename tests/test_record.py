"""The recorder: the same file each time, nothing kept of a run that failed, and no waiting for a dead kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbformat import v4
from notebook_lint import problems

from notebooks import record

STEADY = """
import sys
import ipywidgets
print("a", flush=True)
print("b")
ipywidgets.IntSlider()
"""


@pytest.fixture
def notebook_of(tmp_path):
    def write(*sources: str, tags: tuple[str, ...] = ()):
        cells = [v4.new_code_cell(source, metadata={"tags": list(tags), "execution": {}}) for source in sources]
        path = tmp_path / "00 a chapter.ipynb"
        nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("# A"), *cells], metadata={"widgets": {}}), path)
        return path

    return write


def test_recording_twice_gives_the_same_file_and_it_keeps_the_rules(notebook_of):
    path = notebook_of(STEADY, "1 / 0", "open('here.txt', 'w').write('x')", tags=("raises-exception",))
    record.record(path)
    first = path.read_bytes()
    record.record(path)
    assert path.read_bytes() == first
    notebook = nbformat.read(path, as_version=4)
    assert problems(notebook) == []
    printed, widget = notebook.cells[1].outputs
    assert printed.text == "a\nb\n"
    assert widget.data == {"text/plain": "IntSlider(value=0)"}
    assert notebook.cells[2].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert (path.parent / "here.txt").exists()


@pytest.mark.parametrize(
    ("source", "words"),
    [("x = 1\nx.y", "AttributeError"), ("import os\nos._exit(1)", "the kernel died"), ("while True: pass", "than 2 s")],
)
def test_a_cell_that_fails_leaves_the_file_as_it_was(source, words, notebook_of, monkeypatch, capsys):
    monkeypatch.setattr(record, "SECONDS_PER_CELL", 2 if "while" in source else 60)
    path = notebook_of("1 + 1", source)
    before = path.read_bytes()
    assert record.main([str(path)]) == 1
    assert path.read_bytes() == before
    message = capsys.readouterr().err
    assert words in message
    assert source in message
