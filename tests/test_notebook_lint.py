"""Every committed notebook keeps the rules, and every rule refuses a notebook that breaks it alone."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from notebook_lint import problems

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
# Ids of the cells that may carry a mark of nbval, by notebook, each with its reason.
# The first page shows the map, which grows with every chapter, and the progress of whoever reads it.
# Chapter 8 measures how fast the reader's own machine is.
MAY_IGNORE = {
    "00_start_here.ipynb": frozenset({"start-19", "start-21"}),
    "08_kv_cache.ipynb": frozenset({"kv-cache-39", "kv-cache-41", "kv-cache-43"}),
}


def test_notebooks_are_found():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_committed_notebook_keeps_the_rules(path):
    assert problems(nbformat.read(path, as_version=4), MAY_IGNORE.get(path.name, frozenset())) == []


def good_notebook() -> nbformat.NotebookNode:
    """Two cells that keep all rules, with what a rule might take for a breach."""
    printed = v4.new_output("stream", name="stdout", text="1/2/3 of https://example.org/a/b and <b>x</b>\n")
    picture = v4.new_output("display_data", data={"image/png": "A" * 30_000, "text/plain": "[panel] tau=0.80"})
    cells = [
        v4.new_markdown_cell("# Temperature"),
        v4.new_code_cell("x = 3 / 4 / 5  # a; b", execution_count=1, outputs=[printed]),
        v4.new_code_cell("panel.interact = interactive_output(f)", execution_count=2, outputs=[picture]),
    ]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def test_good_notebook_has_no_problem():
    assert problems(good_notebook()) == []


def with_output(kind: str, **fields):
    return lambda cell: cell.outputs.append(v4.new_output(kind, **fields))


def with_source(source: str):
    return lambda cell: cell.update(source=source)


def with_metadata(**fields):
    return lambda cell: cell.metadata.update(fields)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda cell: cell.update(execution_count=None), "executed as None"),
        (lambda cell: cell.update(execution_count=7), "executed as 7"),
        (with_output("stream", name="stderr", text="warning"), "stderr"),
        (with_output("error", ename="KeyError", evalue="'x'", traceback=[]), "raises KeyError"),
        (with_output("stream", name="stdout", text="<object at 0x7f3a5c0d>"), "memory address 0x7f3a5c0d"),
        (with_output("execute_result", data={"text/html": "<object at 0x7f3a5c0d>"}), "memory address"),
        (with_output("stream", name="stdout", text="saved in /srv/course/x.png"), "path /srv/course"),
        (with_output("stream", name="stdout", text="saved in C:\\course"), "path C:\\"),
        (with_output("stream", name="stdout", text="x" * 20_001), "characters of output"),
        (with_output("display_data", data={"application/vnd.jupyter.widget-view+json": {}}), "id of a widget"),
        (with_source("plot(x);"), "semicolon"),
        (with_source("plot(x);  # the picture\n"), "semicolon"),
        (with_source("interact(draw, tau=1.0)"), "uses interact("),
        (with_source("clear_output(wait=True)"), "uses clear_output"),
        (with_source("display(x, display_id='a')"), "uses display_id"),
        (with_source("%timeit f()"), "uses %time"),
        (with_source("%%time\nf()"), "uses %time"),
        (with_source("from tqdm.auto import trange"), "uses tqdm"),
        (with_source("open('/srv/course/x.txt')"), "path /srv/course"),
        (with_source("# NBVAL_IGNORE_OUTPUT\nf()"), "NBVAL_IGNORE_OUTPUT"),
        (with_source("# NBVAL_SKIP\nf()"), "NBVAL_SKIP"),
        (with_metadata(tags=["nbval-ignore-output"]), "nbval-ignore-output"),
        (with_metadata(execution={"iopub.status.busy": "2026-01-01"}), "when it was executed"),
    ],
)  # fmt: skip
def test_each_rule_about_a_cell_bites_alone(spoil, words):
    notebook = good_notebook()
    spoil(notebook.cells[1])
    (problem,) = problems(notebook)
    assert problem.startswith("code cell 1: ")
    assert words in problem


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda notebook: notebook.metadata.kernelspec.update(name="venv"), "kernel"),
        (lambda notebook: notebook.metadata.pop("kernelspec"), "kernel"),
        (lambda notebook: notebook.metadata.update(widgets={}), "state of widgets"),
        (lambda notebook: notebook.cells[0].pop("metadata"), "not a valid notebook"),
    ],
)
def test_each_rule_about_the_whole_notebook_bites_alone(spoil, words):
    notebook = good_notebook()
    spoil(notebook)
    (problem,) = problems(notebook)
    assert words in problem


def test_an_expected_error_and_a_listed_mark_are_allowed():
    notebook = good_notebook()
    cell = notebook.cells[1]
    with_output("error", ename="KeyError", evalue="'x'", traceback=["KeyError: 'x'"])(cell)
    with_metadata(tags=["raises-exception", "nbval-ignore-output"])(cell)
    assert problems(notebook, frozenset({cell.id})) == []
