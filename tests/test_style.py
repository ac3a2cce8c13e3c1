"""The code keeps the rules for style that pyproject.toml sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_ruff_finds_nothing():
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", "."]
    found = subprocess.run(command, cwd=Path(__file__).resolve().parent.parent, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
