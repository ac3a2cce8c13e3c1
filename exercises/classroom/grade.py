"""Grading a folder of submissions: from jobs to rows to the files of a class."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from exercises.classroom import formats
from exercises.classroom.class_report import class_report
from exercises.classroom.collect import Job, collect, count
from exercises.classroom.mark import GRADED, Settings
from exercises.classroom.run import Run, one_by_one
from exercises.classroom.store import Store, key_of, slug, write_file
from exercises.classroom.student_report import student_report
from exercises.classroom.summary import Summary, summarise
from exercises.grader.card import print_text
from exercises.grader.catalog import FOLDER, Exercise, all_exercises
from llm_gen.text import _

Row = dict[str, Any]
FORMATS = ("csv", "json", "junit", "html", "gradescope", "github")
USUAL = ("csv", "json", "html")
SECONDS_BETWEEN_WORDS = 1.0


@dataclass(frozen=True)
class Result:
    """What a run did: how many submissions there are, how many of them were graded now, and the class in numbers."""

    submissions: int
    graded_now: int
    summary: Summary


def grade(
    submissions: Path,
    out: Path,
    settings: Settings,
    *,
    pattern: str = "",
    kinds: Iterable[str] = USUAL,
    run: Run = one_by_one,
    say: Callable[[str], None] = lambda words: None,
) -> Result:
    """Grade every submission that `out` has no row for yet, and write the files of the class.

    kinds: of FORMATS. run: how the jobs are done. say: takes a line about the progress. Raises ValueError for a folder
    without submissions or a kind that is unknown.
    """
    kinds, exercises = list(kinds), [e for e in all_exercises() if e.name in settings.names]
    if settings.vary and not settings.seed:
        raise ValueError(_("--vary needs the seed that the editions were made with"))
    for kind in kinds:
        if kind not in FORMATS:
            raise ValueError(_("formats must be of {known}, got {kind}").format(known=", ".join(FORMATS), kind=kind))
    out.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, secrets=_closable([submissions, out]))
    store = Store(out, key_of(asdict(settings), [FOLDER, FOLDER.parent / "solutions", FOLDER.parent / "llm_gen"]))
    progress = Progress(say, count(submissions, pattern))
    ids = _grade(collect(submissions, exercises, pattern), store, asdict(settings), run, progress)
    say(_("Writing the files of the class ..."))
    _write_each(store, ids, kinds, exercises)
    summary = summarise(store.rows(ids), list(settings.names))
    _write_class(store, ids, kinds, summary, exercises)
    return Result(len(ids), progress.finished, summary)


def _closable(folders: list[Path]) -> tuple[str, ...]:
    """Of these folders the ones that can be hidden from answers without hiding the course or Python itself."""
    needed = [FOLDER.parent, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve(), Path("/tmp")]
    resolved = [folder.resolve() for folder in folders if folder.is_dir()]
    return tuple(str(path) for path in resolved if not any(need.is_relative_to(path) for need in needed))


def _grade(jobs: Iterator[Job], store: Store, settings: Row, run: Run, progress: Progress) -> list[str]:
    """Do the jobs that have no row yet; the ids of all, in the order of the folder."""
    ids: list[str] = []

    def undone() -> Iterator[Row]:
        for job in jobs:
            ids.append(job.id)
            data = job.as_json()
            if store.has(data):
                progress.skipped += 1
            else:
                yield data

    for row in run(undone(), settings):
        store.write(row)
        progress.done()
    progress.tell()
    return ids


class Progress:
    """A line now and then: how many are done, how fast, how long the others will take."""

    def __init__(self, say: Callable[[str], None], total: int) -> None:
        self._say, self._start, self._last, self._total = say, time.monotonic(), 0.0, total
        self.finished = self.skipped = 0

    def done(self) -> None:
        self.finished += 1
        if time.monotonic() - self._last >= SECONDS_BETWEEN_WORDS:
            self.tell()

    def tell(self) -> None:
        self._last = time.monotonic()
        rate = self.finished / max(self._last - self._start, 1e-9)
        ready = self.finished + self.skipped
        words = _("{ready} of {total} graded ({skipped} before), {rate:.1f} a second, {left:.0f} s left")
        left = (self._total - ready) / rate if rate else 0.0
        self._say(words.format(ready=ready, total=self._total, skipped=self.skipped, rate=rate, left=left))


def _write_each(store: Store, ids: list[str], kinds: list[str], exercises: list[Exercise]) -> None:
    """The files of each submission."""
    makers: dict[str, tuple[str, Callable[[Row], str]]] = {
        "html": ("reports/{}.html", lambda row: student_report(row, exercises)),
        "gradescope": ("gradescope/{}/results.json", formats.gradescope),
        "github": ("github/{}.output", formats.github_output),
    }
    for row in store.rows(ids):
        for kind in kinds:
            if kind in makers:
                name, make = makers[kind]
                write_file(store.folder / name.format(slug(row["id"])), [make(row)])


def _write_class(
    store: Store, ids: list[str], kinds: list[str], summary: Summary, exercises: list[Exercise]
) -> None:
    names = summary.names
    makers: dict[str, tuple[str, Callable[[Iterator[Row]], Iterable[str]]]] = {
        "csv": ("marks.csv", lambda rows: formats.csv_lines(rows, names)),
        "json": ("marks.json", formats.json_lines),
        "junit": ("junit.xml", formats.junit_lines),
        "html": ("class.html", lambda rows: [class_report(summary, exercises)]),
    }
    for kind in kinds:
        if kind in makers:
            name, make = makers[kind]
            write_file(store.folder / name, make(store.rows(ids)))


def in_words(result: Result, out: Path) -> str:
    """The last lines of a run."""
    counts = ", ".join(f"{n} {_(status)}" for status, n in sorted(result.summary.statuses.items()))
    words = _("Submissions: {n} ({counts}); {new} graded now. The files are in {out}.")
    start = "\n" if sys.stderr.isatty() else ""  # after the line of progress
    return start + words.format(n=result.submissions, counts=counts, new=result.graded_now, out=out)


def on_terminal(words: str) -> None:
    """Progress on stderr: on one line that changes, or line by line into a file."""
    if sys.stderr.isatty():
        print("\r" + words.ljust(79), end="", file=sys.stderr, flush=True)
    else:
        print_text(words, sys.stderr)


def all_graded(result: Result) -> bool:
    return set(result.summary.statuses) <= {GRADED}
