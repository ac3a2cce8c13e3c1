"""The environment of the course: is what it needs there, and if not, install it in .venv.

Standard library only: a bare Python runs this, on the way from course.py to JupyterLab. A Python that already has
what is needed (an active venv or conda environment) is used as it is; nothing is ever installed outside .venv.
"""

import ast
import errno
import gettext
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / ".venv"
UNFINISHED = ROOT / ".venv-unfinished"  # Exists while .venv is being written, so that an interruption shows.

TORCH = "2.13.0" if sys.version_info < (3, 15) else "2.15.0"  # 2.13 has no build for Python 3.15.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"

# The words come from the package's catalog, but importing the package would need PyTorch.
_ = gettext.translation("llm_gen", localedir=ROOT / "llm_gen" / "locale", fallback=True).gettext

OFFLINE = (
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProtocolError|ProxyError|SSLError|"
    r"Max retries|timed out|Connection (aborted|broken|refused|reset)|Could not fetch URL|HTTP error 5"
)
NEWS = r"Collecting|Downloading|Using cached|Processing|Building|Installing|WARNING: Retrying"
NO_BUILD = r"No matching distribution|ResolutionImpossible"
FAILURES = {
    r"No space left|Errno 28|not enough space": _("The disk is full: free some space and run the same command again."),
    r"Permission denied|Read-only file system|Access is denied": _(
        "The folder {root} cannot be written to: copy the course to a folder of your own and run it there."
    ),
    OFFLINE: _("No network: connect, or tell pip about your proxy, and run the same command again."),
    NO_BUILD: _(
        "A package that the course needs has no build for Python {python} on {machine}: use another Python "
        "(3.10 to 3.15), or conda with environment.yml."
    ),
}


class Trouble(Exception):
    """What stopped the course and what to do about it, in one sentence."""


def say(words: object) -> None:
    print(words, flush=True)


def prepare(extras: tuple[str, ...]) -> Path | None:
    """Make sure of the packages: None if this Python has them now, else the Python in .venv to start again with.

    Raises Trouble when that cannot be done, and OSError when .venv cannot be written.
    """
    missing = unmet(requirements(extras))
    if not is_own():
        return own_python(missing) if missing else None
    if missing or UNFINISHED.exists():
        install(extras)
    return None


def explain(failure: object) -> str:
    """One sentence that says what failed and what to do; `failure` is an exception or what pip printed."""
    if isinstance(failure, OSError) and failure.errno == errno.EROFS:
        failure = "Read-only file system"
    for pattern, sentence in FAILURES.items():
        if re.search(pattern, str(failure), re.I):
            where = {"python": "{}.{}".format(*sys.version_info), "machine": platform.platform(terse=True)}
            return sentence.format(root=ROOT, **where)
    say("\n".join(str(failure).splitlines()[-15:]))
    return _("The last step failed, with the words above: put right what they name and run the same command again.")


# What is there


def requirements(extras: tuple[str, ...]) -> list[str]:
    """What pyproject.toml asks for, as "name>=version". Python 3.10 has no TOML reader; lists of strings need none."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lists = [re.search(rf"^{name} = (\[.*?^\])", text, re.M | re.S) for name in ("dependencies", *extras)]
    return [requirement for found in lists for requirement in ast.literal_eval(found[1])]


def unmet(wanted: list[str]) -> list[str]:
    """The requirements that this Python does not meet."""
    return [requirement for requirement in wanted if not is_met(requirement)]


def is_met(requirement: str) -> bool:
    name, least = requirement.split(">=")
    try:
        return release(metadata.version(name) or "0") >= release(least)  # None: the package is there by half.
    except (metadata.PackageNotFoundError, FileNotFoundError, KeyError):  # the second by importlib_metadata
        return False


def release(version: str) -> tuple[int, ...]:
    """The numbers to compare: "2.13.0+cpu" gives (2, 13, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:3])


def is_own() -> bool:
    return OWN.exists() and Path(sys.prefix).resolve() == OWN.resolve()


# The course's own environment


def own_python(missing: list[str]) -> Path:
    """The Python in .venv, which is made if it is not there, and made anew if it is broken or unfinished."""
    if sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ:
        names = ", ".join(missing[:3] + ["..."] * (len(missing) > 3))
        say(_("The active environment lacks {names}: the course uses its own.").format(names=names))
    python = OWN / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if UNFINISHED.exists() or not belongs(python):
        make_environment()
        if not belongs(python):
            raise Trouble(_("The Python in {folder} does not start: install Python anew.").format(folder=OWN))
    return python


def belongs(python: Path) -> bool:
    """Whether this file is a Python that starts, is new enough, and takes .venv for its home."""
    probe = "import sys; print(sys.version_info >= (3, 10) and sys.prefix)"
    try:
        answer = subprocess.run([python, "-c", probe], capture_output=True, text=True, errors="replace").stdout
    except OSError:
        return False
    return Path(answer.strip()).resolve() == OWN.resolve()


