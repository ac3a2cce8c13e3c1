"""Run chapters from a fresh kernel and keep their outputs: `python course.py record [NOTEBOOK ...]`.

Recording twice gives the same file: timings, widget ids and the version of Python are left out. A cell that raises
without the tag `raises-exception`, or that takes longer than the limit, stops the run and leaves the file as it was.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from queue import Empty

import nbformat
from jupyter_client.manager import start_new_kernel

HERE = Path(__file__).resolve().parent
SECONDS_PER_CELL = 60
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# Its id is random and its model is not stored, so a reader without a kernel could show nothing for it.
WIDGET = "application/vnd.jupyter.widget-view+json"


class CellError(Exception):
    """A cell did not run as it should; the message is for the author of the notebook."""


def main(names: list[str]) -> int:
    for path in [Path(name) for name in names] or sorted(HERE.glob("*.ipynb")):
        start = time.monotonic()
        try:
            record(path)
        except CellError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            return 1
        print(f"recorded {path.name} in {time.monotonic() - start:.1f} s", flush=True)
    return 0


def record(path: Path) -> None:
    """Run the notebook in its own folder and write it back with fresh outputs."""
    notebook = nbformat.read(path, as_version=4)
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120, cwd=str(path.resolve().parent))
    try:
        for number, cell in enumerate(code_cells(notebook), start=1):
            cell.outputs = run_cell(manager, client, cell)
            cell.execution_count = number
            cell.metadata.pop("execution", None)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    nbformat.write(notebook, path)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run_cell(manager, client, cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The outputs of one cell. Raises CellError if the kernel dies, time runs out or the cell raises."""
    request = client.execute(cell.source, allow_stdin=False, stop_on_error=False)
    outputs, deadline = [], time.monotonic() + SECONDS_PER_CELL
    while True:
        message = next_message(manager, client, deadline, cell.source)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return outputs
        if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            add_output(outputs, nbformat.v4.output_from_msg(message), cell)


def next_message(manager, client, deadline: float, source: str) -> dict:
    while time.monotonic() < deadline:
        try:
            return client.get_iopub_msg(timeout=1)
        except Empty:
            if not manager.is_alive():
                raise CellError(f"the kernel died in the cell\n{source}") from None
    raise CellError(f"more than {SECONDS_PER_CELL} s in the cell\n{source}")


def add_output(outputs: list, output: nbformat.NotebookNode, cell: nbformat.NotebookNode) -> None:
    """Append, joining text that came in pieces, so that the file does not depend on when the kernel sent it."""
    if output.output_type == "error":
        # The traceback has the machine's paths in it; its last line is what a reader needs.
        output.traceback = [f"{output.ename}: {output.evalue}"]
        if "raises-exception" not in cell.metadata.get("tags", []):
            raise CellError(f"{output.traceback[0]} in the cell\n{cell.source}")
    if output.output_type == "stream" and outputs and outputs[-1].get("name") == output.name:
        outputs[-1].text += output.text
        return
    output.get("data", {}).pop(WIDGET, None)
    outputs.append(output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
