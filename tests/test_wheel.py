"""What an engineer gets by installing: the package and its data alone; what an editable install puts on the path."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_COPIED = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Calls one hook of the build backend on a copy of the project; gives the folder and the opened wheel."""
    folder = tmp_path_factory.mktemp("build") / "project"
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED)

    def call(hook: str) -> tuple[Path, zipfile.ZipFile]:
        program = f"from setuptools import build_meta; print(build_meta.{hook}({str(folder.parent)!r}))"
        done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
        return folder, zipfile.ZipFile(folder.parent / done.stdout.split()[-1])

    return call


def test_a_wheel_holds_the_package_with_its_data_and_nothing_else(build):
    folder, wheel = build("build_wheel")
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for path in (folder / "llm_gen").rglob("*") if path.is_file())
    assert packed == {path.relative_to(folder).as_posix() for path in files}


def test_an_editable_install_puts_the_whole_project_on_the_path(build):
    folder, wheel = build("build_editable")
    (path_file,) = [name for name in wheel.namelist() if name.endswith(".pth")]
    assert Path(wheel.read(path_file).decode().strip()) == folder
