"""What all tests share: repeatable settings, and one way to say that a part of the suite cannot run here.

A test marked `@pytest.mark.needs("chromium")` or `@pytest.mark.needs("smollm2")` is skipped where that part is
missing, and the closing lines of `python course.py test` say so. With COURSE_REQUIRE=all it fails instead, so
that a run which must be complete cannot pass by skipping. The fixture `chromium` is the path of the browser.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import hypothesis
import pytest
import torch

from llm_gen.weights import smollm2

# Tests are offline, repeat exactly, and share the cores with other workers.
os.environ["HF_HUB_OFFLINE"] = "1"
torch.set_num_threads(1)
hypothesis.settings.register_profile("course", derandomize=True, deadline=None)
hypothesis.settings.load_profile("course")

BROWSERS = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
]


@cache
def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@dataclass(frozen=True)
class Part:
    """A part of the suite that may be impossible here; `find` gives None where it is."""

    find: Callable[[], object]
    missing: str


PARTS = {
    "chromium": Part(find_chromium, "the browser test (no Chromium found)"),
    "smollm2": Part(smollm2.find, "SmolLM2 (its file could not be had)"),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            if not PARTS[name].find():
                report_missing(PARTS[name].missing)


def report_missing(what: str) -> None:
    if os.environ.get("COURSE_REQUIRE") == "all":
        pytest.fail(f"COURSE_REQUIRE=all, but this part cannot run: {what}", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser; for tests marked needs("chromium")."""
    return find_chromium()
