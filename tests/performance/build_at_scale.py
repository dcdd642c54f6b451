"""What `mkdocs build` costs with 500 claims, and how long an edit of a guide takes to reach whoever reads `make serve`.

Run it by hand: `python tests/performance/build_at_scale.py [CLAIMS]`. In a temporary folder it makes a tree of so many
claims with two sessions each, looking as the real site does, and builds it in a child; a figure is the child's user
and system time. Then it serves this repository's own site and appends a sentence to its largest guide, some times; a
figure is the time until the host sends the sentence, on the clock. Beside each stands its budget.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))


ROOT = Path(__file__).resolve().parents[2]
CLAIMS = 500
BUILD_SECONDS, EDIT_SECONDS = 15.0, 2.0
EDITS = 5
_PATIENCE = 120.0
MKDOCS = (sys.executable, "-m", "mkdocs")


def dress(root: Path) -> None:
    """Give a tree the looks of the real site: its configuration but for the pages, and its style."""
    nav = re.findall(r"^  - (scale/.+)$", (root / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    shutil.copytree(ROOT / "docs/assets", root / "docs/assets")
    entries = "".join(f"  - {page}\n" for page in ["index.md", "claims/index.md", *nav])
    config = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0]
    (root / "mkdocs.yml").write_text(f"{config}\nnav:\n{entries}", "utf-8")
    (root / "docs/index.md").write_text("---\ndescription: The start\n---\n# Start\n\nHere.\n", "utf-8")


def build_seconds(root: Path, out: Path) -> float:
    """What a strict build took.

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
