"""course.py and the environment it makes: every decision, and every failure as one sentence that says what to do."""

from __future__ import annotations

import ast
import errno
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import course
from notebooks import environment
from notebooks.environment import Trouble

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("notebooks", "gguf")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The course in a folder of its own, so that nothing here touches the real .venv."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "OWN", tmp_path / ".venv")
    monkeypatch.setattr(environment, "UNFINISHED", tmp_path / ".venv-unfinished")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def forbid(*_args, **_kwargs):
    raise AssertionError("nothing may be run here")


# Which Python


def test_an_older_python_reads_the_file_and_gets_a_sentence(monkeypatch):
    source = (ROOT / "course.py").read_text(encoding="utf-8")
    statements = ast.parse(source, feature_version=(3, 6)).body
    kinds = [type(statement) for statement in statements[:3]]
    assert kinds == [ast.Expr, ast.Import, ast.If]  # Docstring, import sys, and the check before all else.
    monkeypatch.setattr(sys, "version_info", (3, 6, 15))
    with pytest.raises(SystemExit, match=r"needs Python 3\.10 or newer and this is Python 3\.6: install a newer one"):
        exec(compile(source, "course.py", "exec"), {"__name__": "course"})


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["sing"], 2), (["--help"], 0), (["-h"], 0)])
def test_usage_names_the_commands(arguments, status, capsys, monkeypatch):
    monkeypatch.setattr(course, "prepare", forbid)
    assert course.main(arguments) == status
    printed = capsys.readouterr().out
    assert all(f"course.py {command}" in printed for command in course.COMMANDS)


@pytest.mark.parametrize(
    ("failure", "status", "words"),
    [
        (Trouble("No room."), 1, "No room."),
        (OSError(errno.EROFS, "Read-only file system"), 1, "cannot be written to"),
        (PermissionError(errno.EACCES, "Permission denied"), 1, "cannot be written to"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "disk is full"),
        (KeyboardInterrupt(), 130, "Stopped"),
    ],
)
def test_what_stops_the_preparation_is_said_without_a_traceback(failure, status, words, capsys, monkeypatch):
    def prepare(extras):
        raise failure

    monkeypatch.setattr(course, "prepare", prepare)
    monkeypatch.setattr(course, "call", forbid)
    assert course.main(["lab"]) == status
    assert words in capsys.readouterr().out


def test_a_python_that_has_everything_is_used_and_nothing_is_run(project, monkeypatch):
    monkeypatch.setattr(environment, "is_met", lambda requirement: True)
    monkeypatch.setattr(subprocess, "Popen", forbid)
    assert environment.prepare(EXTRAS) is None
    assert not environment.OWN.exists()


def test_another_python_starts_the_course_again_in_its_own_environment(project, monkeypatch):
    calls = []
    monkeypatch.setattr(course, "prepare", lambda extras: Path("own/python"))
    monkeypatch.setattr(course, "call", lambda command: calls.append(command) or 3)
    assert course.main(["lab", "--no-browser"]) == 3
    assert calls == [[Path("own/python"), course.__file__, "lab", "--no-browser"]]


def test_a_requirement_is_met_by_an_installed_version_that_is_new_enough(monkeypatch):
    versions = {"torch": "2.13.0+cpu", "ipywidgets": "8.1.9rc1", "matplotlib": "3.10.0"}
    monkeypatch.setattr(environment.metadata, "version", versions.__getitem__)
    wanted = ["torch>=2.5", "torch>=2.13", "torch>=2.14", "ipywidgets>=8.1", "matplotlib>=3.8", "absent>=1"]
    assert environment.unmet(wanted) == ["torch>=2.14", "absent>=1"]


