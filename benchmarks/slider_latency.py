"""From a key on a slider to painted pixels: `python -m benchmarks.slider_latency [--moves 50]`.

A real JupyterLab in headless Chromium, every panel on the stored logits of 49,152 tokens. The page takes the time
itself, from the key event to the frame after the new picture. Beside it: what the kernel alone needs to draw, and
how much it sends for one move.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from notebooks import panels
from notebooks.panels.svg import svg
from tests.conftest import find_chromium
from tests.lab import browser, open_notebook, open_page, run_all, server, shut_down_kernels, write_notebook

MAKERS = ["reshape", "nucleus", "temperature_map", "filter_order", "dart"]
# The time of the next picture after each key, once the frame with it has been handed to the screen.
STOPWATCH = """
panel => {
  window.latencies = [];
  let pressed = 0;
  panel.addEventListener('keydown', event => { pressed = event.timeStamp; }, true);
  const painted = () => setTimeout(() => window.latencies.push(performance.now() - pressed));
  new MutationObserver(changes => {
    if (changes.some(change => [...change.addedNodes].some(node => node.nodeName === 'svg')))
      requestAnimationFrame(painted);
  }).observe(panel, {childList: true, subtree: true});
}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=50, help="keys pressed on each panel")
    moves = parser.parse_args().moves
    if find_chromium() is None:
        print("This needs Chromium, and none was found.", file=sys.stderr)
        return 1
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder, scratch = Path(name, "notebooks"), Path(name, "scratch")
        folder.mkdir()
        scratch.mkdir()
        with server("lab", folder, scratch) as address, browser(find_chromium()) as window:
            for maker in MAKERS:
                rows.append([maker, *in_browser(window, address, folder, maker, moves), *in_kernel(maker, moves)])
    panels.table(["panel", "median ms", "p95 ms", "kernel ms", "bytes"], rows, decimals=1)
    return 0


def in_browser(window, address: str, folder: Path, maker: str, moves: int) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds over `moves` keys on the temperature slider."""
    write_notebook(folder / f"{maker}.ipynb", f"from notebooks import panels\npanels.{maker}(tau=0.5)")
    page = open_page(window)
    open_notebook(page, address, f"{maker}.ipynb")
    run_all(page)
    panel = page.locator(".llm-panel").first
    panel.locator("svg[role=img]").wait_for()
    panel.evaluate(STOPWATCH)
    slider = panel.get_by_role("slider", name="temperature")
    for move in range(moves):
        slider.press("ArrowRight" if move % 40 < 20 else "ArrowLeft")
        page.wait_for_function(f"() => window.latencies.length > {move}")
    latencies = page.evaluate("() => window.latencies")
    shut_down_kernels(page)
    page.close()
    return statistics.median(latencies), statistics.quantiles(latencies, n=20)[-1]


def in_kernel(maker: str, moves: int) -> tuple[float, int]:
    """Median milliseconds of processor time to compute and write a picture, and the size of the last one."""
    panel = getattr(panels, maker)()
    times, markup = [], ""
    for move in range(moves):
        values = panel.values | {"tau": round(0.5 + 0.05 * (move % 40), 2)}
        start = time.process_time()
        markup = svg(panel._draw(**values)[0])
        times.append(1000 * (time.process_time() - start))
    panel.close()
    return statistics.median(times), len(markup.encode())


if __name__ == "__main__":
    sys.exit(main())
