"""Follow docs/contribute/your-first-claim.md like a new contributor: run each command and make each edit."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import headroom
from built_sites import build
from headroom import environment
from headroom.execution import hardware_class_draft, session_plan
from headroom.io.todo_markers import gap
from headroom.pages.source import Fence, parse
from headroom.records import load
from headroom.site.claims.claim_page import render
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/contribute/your-first-claim.md"
WRITTEN_FOR = "cpu-avx512-bf16"  # the hardware class that the page names
COPIED = ("mkdocs.yml", "LICENSE", "docs", "snippets")
RECORDS = (
    *("benchmarks", "coefficients", "evidence", "facts", "memory-errors", "methods", "pictures", "published"),
    *("registry", "runs"),
)
BENCHMARK, CLAIM = "mlp_checkpointing", "training.activation-checkpointing.mlp-saved-memory"
WALK = [fence for fence in parse("", PAGE.read_text("utf-8")).fences if fence.language in ("console", "diff")]


@dataclass(frozen=True)
class Step:
    """A command of the page, the output that the page shows, and the output printed here."""

    command: str
    shown: list[str]
    code: int
    printed: str


def a_copy(root: Path) -> str:
    """Copy the files that contributors write; return this machine's hardware class, and add one if it has none."""
    for name in (*COPIED, *(f"checks/{name}" for name in RECORDS)):
        source = ROOT / name
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    machine = environment.observe("cpu", threads=1)
    if not session_plan.classes(load(root), machine):
        entry = re.sub(
            rf"peak_flops: .{re.escape(gap(''))}.*", "peak_flops: 1.0e+15", hardware_class_draft.entry(machine)
        )
        with (root / "checks/facts/hardware-classes.yml").open("a", encoding="utf-8") as classes:
            classes.write(entry.replace(gap(""), "for this test, "))
    return session_plan.hardware_class(load(root), machine)


def commands(fence: Fence, here: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a fence, each with the output shown below it."""
    rows = "\n".join(fence.body).replace(WRITTEN_FOR, here)
    for part in rows.removeprefix("$ ").split("\n$ "):
        command, *shown = part.split("\n")
        yield command, shown


def ran(command: str, shown: list[str], root: Path) -> Step:
    """Run a command in the tree with this Python and this package."""
    words = shlex.split(command)
    starts = {"headroom": ["-m", "headroom.cli"], "python": []}
    path = str(Path(headroom.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *starts[words[0]], *words[1:]],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Step(command, shown, done.returncode, f"{done.stdout}\n{done.stderr}")


def edit(fence: Fence, root: Path, here: str) -> None:
    """Apply a diff of the page: each old line occurs exactly once in the file that the fence's title names."""
    (name,) = re.findall(r'title="(.+)"', fence.info)
    text = (root / name).read_text("utf-8")
    old, new = (
        "".join(f"{row[1:]}\n" for row in fence.body if row[:1] in signs).replace(WRITTEN_FOR, here)
        for signs in (("-", " "), ("+", " "))
    )
    assert text.count(old) == 1, f"{name} holds this {text.count(old)} times:\n{old}"
    (root / name).write_text(text.replace(old, new), "utf-8")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a contributor's tree."""
    return tmp_path_factory.mktemp("clone")


@pytest.fixture(scope="module")
def steps(root: Path) -> list[Step]:
    """Run every command and make every edit of the page in order; return the commands."""
    here = a_copy(root)
    found: list[Step] = []
    for fence in WALK:
        if fence.language == "diff":
            edit(fence, root, here)
        else:
            found += [ran(*each, root) for each in commands(fence, here)]
    return found


@pytest.mark.slow
class TestWalk:
    def test_every_command_succeeds(self, steps: list[Step]) -> None:
        assert [(step.command, step.printed[-2000:]) for step in steps if step.code] == []
        begin = [" ".join(step.command.split()[:2]) for step in steps]
        assert begin == [
            "headroom new",
            f"python checks/benchmarks/{BENCHMARK}.py",
            "headroom new",
            "headroom measure",
            "headroom verdict",
            "headroom check",
        ]

    def test_every_command_prints_what_the_page_shows(self, steps: list[Step]) -> None:
        """Line by line; `…` matches what differs from machine to machine."""
        for step in steps:
            rows = iter(step.printed.split("\n"))
            for shown in step.shown:
                pattern = re.compile(".*".join(map(re.escape, shown.split("…"))))
                assert any(pattern.fullmatch(row) for row in rows), f"{shown}\n{step.command}\n{step.printed[-2000:]}"

    def test_the_evidence_supports_the_claim(self, steps: list[Step], root: Path) -> None:
        """One session of ten blocks without failed runs or remaining TODO markers."""
        assert steps
        site = SiteData.load(root)
        assert site.tree.problems == ()
        (session,) = (each for each in site.tree.sessions if each.head.benchmark == BENCHMARK)
        assert (session.head.design.blocks, session.head.failures) == (10, ())
        standing = site.board.of(site.tree.claims[CLAIM], session.head.hardware_class)
        assert (standing.status, standing.reason) == ("supported", "clear")

    def test_the_claim_has_a_page(self, steps: list[Step], root: Path) -> None:
        assert steps
        site = SiteData.load(root)
        page = render(site.tree.claims[CLAIM], site)
        assert "Checkpointing each layer reduces the saved activations" in page
        assert f"evidence/{BENCHMARK}/" in page

    def test_the_figure_replaces_the_authors_question_mark(self, steps: list[Step], root: Path) -> None:
        assert steps
        text = (root / "docs/training/cpu.md").read_text("utf-8")
        assert re.search(rf"\[\d\.\d+×\]\(claim:{CLAIM}#ratio@", text)

    @pytest.mark.deep
    def test_the_site_builds_in_strict_mode(self, steps: list[Step], root: Path, tmp_path: Path) -> None:
        assert steps
        done = build(root, tmp_path / "site")
        assert done.returncode == 0, done.stderr
        assert CLAIM.rpartition(".")[2] in (tmp_path / "site/training/cpu.html").read_text("utf-8")


def test_every_other_fence_contains_git_or_make_commands() -> None:
    rest = [fence for fence in parse("", PAGE.read_text("utf-8")).fences if fence not in WALK]
    words = {row.split()[0] for fence in rest for row in fence.body}
    assert words <= {"git", "make", ".", "headroom"}
    assert len([fence for fence in WALK if fence.language == "diff"]) > 5
