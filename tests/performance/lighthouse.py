"""Measure the site's Lighthouse scores: four on a desktop and the performance on a phone, of one page of each kind.

Run it on an idle machine, after `make .cache/npm/lighthouse`: `python tests/performance/lighthouse.py [--record]`. It
builds and serves the site, and runs Lighthouse once for the desktop and five times for the phone (the median counts).
`--record` writes the scores to `lighthouse.json`, and a test compares docs/contribute/testing.md with them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).resolve().parents[1]))

from built_sites import build
from host import serve
from templates import representatives

ROOT = Path(__file__).resolve().parents[2]
LIGHTHOUSE = ROOT / ".cache/npm/node_modules/lighthouse"
RECORD = Path(__file__).with_suffix(".json")
PAGES = {"start": "index", "guide": "training/*/", "claim": "measured claim", "notebook": "notebook"}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
DESKTOP, PHONE, RUNS = 100, 95, 5
_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one page: each category on a desktop, and the performance on a phone in each run."""

    desktop: dict[str, int]
    phone: list[int]
    failed: tuple[str, ...]
    """The audits that lower a score on the desktop."""

    @property
    def kept(self) -> bool:
        """Whether the budgets are met."""
        return min(self.desktop.values()) >= DESKTOP and median(self.phone) >= PHONE


def ask(address: str, *, desktop: bool) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return a page's Lighthouse scores, out of 100, and its failed audits.

    Raises:
        RuntimeError: Lighthouse gave no answer.
    """
    categories = CATEGORIES if desktop else CATEGORIES[:1]
    wanted = [f"--only-categories={','.join(categories)}", *["--preset=desktop"][: int(desktop)]]
    flags = "--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-background-networking"
    quiet = ["--output=json", "--quiet", "--no-enable-error-reporting", flags]
    command = ["node", str(LIGHTHOUSE / "cli/index.js"), address, *wanted, *quiet]
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or ""
    environment = os.environ | {"CHROME_PATH": chromium}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=_SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    scores = {name: round(100 * category["score"]) for name, category in report["categories"].items()}
    weighed = {ref["id"] for each in report["categories"].values() for ref in each["auditRefs"] if ref["weight"]}
    low = (name for name in sorted(weighed) if (report["audits"][name]["score"] or 0) < 0.9)
    return scores, tuple(name for name in low if report["audits"][name]["scoreDisplayMode"] in ("binary", "numeric"))


def judge(address: str) -> Scores:
    """Return all scores of one page."""
    scores, failed = ask(address, desktop=True)
    phone = [ask(address, desktop=False)[0]["performance"] for _ in range(RUNS)]
    return Scores(scores, phone, failed)


def row(name: str, found: dict[str, list[int]]) -> str:
    """Return a row of the table in docs/contribute/testing.md."""
    return f"| {name} | {' · '.join(map(str, found['desktop']))} | {median(found['phone']):g} |"


def main(*, record: bool) -> int:
    """Print the scores of every page and return 0 if all budgets are met."""
    if not LIGHTHOUSE.is_dir():
        print("Lighthouse is not installed; run `make .cache/npm/lighthouse`", file=sys.stderr)
        return 2
    pages: dict[str, dict[str, list[int]]] = {}
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        done = build(ROOT, site)
        if done.returncode:
            raise RuntimeError(done.stderr)
        found = representatives(site)
        with serve(site) as host:
            for name, kind in PAGES.items():
                scores = judge(f"{host}/{found[kind].relative_to(site).as_posix()}")
                pages[name] = {"desktop": [scores.desktop[each] for each in CATEGORIES], "phone": scores.phone}
                kept &= scores.kept
                failed = ", ".join(scores.failed) or "none"
                print(f"{row(name, pages[name])} phone {scores.phone}; failed audits: {failed}", flush=True)
    print(f"budgets: {DESKTOP} in each category on a desktop; {PHONE} on a phone, the median of {RUNS}")
    if record:
        version = json.loads((LIGHTHOUSE / "package.json").read_text("utf-8"))["version"]
        result = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "lighthouse": version, "pages": pages}
        RECORD.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 0 if kept else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What Lighthouse says of the site.")
    parser.add_argument("--record", action="store_true", help="write the scores to lighthouse.json")
    raise SystemExit(main(record=parser.parse_args().record))
