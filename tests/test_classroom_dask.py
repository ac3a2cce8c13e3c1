"""The same jobs on a cluster of two workers, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from made_class import write_class

from exercises.classroom import dask_run
from exercises.classroom.grade import grade
from exercises.classroom.mark import FAILED, Settings
from exercises.grader.catalog import all_exercises
from exercises.grader.isolate import isolation_level

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
EXERCISES = [exercise for exercise in all_exercises() if exercise.short in ("top_p", "nuclei", "ratio", "by_hand")]
SETTINGS = Settings(tuple(exercise.name for exercise in EXERCISES), processor=0.5)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(isolation_level() != "process", reason="this system isolates by threads only"),
]


@pytest.fixture(scope="module")
def cluster():
    """One for both tests; Dask gives it another worker for the one that is killed."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as started:
        yield started


def results(out):
    return {path.name: path.read_bytes() for path in (out / "results").glob("*.json")}


def test_a_worker_killed_midway_loses_nothing_and_doubles_nothing(cluster, tmp_path):
    truths = write_class(tmp_path / "submissions", 16, EXERCISES, slow_attacks=False)
    grade(tmp_path / "submissions", tmp_path / "here", SETTINGS, kinds=["csv"])
    seen: list[str] = []
    killed = threading.Event()

    def run(jobs, settings):
        with distributed.Client(cluster, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))
            for row in dask_run.on_client(client, jobs, settings):
                seen.append(row["id"])
                if len(seen) == 3:
                    os.kill(victim, signal.SIGKILL)
                    killed.set()
                yield row

    result = grade(tmp_path / "submissions", tmp_path / "there", SETTINGS, kinds=["csv"], run=run)
    assert killed.is_set()
    assert sorted(seen) == sorted(truths) and result.graded_now == len(truths)
    assert results(tmp_path / "there") == results(tmp_path / "here")
    assert (tmp_path / "there" / "marks.csv").read_bytes() == (tmp_path / "here" / "marks.csv").read_bytes()


def test_a_job_that_fails_on_the_cluster_is_a_row(cluster, monkeypatch):
    monkeypatch.setattr(dask_run, "mark", breaks)
    jobs = [{"id": str(number), "student": "s", "digest": str(number), "problems": []} for number in range(3)]
    with distributed.Client(cluster, set_as_default=False) as client:
        rows = list(dask_run.on_client(client, jobs, {}))
    assert {row["id"]: row["status"] for row in rows} == {"0": "graded", "1": FAILED, "2": "graded"}


def breaks(job, settings):
    if job["id"] == "1":
        raise RuntimeError("no memory left")
    return job | {"status": "graded"}


def test_without_dask_the_words_say_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ValueError, match="pip install"):
        dask_run.on_cluster("local", 2)
