"""What a student waits for: a verdict on an answer, and a picture after a slider moved. Beside the time promised."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Effort, Row, quartiles

SECOND, FRAME = 1.0, 0.05  # promised: a verdict in a second, a picture in 50 ms for 95 of 100 moves


def grading(effort: Effort) -> Iterator[Row]:
    """Seconds from an answer to the verdict, for the course's own answers to three exercises; nothing is recorded."""
    from exercises.grader.answers import Given
    from exercises.grader.catalog import find
    from exercises.grader.judge import judge
    from solutions import e01_generate_loop, e05_top_p, e06_pipeline

    answers = {
        "top_p": e05_top_p.keep_top_p,
        "generate_loop": e01_generate_loop.generate_greedy,
        "pipeline": e06_pipeline.next_token_probs,
    }
    for name, answer in list(answers.items())[: 1 if effort.quick else 3]:
        seconds = []
        for _ in range(effort.turns):
            start = time.perf_counter()
            judge(find(name), Given(answer))
            seconds.append(time.perf_counter() - start)
        yield promise("grading", f"check({name!r}, ...)", seconds, SECOND, "s")


def sliders(effort: Effort) -> Iterator[Row]:
    """Milliseconds from a key on a slider to the picture on the screen, in a real JupyterLab; 95th percentile."""
    from benchmarks.slider_latency import MAKERS, in_browser
    from tests.conftest import find_chromium
    from tests.lab import browser, server

    chromium = find_chromium()
    if chromium is None:
        raise LookupError("no Chromium found")
    with tempfile.TemporaryDirectory() as name:
        folder, scratch = Path(name, "notebooks"), Path(name, "scratch")
        folder.mkdir()
        scratch.mkdir()
        with server("lab", folder, scratch) as address, browser(chromium) as window:
            for maker in MAKERS[: 1 if effort.quick else len(MAKERS)]:
                _, slow = in_browser(window, address, folder, maker, moves=20 if effort.quick else 40)
                yield promise("sliders", f"panel {maker}, 95 of 100 moves", [slow / 1000], FRAME, "ms", 1000)


def promise(part: str, what: str, seconds: list[float], promised: float, unit: str, scale: float = 1.0) -> Row:
    ratios = [promised / value for value in seconds]
    middle = statistics.median(seconds)
    return Row(
        part, what, "what is promised", scale * middle, scale * promised, unit, statistics.median(ratios),
        quartiles(ratios), 1.0,
    )  # fmt: skip