def test_a_package_that_is_there_by_half_counts_as_missing(tmp_path, monkeypatch):
    (tmp_path / "halfway-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert environment.unmet(["halfway>=1.0"]) == ["halfway>=1.0"]
    (tmp_path / "halfway-1.0.dist-info" / "METADATA").write_text("Name: halfway\nVersion: 1.0\n")
    assert environment.unmet(["halfway>=1.0"]) == []


# The own environment


@pytest.fixture
def makes(project, monkeypatch):
    """Real environments, but without pip, which takes most of the time; gives the list of what was run."""
    run, commands = subprocess.run, []

    def quick(command, **settings):
        commands.append(command)
        return run([*command, "--without-pip"] if "venv" in command else command, **settings)

    monkeypatch.setattr(subprocess, "run", quick)
    return commands


def test_the_own_environment_is_made_once_and_then_reused(project, makes, capsys):
    python = environment.own_python(["torch>=2.5"])
    assert python.is_relative_to(project / ".venv")
    assert not environment.UNFINISHED.exists()
    made = len([command for command in makes if "venv" in command])
    assert environment.own_python([]) == python
    assert made == len([command for command in makes if "venv" in command]) == 1


@pytest.mark.parametrize("damage", ["unfinished", "empty folder", "home is lost", "no python"])
def test_a_damaged_environment_is_made_anew(damage, project, makes, capsys):
    python = environment.own_python([])
    (project / ".venv" / "rest").touch()
    if damage == "unfinished":
        environment.UNFINISHED.touch()
    elif damage == "empty folder":
        shutil.rmtree(project / ".venv")
        (project / ".venv").mkdir()
    elif damage == "home is lost":
        (project / ".venv" / "pyvenv.cfg").unlink()
    else:
        python.unlink()
    assert environment.own_python([]) == python
    assert environment.belongs(python)
    assert not (project / ".venv" / "rest").exists()
    assert not environment.UNFINISHED.exists()
    assert "made anew" in capsys.readouterr().out


def test_an_active_environment_that_lacks_something_is_left_alone(project, makes, capsys, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(project / "elsewhere"))
    environment.own_python(["torch>=2.5", "jupyterlab>=4.2"])
    assert "active environment lacks torch>=2.5, jupyterlab>=4.2" in capsys.readouterr().out


def test_a_python_without_venv_is_told_which_package_to_install(project, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Trouble, match="sudo apt install python3-venv"):
        environment.own_python([])
    assert list(project.iterdir()) == [project / "pyproject.toml"]


def test_a_full_disk_is_told_before_anything_is_written(project, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**10, 10**10 - 10**8, 10**8))
    with pytest.raises(Trouble, match=r"needs 2 GB and 0\.1 GB are free in"):
        environment.own_python([])
    assert list(project.iterdir()) == [project / "pyproject.toml"]


def test_an_interrupted_installation_cannot_be_mended_from_inside(project, monkeypatch):
    (project / ".venv").mkdir()
    environment.UNFINISHED.touch()
    monkeypatch.setattr(sys, "prefix", str(project / ".venv"))
    monkeypatch.setattr(environment, "is_met", lambda requirement: True)
    with pytest.raises(Trouble, match="was interrupted: leave"):
        environment.prepare(EXTRAS)


# PyTorch

NO_MATCH = "ERROR: No matching distribution found for torch==2.13.0+cpu"
CAPPED = "ERROR: ResolutionImpossible: for help visit the documentation"
REFUSED = "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n" + NO_MATCH
FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
PINNED = f"torch=={environment.TORCH}"
CPU_HERE, CPU_THERE = (PINNED + "+cpu",), (PINNED + "+cpu", "--index-url", environment.TORCH_CPU_INDEX)
CUDA, ANY = (PINNED,), ("torch>=2.5",)


class FakePip:
    """Answers each call with the next of the outputs; None stands for success."""

    def __init__(self, *outputs: str | None):
        self.outputs, self.calls = list(outputs), []

    def __call__(self, *arguments: str) -> tuple[bool, str]:
        self.calls.append(arguments)
        output = self.outputs.pop(0)
        return output is None, output or ""


@pytest.fixture
def bare_linux(project, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(environment, "is_met", lambda requirement: False)
    monkeypatch.setattr(environment, "has_nvidia_gpu", lambda: False)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**12, 0, 10**12))


@pytest.mark.parametrize(
    ("outputs", "calls"),
    [
        ([None], [CPU_HERE]),
        ([NO_MATCH, None], [CPU_HERE, CPU_THERE]),
        ([CAPPED, None], [CPU_HERE, CPU_THERE]),
        ([NO_MATCH, REFUSED, None], [CPU_HERE, CPU_THERE, CUDA]),
        ([NO_MATCH, NO_MATCH, NO_MATCH, None], [CPU_HERE, CPU_THERE, CUDA, ANY]),
    ],
)
def test_without_a_gpu_the_cpu_build_is_looked_for_first(outputs, calls, bare_linux, capsys, monkeypatch):
    pip = FakePip(*outputs)
    monkeypatch.setattr(environment, "pip", pip)
    environment.install_torch()
    assert pip.calls == calls
    assert ("3 GB to fetch and 6 GB on disk" in capsys.readouterr().out) == (CUDA in calls)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ([REFUSED], "No network"),
        ([FULL], "disk is full"),
        ([NO_MATCH, FULL], "disk is full"),
        ([NO_MATCH, NO_MATCH, NO_MATCH, NO_MATCH], "no build for Python"),
    ],
)
def test_no_other_build_is_tried_where_it_cannot_help(outputs, words, bare_linux, monkeypatch):
    pip = FakePip(*outputs)
    monkeypatch.setattr(environment, "pip", pip)
    with pytest.raises(Trouble, match=words):
        environment.install_torch()
    assert pip.outputs == []


def test_the_cuda_build_needs_room_before_it_is_fetched(bare_linux, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**10, 0, 5 * 10**9))
    monkeypatch.setattr(environment, "pip", FakePip(NO_MATCH, NO_MATCH))
    with pytest.raises(Trouble, match=r"needs 8 GB and 5\.0 GB are free"):
        environment.install_torch()


