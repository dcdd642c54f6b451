"""Measure the CPU time of `mkdocs build` with 500 claims, and how soon `make serve` shows an edit.

Run it by hand: `python tests/performance/build_at_scale.py [CLAIMS]`. It builds a tree with CLAIMS claims of two
sessions each, with the real site's style, in a temporary folder and prints the child's user and system time. Then it
serves this repository's site, appends sentences to its largest guide, and prints the time until each is served, next
to the budgets.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).resolve().parents[1]))

from large_trees import make

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = 500
BUILD_SECONDS, EDIT_SECONDS = 20.0, 2.0
EDITS = 5
_PATIENCE = 120.0
MKDOCS = (sys.executable, "-m", "mkdocs")


def dress(root: Path) -> None:
    """Copy the real site's configuration, except the pages, and its style to a tree."""
    nav = re.findall(r"^  - (scale/.+)$", (root / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    shutil.copytree(ROOT / "docs/assets", root / "docs/assets")
    entries = "".join(f"  - {page}\n" for page in ["index.md", "claims/index.md", *nav])
    config = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0]
    (root / "mkdocs.yml").write_text(f"{config}\nnav:\n{entries}", "utf-8")
    (root / "docs/index.md").write_text("---\ndescription: The start\n---\n# Start\n\nHere.\n", "utf-8")


def build_seconds(root: Path, out: Path) -> float:
    """Return the CPU seconds of a strict build.

    Raises:
        RuntimeError: it failed.
    """
    command = [
        *MKDOCS,
        "build",
        "--strict",
        "--quiet",
        "--config-file",
        str(root / "mkdocs.yml"),
        "--site-dir",
        str(out),
    ]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode())
    return used.ru_utime + used.ru_stime


def edit_seconds(folder: Path) -> list[float]:
    """Return the seconds until each of some edits of a guide was served.

    Raises:
        TimeoutError: one was not served in two minutes.
    """
    root = folder / "own"
    shutil.copytree(
        ROOT, root, ignore=lambda path, _: {".git", ".cache", ".venv", "site"} if Path(path) == ROOT else set()
    )
    guide = max((root / "docs").rglob("*.md"), key=lambda path: path.stat().st_size)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    address = f"http://{place}/{guide.relative_to(root / 'docs').with_suffix('.html').as_posix()}"
    command = [*MKDOCS, "serve", "--quiet", "--no-strict", "--dev-addr", place]
    found = []
    with subprocess.Popen(command, cwd=root) as server:
        try:
            _wait(address, "</html>")
            for number in range(EDITS):
                words = f"Sentence {number} of the edits."
                guide.write_text(f"{guide.read_text('utf-8')}\n{words}\n", "utf-8")
                began = time.perf_counter()
                _wait(address, words)
                found.append(time.perf_counter() - began)
        finally:
            server.terminate()
    return found


def _wait(address: str, words: str) -> None:
    last = time.perf_counter() + _PATIENCE
    while time.perf_counter() < last:
        with suppress(OSError), urllib.request.urlopen(address, timeout=_PATIENCE) as answer:  # noqa: S310 - this machine
            if words in answer.read().decode():
                return
        time.sleep(0.02)
    raise TimeoutError(f"{address} does not show: {words}")


def main(claims: int) -> int:
    """Print each figure and return 0 if all budgets are met."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "big", claims)
        dress(folder / "big")
        built = build_seconds(folder / "big", folder / "site")
        print(f"a strict build with {claims} claims {built:6.2f} s of CPU, budget {BUILD_SECONDS:.2f} s", flush=True)
        edits = edit_seconds(folder)
        shown = ", ".join(f"{seconds:.2f}" for seconds in edits)
        print(f"an edit is served after {median(edits):6.2f} s, of {shown}, budget {EDIT_SECONDS:.2f} s")
    return 0 if built <= BUILD_SECONDS and median(edits) <= EDIT_SECONDS else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CLAIMS))
