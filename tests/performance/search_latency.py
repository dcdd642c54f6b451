"""Measure the latency of the search in a browser: from a key to the results, on a processor slowed down four times.

Run it by hand on an idle machine: `python tests/performance/search_latency.py [CHROMIUM]`. It opens this repository's
site from the file system, where the search runs in the page's own thread, and searches for the names and symptoms of
all methods after one warm-up search. The goals are a median of at most 100 ms and an index of at most 700 KB.
"""

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from headroom.records import load

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))

from built_sites import build  # noqa: E402 - as above
from search_queries import ask, open_search  # noqa: E402 - found by the line above

SLOWER, GOAL_MS, GOAL_BYTES = 4, 100, 700_000


def texts() -> list[str]:
    """Return the texts to search for."""
    methods = load(ROOT).methods.values()
    return sorted({text for each in methods for text in (each.name, *each.aliases, *each.symptoms)})


def latencies(site: Path, chromium: str) -> list[float]:
    """Return the milliseconds from a key to the results, for each text."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        open_search(page, (site / "index.html").as_uri())
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        found = [answer.milliseconds for answer in ask(page, texts())]
        browser.close()
    return found


def main(chromium: str) -> int:
    """Print the latencies and the size of the index, and return 0 if the goals are met."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        done = build(ROOT, site)
        if done.returncode:
            raise SystemExit(done.stderr)
        size = (site / "search/search_index.json").stat().st_size
        found = latencies(site, chromium)
    median, ninth = statistics.median(found), statistics.quantiles(found, n=10)[-1]
    print(f"{len(found)} searches, {SLOWER} times slower: median {median:.0f} ms, goal {GOAL_MS} ms")
    print(f"nine of ten within {ninth:.0f} ms, the longest {max(found):.0f} ms")
    print(f"index: {size / 1000:.0f} KB, goal {GOAL_BYTES / 1000:.0f} KB")
    return 0 if median <= GOAL_MS and size <= GOAL_BYTES else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium") or "chromium"))
