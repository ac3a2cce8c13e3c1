"""pyproject.toml, environment.yml and what course.py reads of them say the same."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from notebooks import environment

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("notebooks", "gguf", "grade", "test")
# Packages that conda-forge calls otherwise.
CONDA_NAMES = {"torch": "pytorch-cpu", "playwright": "playwright-python"}


def conda_dependencies() -> list:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]


def test_conda_environment_names_the_same_packages_and_versions():
    conda = {line.replace(" ", "") for line in conda_dependencies() if isinstance(line, str)}
    wanted = (requirement.split(">=") for requirement in environment.requirements(EXTRAS))
    assert conda == {f"{CONDA_NAMES.get(name, name)}>={version}" for name, version in wanted} | {"python>=3.10", "pip"}


def test_conda_environment_installs_the_project_itself():
    assert {"pip": ["-e ."]} in conda_dependencies()


def test_every_requirement_is_a_name_and_a_least_version():
    for requirement in environment.requirements(EXTRAS):
        assert re.fullmatch(r"[a-z][a-z0-9-]*>=\d+(\.\d+)*", requirement), requirement


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a TOML reader, which Python 3.10 lacks")
def test_requirements_are_read_as_a_toml_reader_reads_them():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert environment.requirements(()) == project["dependencies"]
    for extra in EXTRAS:
        assert environment.requirements((extra,)) == project["dependencies"] + extras[extra]
    assert extras["all"] == [f"llm-gen[{','.join(EXTRAS)}]"]
    # "bench" brings the peers to measure against, which the course does not need.
    assert set(extras) == {*EXTRAS, "all", "bench"}
