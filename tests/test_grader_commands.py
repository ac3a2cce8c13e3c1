"""python -m exercises: what each command says and its exit code."""

from __future__ import annotations

import json
import os

import pytest

from exercises.__main__ import main
from exercises.grader import catalog, commands
from exercises.grader.catalog import all_exercises, find
from exercises.grader.stubs import fill

RIGHT = "from solutions.e05_top_p import keep_top_p\n"
WRONG = "def keep_top_p(probs, top_p):\n    return probs\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A copy of three exercises, found instead of the real ones."""
    pages = tmp_path / "exercises"
    pages.mkdir()
    for name in ("e03_ratio", "e05_top_p", "e05_nuclei"):
        (pages / f"{name}.py").write_text(find(name).path.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(commands, "all_exercises", lambda: all_exercises(pages))
    monkeypatch.setattr(commands, "find", lambda name: find(name, pages))
    monkeypatch.setenv("LLM_COURSE_PROGRESS", str(tmp_path / "progress.json"))
    return pages


def solve(folder, source):
    (folder / "e05_top_p.py").write_text(source, encoding="utf-8")


def test_list_names_every_exercise(capsys):
    assert main(["list"]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [
        "e03_ratio",
        "e05_nuclei",
        "e05_top_p",
    ]
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed[2] == {
        "name": "e05_top_p",
        "chapter": 5,
        "title": "Top-p: keep the nucleus, renormalise the rest away",
        "objective": "Implement top-p filtering exactly",
        "difficulty": 3,
        "minutes": 15,
        "passed": False,
    }


def test_check_and_its_exit_codes(folder, capsys):
    assert main(["check", "top_p"]) == 3
    solve(folder, RIGHT)
    assert main(["check", "top_p"]) == 0
    assert main(["check"]) == 3
    solve(folder, WRONG)
    assert main(["check"]) == 1
    assert main(["check", "e05_top_p", "ratio"]) == 1
    assert "version that ignores top_p" in capsys.readouterr().out


def test_check_takes_a_file_from_anywhere(folder, tmp_path, capsys):
    (tmp_path / "e05_top_p.py").write_text(RIGHT, encoding="utf-8")
    assert main(["check", str(tmp_path / "e05_top_p.py")]) == 0
    assert "passed" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "e05_nuclei.py")]) == 2


def test_check_in_json(folder, capsys):
    solve(folder, WRONG)
    assert main(["check", "top_p", "--json"]) == 1
    (verdict,) = json.loads(capsys.readouterr().out)
    assert verdict["exercise"] == "e05_top_p" and verdict["status"] == "wrong"
    assert 0 < verdict["right"] < verdict["total"] == sum(total for _right, total in verdict["groups"].values())
    assert verdict["mistakes"] == ["wrong_ignores_top_p"] and verdict["text"].startswith("✗ top_p")


@pytest.mark.parametrize("command", [["check", "topp"], ["hint", "topp"], ["reset", "topp"], ["solution", "topp"]])
def test_an_unknown_name_is_a_usage_error_that_offers_close_ones(command, capsys):
    assert main(command) == 2
    assert "Did you mean top_p?" in capsys.readouterr().err


def test_no_command_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    capsys.readouterr()


def test_hints_go_on_from_call_to_call(capsys):
    for step in (1, 2, 3, 3):
        assert main(["hint", "top_p"]) == 0
        assert f"hint {step} of 3" in capsys.readouterr().out
    assert main(["hint", "top_p", "--step", "2"]) == 0
    assert main(["hint", "top_p", "--step", "9"]) == 2
    assert "step must lie in 1..3, got 9" in capsys.readouterr().err


def test_solution_and_progress(folder, capsys):
    assert main(["solution", "top_p"]) == 0
    assert "Try first" in capsys.readouterr().out
    solve(folder, RIGHT)
    main(["check", "top_p"])
    main(["solution", "top_p"])
    main(["progress"])
    shown = capsys.readouterr().out
    assert "mass_before < top_p" in shown and "1 of 3 exercises passed" in shown
    main(["progress", "--json"])
    assert json.loads(capsys.readouterr().out) == {"e05_top_p": {"attempts": 1, "mistakes": [], "passed_at_attempt": 1}}


@pytest.mark.parametrize("edit", ["x = (\n", "", "def keep_top_p(probs, top_p): return probs\n"])
def test_reset_mends_a_broken_page_and_never_loses_work(folder, edit, capsys):
    page = folder / "e05_top_p.py"
    original = page.read_text(encoding="utf-8")
    broken = original.replace("    raise NotImplementedError\n", "    " + edit)
    page.write_text(broken, encoding="utf-8")
    assert main(["reset", "top_p"]) == 0
    assert page.read_text(encoding="utf-8") == original
    assert (folder / "e05_top_p.bak").read_text(encoding="utf-8") == broken
    page.write_text(fill(find("top_p")), encoding="utf-8")
    assert main(["reset", "top_p"]) == 0
    assert (folder / "e05_top_p.bak").read_text(encoding="utf-8") == broken
    assert (folder / "e05_top_p.bak1").exists()
    assert "what you had is in e05_top_p.bak1" in capsys.readouterr().out


def test_watch_checks_a_file_when_it_is_saved(folder, capsys, monkeypatch):
    def save(seconds):
        solve(folder, RIGHT)
        os.utime(folder / "e05_top_p.py", (1, 1))

    monkeypatch.setattr(commands, "pause", save)
    assert commands.watch(main_options(["watch"], looks=3)) == 0
    shown = capsys.readouterr().out
    assert "Watching 3 files" in shown and shown.count("✓ top_p: passed") == 1


def main_options(arguments, **more):
    from exercises.__main__ import _parser

    options = _parser().parse_args(arguments)
    vars(options).update(more)
    return options


def test_ctrl_c_ends_a_watch_quietly(monkeypatch):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "watch", interrupt)
    assert main(["watch"]) == 0


def test_the_folder_of_the_real_exercises_is_beside_the_grader():
    assert catalog.FOLDER.name == "exercises" and (catalog.FOLDER / "e05_top_p.py").exists()
