"""The first chapter: its self-test tells in words what does not work, and its map lists what is there."""

from __future__ import annotations

import nbformat
import pytest
from nbformat import v4

from llm_gen import CheckpointError
from notebooks.panels import course_map, self_test, start
from notebooks.panels.scene import Text


@pytest.fixture
def findings(monkeypatch):
    """Sets what the three checks find."""

    def set_to(*problems: str) -> None:
        monkeypatch.setattr(start, "CHECKS", {f"part {i}": lambda p=p: p for i, p in enumerate(problems, start=1)})

    return set_to


def test_the_slider_fills_as_many_boxes_as_it_says(findings):
    findings("", "", "")
    panel = self_test()
    assert panel.summary == "all works; the slider says 0"
    for number in (0, 3, 10):
        assert panel.set(number=number) == f"all works; the slider says {number}"
        assert panel._picture.value.count('fill="#0072B2"') == number
    panel.close()


def test_what_does_not_work_is_told_in_words(findings):
    findings("", "install it", "")
    panel = self_test()
    assert panel.summary == "not working: part 2 (install it); the slider says 0"
    assert "part 2: install it" in panel._picture.value
    panel.close()


def test_packages_and_torch_are_there():
    assert (start.check_packages(), start.check_torch()) == ("", "")


def test_a_missing_package_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setattr(start, "unmet", lambda wanted: ["ipywidgets>=8.1"])
    assert (
        start.check_packages() == "missing: ipywidgets>=8.1. Close this and start it again with: python course.py lab"
    )


def test_a_broken_model_gives_words_without_a_path(monkeypatch):
    def broken(name):
        raise CheckpointError("/some/folder cannot be read")

    monkeypatch.setattr(start, "load_model", broken)
    assert start.check_model() == "missing or broken: fetch the course anew"


def test_without_sliders_the_picture_says_what_to_do(findings):
    findings("", "", "")
    texts = [mark.text for mark in start._without_sliders([]).marks if isinstance(mark, Text)]
    assert any("Shift+Enter" in text for text in texts)
    assert any("python course.py lab" in text for text in texts)


def test_the_map_lists_the_chapters_of_a_folder_and_nothing_else(tmp_path):
    for name in ("10_ten.ipynb", "03_heat.ipynb", "notes.ipynb"):
        cells = [v4.new_markdown_cell(f"# {name[:2]}. A title\n\nAllow 75 minutes.")]
        nbformat.write(v4.new_notebook(cells=cells), tmp_path / name)
    found = course_map(tmp_path)
    assert [(c.file, c.title, c.minutes) for c in found.chapters] == [
        ("03_heat.ipynb", "03. A title", 75),
        ("10_ten.ipynb", "10. A title", 75),
    ]
    assert "| [03. A title](03_heat.ipynb) | 75 |" in found._repr_markdown_()


def test_a_chapter_without_title_or_minutes_is_listed_by_its_name(tmp_path):
    nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("no heading")]), tmp_path / "99_odd.ipynb")
    assert repr(course_map(tmp_path)) == "99_odd.ipynb  99_odd"
    assert "| [99_odd](99_odd.ipynb) |  |  |" in course_map(tmp_path)._repr_markdown_()
