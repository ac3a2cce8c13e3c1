"""The same jobs on a Dask cluster: `--dask ADDRESS`, or `--dask local` for workers on this machine.

Workers need the instructor's edition of the course, installed; the jobs bring the answers along. Dask does the work
again that a lost worker had; each row is taken once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from exercises.classroom.mark import mark
from exercises.classroom.run import ATTEMPTS, WAITING_FOR_EACH, Run, failed

if TYPE_CHECKING:
    from distributed import Client

Row = dict[str, Any]
LOCAL = "local"


def on_cluster(address: str, count: int) -> Run:
    """Grade on the cluster at `address`; LOCAL starts `count` workers here. Raises ValueError without Dask."""
    try:
        import distributed
    except ImportError:
        raise ValueError('--dask needs the package distributed: pip install -e ".[grade]"') from None

    def run(jobs: Iterable[Row], settings: Row) -> Iterator[Row]:
        if address != LOCAL:
            with distributed.Client(address, set_as_default=False) as client:
                yield from on_client(client, jobs, settings)
            return
        with (
            distributed.LocalCluster(count, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield from on_client(client, jobs, settings)

    return run


def on_client(client: Client, jobs: Iterable[Row], settings: Row) -> Iterator[Row]:
    """Rows as they come, with only a few jobs handed over at a time."""
    from distributed import as_completed

    jobs, completed = iter(jobs), as_completed(loop=client.loop)
    of_key: dict[str, Row] = {}

    def hand_over(number: int) -> None:
        for job in itertools.islice(jobs, number):
            future = client.submit(mark, job, settings, key=f"grade-{job['digest']}", retries=ATTEMPTS)
            of_key[future.key] = job
            completed.add(future)

    hand_over(max(1, sum(client.nthreads().values())) * WAITING_FOR_EACH)
    for future in completed:
        job = of_key.pop(future.key)
        yield future.result() if future.status == "finished" else failed(job)
        future.release()
        hand_over(1)