def make_environment() -> None:
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise Trouble(
            _("This Python cannot make environments: install its venv module (on Debian and Ubuntu: "
              "sudo apt install python3-venv) and run the same command again.")
        )  # fmt: skip
    need_space(2)
    UNFINISHED.touch()
    if OWN.exists():
        say(_("The environment in .venv is unfinished or broken: it is made anew."))
        shutil.rmtree(OWN)
    say(_("Making an environment in {folder} ...").format(folder=OWN))
    made = subprocess.run([sys.executable, "-m", "venv", OWN], capture_output=True, text=True, errors="replace")
    if made.returncode:
        raise Trouble(explain(made.stdout + made.stderr))
    UNFINISHED.unlink()


def need_space(gigabytes: int) -> None:
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < gigabytes:
        raise Trouble(
            _("The disk is too full: the course needs {need} GB and {free:.1f} GB are free in {root}. "
              "Free some space and run the same command again.").format(need=gigabytes, free=free, root=ROOT)
        )  # fmt: skip


# Installing


def install(extras: tuple[str, ...]) -> None:
    """Bring .venv, whose Python runs this, to what pyproject.toml asks for."""
    if UNFINISHED.exists():  # A Python cannot delete the environment that it runs from.
        raise Trouble(_("The last installation was interrupted: leave .venv (deactivate) and run the command again."))
    say(_("Installing the course in .venv: a few minutes the first time."))
    if importlib.util.find_spec("pip") is None:
        subprocess.run([sys.executable, "-m", "ensurepip"], check=False)
    if unmet(["pip>=22.2"]):  # Older ones cannot install an editable project without setup.py.
        pip("--upgrade", "pip")
    install_torch()
    worked, output = pip("-e", ".[{}]".format(",".join(extras)))
    if not worked:
        raise Trouble(explain(output))


def install_torch() -> None:
    """PyTorch before all else: what comes later finds it there and fetches no other build."""
    if not unmet(["torch>=2.5"]):
        return
    need_space(2)
    for arguments in torch_sources():
        worked, output = pip(*arguments)
        if worked:
            return
        unreachable = re.search(OFFLINE, output) and "--index-url" not in arguments
        if unreachable or not re.search(NO_BUILD, output):  # Then another build would fail as well.
            break
    raise Trouble(explain(output))


def torch_sources() -> Iterator[list[str]]:
    """Arguments for pip, best first. On Linux without an NVIDIA GPU a CPU build is looked for in two places."""
    if sys.platform == "linux" and not has_nvidia_gpu():
        yield [f"torch=={TORCH}+cpu"]
        yield [f"torch=={TORCH}+cpu", "--index-url", TORCH_CPU_INDEX]
        need_space(8)
        say(_("No CPU build of PyTorch could be had: the CUDA build follows, 3 GB to fetch and 6 GB on disk."))
    yield [f"torch=={TORCH}"]
    yield ["torch>=2.5"]


def has_nvidia_gpu() -> bool:
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
    except OSError:
        return False


def pip(*arguments: str) -> tuple[bool, str]:
    """Run `pip install` here and show how it goes; returns whether it worked, and all that pip said."""
    # Compiling every file of every package would take most of the time; Python compiles what is imported.
    options = ["--no-compile", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-m", "pip", "install", *options, *arguments]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=ROOT, encoding="utf-8", errors="replace", **streams)
    lines = ["Collecting " + " ".join(arguments)]
    reader = threading.Thread(target=follow, args=(process, lines))
    reader.start()
    try:
        show_progress(reader, lines)
    except KeyboardInterrupt:  # pip has got it too, and may still be putting things in order.
        process.wait()
        raise
    worked = process.wait() == 0
    if worked:
        UNFINISHED.unlink(missing_ok=True)
    return worked, "\n".join(lines)


def follow(process: subprocess.Popen, lines: list[str]) -> None:
    for line in process.stdout:
        lines.append(line.strip())
        if line.startswith("Installing collected packages"):
            UNFINISHED.touch()


def show_progress(reader: threading.Thread, lines: list[str]) -> None:
    """Until the reader ends: what pip does, on one line that changes on a terminal, else on a line now and then."""
    start, on_terminal = time.monotonic(), sys.stdout.isatty()
    width = shutil.get_terminal_size().columns - 1
    while reader.is_alive():
        news = next(line for line in reversed(lines) if re.match(NEWS, line))
        line = f"{time.monotonic() - start:5.0f} s  {news}"[:width].ljust(width)
        print("\r" + line if on_terminal else line.rstrip(), end="" if on_terminal else "\n", flush=True)
        reader.join(timeout=0.5 if on_terminal else 15)
    print("\r" + " " * width + "\r" if on_terminal else "", end="", flush=True)
