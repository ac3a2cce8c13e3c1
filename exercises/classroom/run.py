"""Many jobs, one after the other or side by side: each gives one row, in the order in which they are done."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from exercises.classroom.mark import FAILED, close_launcher, mark
from llm_gen.text import _

Row = dict[str, Any]
Run = Callable[[Iterable[Row], Row], Iterator[Row]]  # (jobs, settings) -> rows
WAITING_FOR_EACH = 2  # jobs handed over for each process, so that none waits and memory stays small
ATTEMPTS = 2  # a job in whose time a process died


def one_by_one(jobs: Iterable[Row], settings: Row) -> Iterator[Row]:
    try:
        for job in jobs:
            yield mark(job, settings)
    finally:
        close_launcher()


def in_processes(count: int) -> Run:
    """`count` processes, each with a launcher of its own; one that dies is replaced and its jobs are done again."""
    return lambda jobs, settings: _pooled(iter(jobs), settings, count)


def _pooled(jobs: Iterator[Row], settings: Row, count: int) -> Iterator[Row]:
    tries: dict[str, int] = {}
    again: list[Row] = []
    while True:
        with ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), end_with_parent) as pool:
            running: dict[Future, Row] = {}
            try:
                yield from _stream(itertools.chain(again, jobs), settings, pool, running, count)
                return
            except BrokenProcessPool:
                again = list(running.values())
        for job in again:
            tries[job["id"]] = tries.get(job["id"], 0) + 1
        yield from (failed(job) for job in again if tries[job["id"]] >= ATTEMPTS)
        again = [job for job in again if tries[job["id"]] < ATTEMPTS]


def end_with_parent() -> None:
    """In each process of the pool: if the run is killed, nobody is left who would end it."""
    parent = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _stream(
    jobs: Iterator[Row], settings: Row, pool: ProcessPoolExecutor, running: dict[Future, Row], count: int
) -> Iterator[Row]:
    """Rows as they come; `running` holds what has been handed over. BrokenProcessPool: a process has died."""
    while True:
        for job in itertools.islice(jobs, count * WAITING_FOR_EACH - len(running)):
            try:
                running[pool.submit(mark, job, settings)] = job
            except BrokenProcessPool:
                running[Future()] = job
                raise
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            row = future.result()
            del running[future]
            yield row


def failed(job: Row) -> Row:
    """The row of a job that ended the process which graded it, again and again."""
    row = {key: job[key] for key in ("id", "student", "digest")} | {"status": FAILED, "score": 0.0, "max": 0.0}
    problems = [*job["problems"], _("the process that graded it ended {n} times").format(n=ATTEMPTS)]
    return row | {"problems": problems, "isolation": "", "exercises": {}}
