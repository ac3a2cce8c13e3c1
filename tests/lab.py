"""A JupyterLab or Notebook 7 of its own, driven in headless Chromium: for the browser test and for latencies."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Locator, Page, TimeoutError, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-renderer-backgrounding"""
PATIENCE = 150  # Seconds; a loaded machine is slow, and no test depends on how slow.
PICTURE = "panel => panel.querySelector('svg[role=img]')?.outerHTML"
IDLE = "window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"


@dataclass(frozen=True)
class Kind:
    """How a front end is started and where its pages are."""

    module: str
    app: str
    pages: str


KINDS = {
    "lab": Kind("jupyterlab", "LabApp", "doc/tree"),
    "notebook": Kind("notebook", "JupyterNotebookApp", "notebooks"),
}
# Every output in the page whether it is in sight or not; no news, which Notebook 7 does not know.
SETTINGS = {
    "lab": {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    },
    "notebook": {"notebook-extension/tracker": {"windowingMode": "none"}},
}


@contextlib.contextmanager
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS.split())
        try:
            yield running
        finally:
            running.close()


@contextlib.contextmanager
def server(kind: str, folder: Path, scratch: Path) -> Iterator[str]:
    """Serve `folder`; settings, runtime files and the log go to `scratch`. Gives the address of the pages.

    kind: "lab" or "notebook". At the end only what was started here is ended.
    """
    front, port = KINDS[kind], _free_port()
    command = [sys.executable, "-m", front.module, "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--ServerApp.root_dir={folder}", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token="]
    command += ["--ServerApp.kernel_websocket_connection_class=notebooks.websocket.PromptConnection"]
    command += [f"--{front.app}.expose_app_in_browser=True", "--LanguageServerManager.autodetect=False"]
    with open(scratch / f"{kind}.log", "wb") as log:
        process = subprocess.Popen(
            command, env=_environment(kind, scratch), stdout=log, stderr=log, cwd=folder, start_new_session=True
        )
    try:
        _wait_for(process, f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}/{front.pages}"
    finally:
        _end(process)


def open_page(browser: Browser) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 1600})
    page.set_default_timeout(PATIENCE * 1000)
    return page


def open_notebook(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/{name}?reset")
    page.wait_for_function(IDLE)


def open_another(page: Page, name: str) -> None:
    """Open a notebook in the page of JupyterLab instead of the one that is there; much faster than a new page."""
    shut_down_kernels(page)
    # Not closed but disposed of, which does not ask whether to save.
    page.evaluate("() => { jupyterapp.shell.currentWidget.dispose(); }")
    page.evaluate("path => { jupyterapp.commands.execute('docmanager:open', { path }); }", name)
    page.wait_for_function(f"path => jupyterapp.shell.currentWidget?.context?.path === path && {IDLE}", arg=name)


def run_all(page: Page) -> None:
    """Run all cells of the open notebook and wait until the kernel rests."""
    page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(IDLE)


def shut_down_kernels(page: Page) -> None:
    page.evaluate("() => jupyterapp.serviceManager.sessions.shutdownAll()")


def press(slider: Locator, key: str) -> None:
    """Press a key on a slider and wait until the picture of its panel is another one."""
    panel = slider.evaluate_handle("node => node.closest('.llm-panel')")
    before = panel.evaluate(PICTURE)
    slider.press(key)
    changed = f"([panel, before]) => ({PICTURE})(panel) !== before"
    try:
        slider.page.wait_for_function(changed, arg=[panel, before])
    except TimeoutError as error:
        where = panel.evaluate("panel => panel.querySelector('svg[role=img]')?.ariaLabel")
        raise AssertionError(f"{key} on {slider.get_attribute('aria-label')} changed nothing: {where}") from error


def write_notebook(path: Path, *cells: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(notebook, path)


def _environment(kind: str, scratch: Path) -> dict[str, str]:
    for name, setting in SETTINGS[kind].items():
        file = scratch / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(setting), encoding="utf-8")
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    own = {name: str(scratch / folder) for name, folder in folders.items()}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | own | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "LLM_COURSE_PROGRESS": "off"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(process: subprocess.Popen, address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode} before it answered")
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not answer within {PATIENCE} seconds")


def _end(process: subprocess.Popen) -> None:
    """End the server and its kernels: the process group where there are groups, else the server alone."""
    for sign in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, sign)
            else:
                process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
