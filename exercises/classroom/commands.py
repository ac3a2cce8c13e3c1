"""The instructor's commands of `python -m exercises`: the student edition has none of them."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from exercises.grader.card import print_text
from exercises.grader.catalog import Exercise, all_exercises
from exercises.grader.commands import ALL_PASSED, SOME_WRONG, table
from llm_gen.text import _


def add_commands(add: Callable) -> None:
    """Add the commands to a parser; add: its `add_parser`."""
    tabling = add("table", help=_("how many wrong answers and mutants are refused"))
    tabling.add_argument("names", nargs="*", metavar=_("name"))
    tabling.add_argument("--write", action="store_true")
    tabling.set_defaults(run=table)
    outlining = add("syllabus", help=_("objectives, exercises, usual mistakes"))
    outlining.add_argument("--write", action="store_true")
    outlining.set_defaults(run=syllabus)
    _add_grade(add)
    _add_release(add)


def _add_grade(add: Callable) -> None:
    grading = add("grade", help=_("grade a folder of submissions"))
    grading.add_argument("submissions", type=Path, help=_("a folder with one entry for each student"))
    grading.add_argument("--out", type=Path, required=True, metavar="DIR")
    words = _("regular expression over the names; its group is the student")
    grading.add_argument("--pattern", type=student_pattern, help=words)
    grading.add_argument("--chapters", type=chapter_numbers, help=_("such as 1,3-6; all without"))
    grading.add_argument("--formats", default="csv,json,html", help="csv,json,junit,html,gradescope,github")
    grading.add_argument("--jobs", type=whole_number, default=1, metavar="N", help=_("processes side by side"))
    grading.add_argument("--dask", default="", metavar="ADDRESS", help=_("a Dask cluster; or local, with N workers"))
    grading.add_argument("--seed", default="", help=_("draws further inputs, which nobody knows before"))
    grading.add_argument("--vary", action="store_true", help=_("students have numbers of their own, by the seed"))
    grading.set_defaults(run=grade)


def _add_release(add: Callable) -> None:
    releasing = add("release", help=_("write the student edition, or the solved one"))
    releasing.add_argument("--out", type=Path, required=True, metavar="DIR")
    releasing.add_argument("--answers", action="store_true", help=_("the solved edition"))
    releasing.add_argument("--without", type=chapter_numbers, default=frozenset(), help=_("chapters, such as 12,13"))
    releasing.add_argument("--seed", default="", help=_("numbers of their own for each of --students"))
    releasing.add_argument("--students", type=Path, metavar="FILE", help=_("a name a line; an edition for each"))
    releasing.set_defaults(run=release)


def chapter_numbers(text: str) -> frozenset[int]:
    """{1, 3, 4, 5} for "1,3-5"."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise ArgumentTypeError(_("chapters are written like 1,3-6, got {text}").format(text=text))
    ends = [part.split("-") for part in text.split(",")]
    return frozenset(number for end in ends for number in range(int(end[0]), int(end[-1]) + 1))


def student_pattern(text: str) -> str:
    """A regular expression with a group."""
    try:
        if re.compile(text).groups:
            return text
    except re.error as error:
        raise ArgumentTypeError(_("not a regular expression: {error}").format(error=error)) from None
    raise ArgumentTypeError(_("the pattern needs a group for the student, such as ^([^_]+)_"))


def whole_number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(_("a whole number from 1 is asked for, got {text}").format(text=text))
    return int(text)


def syllabus(options: Namespace) -> int:
    from exercises.classroom import rubric, syllabus

    found = rubric.chapters()
    if options.write:
        syllabus.write(found)
    else:
        print_text(syllabus.syllabus(found))
    return ALL_PASSED


def grade(options: Namespace) -> int:
    """Exit code 0 if every submission was graded, 1 if a row says why one was not."""
    from exercises.classroom import grade as grading
    from exercises.classroom.dask_run import on_cluster
    from exercises.classroom.mark import Settings
    from exercises.classroom.run import in_processes, one_by_one

    run = in_processes(options.jobs) if options.jobs > 1 else one_by_one
    names = tuple(exercise.name for exercise in _chosen(options.chapters))
    try:
        result = grading.grade(
            options.submissions,
            options.out,
            Settings(names, seed=options.seed, vary=options.vary),
            pattern=options.pattern or "",
            kinds=options.formats.split(","),
            run=on_cluster(options.dask, options.jobs) if options.dask else run,
            say=grading.on_terminal,
        )
    except KeyboardInterrupt:
        print_text(_("\nStopped. The same command goes on where this one stood."))
        return SOME_WRONG
    print_text(grading.in_words(result, options.out))
    return ALL_PASSED if grading.all_graded(result) else SOME_WRONG


def _chosen(chapters: frozenset[int] | None) -> list[Exercise]:
    return [exercise for exercise in all_exercises() if chapters is None or exercise.chapter in chapters]


def release(options: Namespace) -> int:
    from exercises.classroom import release

    plan = release.Plan(options.answers, options.without, options.seed)
    students = options.students.read_text(encoding="utf-8").split("\n") if options.students else []
    for folder in release.release(options.out, plan, [name.strip() for name in students if name.strip()]):
        print_text(str(folder))
    return ALL_PASSED
