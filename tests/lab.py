"""A JupyterLab or Notebook 7 of its own, driven in headless Chromium: for the browser test and for latencies."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
MODULES = {
    "lab": ("jupyterlab", "LabApp", "doc/tree"),
    "notebook": ("notebook", "JupyterNotebookApp", "notebooks"),
}
KERNEL_IS_IDLE = "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"
START_SECONDS = 90


def chromium() -> str | None:
    """The path of an installed Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        try:
            yield running
        finally:
            running.close()


@contextlib.contextmanager
def server(kind: str, folder: Path, scratch: Path) -> Iterator[str]:
    """Serve `folder` with settings, runtime files and log in `scratch`; gives the address of the pages.

    kind: "lab" or "notebook". At the end only the process group that was started here is ended.
    """
    module, app, pages = MODULES[kind]
    port = _free_port()
    command = [sys.executable, "-m", module, "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--ServerApp.root_dir={folder}", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token="]
    command += [f"--{app}.expose_app_in_browser=True", "--LanguageServerManager.autodetect=False"]
    with open(scratch / f"{kind}.log", "wb") as log:
        process = subprocess.Popen(
            command, env=_environment(scratch), stdout=log, stderr=log, cwd=folder, start_new_session=True
        )
    try:
        _wait_for(process, f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}/{pages}"
    finally:
        _end(process)


def open_and_run(page: Page, address: str, notebook: str) -> None:
    """Open a notebook, run all its cells, and wait until the kernel rests."""
    page.goto(f"{address}/{notebook}?reset")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=START_SECONDS * 1000)
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=START_SECONDS * 1000)


def shut_down_kernels(page: Page) -> None:
    page.evaluate("jupyterapp.serviceManager.sessions.shutdownAll()")


def _environment(scratch: Path) -> dict[str, str]:
    settings = scratch / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
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
    return os.environ | own | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(process: subprocess.Popen, address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode} before it answered")
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not answer within {START_SECONDS} seconds")


def _end(process: subprocess.Popen) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