@pytest.mark.parametrize(("platform", "gpu"), [("linux", True), ("darwin", False), ("win32", False)])
def test_elsewhere_the_plain_build_is_the_right_one(platform, gpu, bare_linux, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(environment, "has_nvidia_gpu", lambda: gpu)
    assert list(map(tuple, environment.torch_sources())) == [CUDA, ANY]


def test_a_pytorch_that_is_there_is_kept(bare_linux, monkeypatch):
    monkeypatch.setattr(environment, "is_met", lambda requirement: requirement == "torch>=2.5")
    monkeypatch.setattr(environment, "pip", forbid)
    environment.install_torch()


# pip


@pytest.fixture
def fake_pip(project, tmp_path_factory, monkeypatch):
    """Lets `python -m pip` run the given lines of Python instead."""
    folder = tmp_path_factory.mktemp("modules")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return lambda source: (folder / "pip.py").write_text(textwrap.dedent(source), encoding="utf-8")


def test_pip_that_succeeds_leaves_no_mark(fake_pip, capsys):
    fake_pip("import sys; print(sys.argv[1:]); print('Installing collected packages: x')")
    worked, output = environment.pip("x>=1")
    assert worked
    assert "'install'" in output
    assert "'x>=1'" in output
    assert not environment.UNFINISHED.exists()
    assert "Collecting x>=1" in capsys.readouterr().out


def test_pip_that_fails_before_it_writes_leaves_no_mark(fake_pip):
    fake_pip("import sys; print('Collecting x'); sys.exit('No matching distribution found for x')")
    worked, output = environment.pip("x")
    assert not worked
    assert "No matching distribution" in output
    assert not environment.UNFINISHED.exists()


def test_pip_that_fails_while_it_writes_leaves_the_mark(fake_pip):
    fake_pip("import sys; print('Installing collected packages: x'); sys.exit('OSError: [Errno 28] No space left')")
    worked, output = environment.pip("x")
    assert not worked
    assert "disk is full" in environment.explain(output)
    assert environment.UNFINISHED.exists()


def test_an_interruption_waits_for_pip_and_keeps_the_mark(fake_pip, monkeypatch):
    fake_pip("import time; print('Installing collected packages: x', flush=True); time.sleep(1); open('ended', 'w')")

    def interrupted(reader, lines):
        while not environment.UNFINISHED.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "show_progress", interrupted)
    with pytest.raises(KeyboardInterrupt):
        environment.pip("x")
    assert (environment.ROOT / "ended").exists()
    assert environment.UNFINISHED.exists()


def test_installing_asks_for_the_extras_of_the_command(bare_linux, monkeypatch):
    monkeypatch.setattr(environment, "is_met", lambda requirement: requirement.startswith("pip"))
    pip = FakePip(None, None)
    monkeypatch.setattr(environment, "pip", pip)
    environment.install(EXTRAS)
    assert pip.calls == [CPU_HERE, ("-e", ".[notebooks,gguf]")]


def test_an_unknown_failure_shows_what_pip_said(capsys):
    sentence = environment.explain("first\n" + "line\n" * 30 + "ERROR: metadata-generation-failed")
    assert "run the same command again" in sentence
    printed = capsys.readouterr().out
    assert "metadata-generation-failed" in printed
    assert "first" not in printed


# What is run


def test_lab_opens_the_chapters_and_passes_options_on(monkeypatch):
    calls = []
    monkeypatch.setattr(course, "prepare", lambda extras: None)
    monkeypatch.setattr(course, "call", lambda command: calls.append(command) or 0)
    assert course.main(["lab", "--no-browser", "--port=9000"]) == 0
    (command,) = calls
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/lab/tree/notebooks" in command
    assert f"--ServerApp.root_dir={ROOT}" in command
    assert command[-2:] == ["--no-browser", "--port=9000"]


def test_recording_that_fails_is_not_followed_by_the_tests(monkeypatch):
    calls = []
    monkeypatch.setattr(course, "call", lambda command, variables: calls.append(command) or 1)
    assert course.record(["x.ipynb"]) == 1
    (command,) = calls
    assert command[1:] == [ROOT / "notebooks" / "record.py", "x.ipynb"]


def test_a_command_can_import_the_project_from_anywhere(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    program = "import os, notebooks.environment; print(os.environ['PYTHONHASHSEED'])"
    assert course.call([sys.executable, "-c", program], course.RECIPE) == 0
    assert capfd.readouterr().out == "0\n"


@pytest.mark.skipif(os.name == "nt", reason="signals, which Windows lacks")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_for_the_command_to_answer(number, tmp_path):
    """Ctrl-C reaches both; course.py waits until JupyterLab, here a program that asks for a second, has ended."""
    answers = f"import signal, time; signal.signal({int(number)}, lambda *_: exit(7)); print('ready', flush=True)"
    child = f"{answers}; time.sleep(60)"
    program = f"import course, sys; sys.exit(course.call([sys.executable, '-c', {child!r}]))"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout.readline() == "ready\n"
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        assert process.wait(timeout=30) == 7
