"""What strict nbval lets through: rules that a committed notebook keeps, read from its file alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

OUTPUT_LIMIT = 20_000
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
NBVAL_MARK = re.compile(r"\b(nbval|pytest_validate)[-_][\w-]+", re.I)
# Output that differs from run to run, or that strict nbval cannot compare.
UNSTEADY = {
    "interact(": r"\binteract\(",
    "clear_output": r"\bclear_output\b",
    "display_id": r"\bdisplay_id\b",
    "%time": r"%time",
    "tqdm": r"\btqdm\b",
}
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}", re.I)
# Two folders deep, so that neither a fraction nor a closing tag nor a web address looks like a path.
PATH = re.compile(r"(?<![\w:/.<])/[A-Za-z_][\w.-]*/[\w.-]+|\b[A-Za-z]:\\")


def problems(notebook: NotebookNode, may_ignore: frozenset[str] = frozenset()) -> list[str]:
    """Every breach of a rule, in words; `may_ignore` names the cells, by id, that may carry a mark of nbval."""
    found = list(about_notebook(notebook))
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code_cells, start=1):
        if cell.execution_count != number:
            found.append(f"code cell {number}: executed as {cell.execution_count}, not from top to bottom")
        in_cell = [*about_source(cell), *about_outputs(cell), *about_marks(cell, may_ignore)]
        found += [f"code cell {number}: {problem}" for problem in in_cell]
    return found


def about_notebook(notebook: NotebookNode) -> Iterator[str]:
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        yield f"not a valid notebook: {error.message}"
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "its kernel is not python3"
    if "widgets" in notebook.metadata:
        yield "stores the state of widgets"


def about_source(cell: NotebookNode) -> Iterator[str]:
    last_line = cell.source.rstrip().rpartition("\n")[2]
    if last_line.partition("#")[0].rstrip().endswith(";"):
        yield "ends in a semicolon, which hides nothing from nbval"
    yield from (f"uses {name}" for name, pattern in UNSTEADY.items() if re.search(pattern, cell.source))
    yield from (f"names the machine's path {found[0]}" for found in PATH.finditer(cell.source))


def about_outputs(cell: NotebookNode) -> Iterator[str]:
    for output in cell.outputs:
        if output.get("name") == "stderr":
            yield "writes to stderr"
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
            yield f"raises {output.ename} without the tag raises-exception"
        if WIDGET_VIEW in output.get("data", {}):
            yield "stores the id of a widget"
    text = "\n".join(texts(cell))
    if ADDRESS.search(text):
        yield f"shows the memory address {ADDRESS.search(text)[0]}"
    if PATH.search(text):
        yield f"shows the machine's path {PATH.search(text)[0]}"
    if len(text) > OUTPUT_LIMIT:
        yield f"has {len(text):,} characters of output, more than {OUTPUT_LIMIT:,}"


def texts(cell: NotebookNode) -> Iterator[str]:
    """All output but pictures, as text."""
    for output in cell.outputs:
        yield output.get("text", "") + "\n".join(output.get("traceback", []))
        yield from (str(data) for mime, data in output.get("data", {}).items() if mime != "image/png")


def about_marks(cell: NotebookNode, may_ignore: frozenset[str]) -> Iterator[str]:
    if "execution" in cell.metadata:
        yield "stores when it was executed"
    marks = NBVAL_MARK.search(" ".join([cell.source, *cell.metadata.get("tags", [])]))
    if marks and cell.id not in may_ignore:
        yield f"carries {marks[0]}, which switches the comparison off"
