"""Run the command on hostile trees: exit status, output, memory and time."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headroom.cli import FAILED, OK, main
from hostile.attacks import ATTACKS
from hostile.children import check
from hostile.loaders import CLEAN, LOADERS
from hostile.matrix import MATRIX, Harmless

MIB = 1 << 20
LARGEST_MIB = 500
# Files of the maximum size with the content that takes most memory or time.
Worst = Callable[[], str]
WORST: dict[str, tuple[str, Worst]] = {
    "empty objects": ("evidence", lambda: "[" + "{}," * 99_999 + "{}]"),
    "empty lists": ("runs", lambda: "[" + "[]," * 99_999 + "[]]"),
    "runs of nothing": ("evidence", lambda: '{"runs": [' + "0," * 99_990 + "0]}"),
    "millions of runs of nothing": ("evidence", lambda: '{"runs": [' + "0," * (7 * MIB) + "0]}"),
    "millions of keys": ("runs", lambda: "{" + ",".join(f'"{i:x}":0' for i in range(1_400_000)) + "}"),
    "one text": ("evidence", lambda: json.dumps("×" * (7 * MIB), ensure_ascii=False)),
    "keys alike": ("evidence", lambda: "{" + ",".join(f'"k{i}":0' for i in range(99_000)) + ',"k98999":1}'),
    "many keys": ("evidence", lambda: "{" + ",".join(f'"k{i}":0' for i in range(99_000)) + "}"),
    "rows of YAML": ("claims", lambda: "[" + "a," * (MIB // 2 - 2) + "a]"),
    "keys of YAML": ("facts", lambda: "".join(f"k{i}: 0\n" for i in range(90_000))),
    "links": ("pages", lambda: "[](claim:a)" * 40_000),
    "figures of one sentence": (
        "pages",
        lambda: (
            "---\nhardware: [h200]\n---\nIt is up to "
            + "[1 %](claim:training.clever.step-time#ratio@h200,batch_size=8) " * 15_000
        ),
    ),
    "stray links": ("pages", lambda: "# A\n\n" + "claim:a " * 120_000),
    "links of a notebook": (
        "notebooks",
        lambda: LOADERS["notebooks"].clean.replace(r'"# Counting\n"', json.dumps("[](claim:a) " * 30_000 + "\n")),
    ),
    "fences": ("pages", lambda: "```\n```\n" * 60_000),
    "brackets": ("pages", lambda: "[" * 300_000 + "[a](" * 100_000),
    "comments": ("pages", lambda: "<!--" * 250_000),
    "headings": ("pages", lambda: "# a" + " " * 900_000 + "b\n"),
    "braces": ("pages", lambda: "{" + "#a" * 500_000 + "\n"),
    "backticks": ("pages", lambda: " ".join("`" * i for i in range(1, 1400))),
    "regions": ("snippets", lambda: LOADERS["snippets"].clean + "# --8<-- [start:a]\n" * 6_000),
    "one long line of Python": ("benchmarks", lambda: "x = [" + "0," * 65_000 + "]"),
}

READABLE = {
    *("fences", "comments", "headings", "braces", "backticks", "figures of one sentence", "one long line of Python"),
}
"""Of these, a check says that nothing uses them, unless another file cannot be read."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a clean tree to change."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


def lay(root: Path, name: str) -> str:
    """Add one of the worst files to the tree, and return its path."""
    loader, text = WORST[name]
    path = root / LOADERS[loader].path
    path = path.with_name(f"{name.replace(' ', '-')}{path.suffix}")
    path.write_text(text(), "utf-8")
    return path.relative_to(root).as_posix()


def refused(root: Path, paths: set[str]) -> None:
    """Check that every file is refused by name, within 500 MiB and the time limit, without a traceback."""
    done = check(root)
    assert done.code == 1, done.err[-500:]
    assert "Traceback" not in done.err
    assert done.peak_mib < LARGEST_MIB
    assert paths <= {line.partition(":")[0] for line in done.out.splitlines()}


def test_all_worst_files_together_stay_within_memory_and_time(root: Path) -> None:
    """Problems of readable files are hidden while a file that may use them is unreadable."""
    paths = {name: lay(root, name) for name in WORST}
    refused(root, {path for name, path in paths.items() if name not in READABLE})


@pytest.mark.deep
@pytest.mark.parametrize("name", WORST)
def test_each_worst_file_stays_within_memory_and_time(name: str, root: Path) -> None:
    refused(root, {lay(root, name)})


def hostile(root: Path) -> Iterator[str]:
    """Add a file of every attack and some with odd names to a tree; yield the places that must be reported."""
    for number, (attack, row) in enumerate(MATRIX.items()):
        for kind, (name, loader) in enumerate(LOADERS.items()):
            if loader.alone or isinstance(row[name], Harmless):
                continue
            data = ATTACKS[attack](loader)
            assert data is not None
            path = root / loader.path
            path = path.with_name(f"hostile{number}-{kind}{path.suffix}")
            path.write_bytes(data)
            yield path.relative_to(root).as_posix()
    for odd, shown in {"a\nb": r"a\nb", "a\x1b[2Jb": r"a\x1b[2Jb", os.fsdecode(b"a\xffb"): r"a\udcffb"}.items():
        (root / f"checks/methods/{odd}.yml").write_text("x")
        yield f"checks/methods/{shown}.yml"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a tree with every attack, only to be read, and the places that must be reported."""
    root = Path(shutil.copytree(CLEAN, tmp_path_factory.mktemp("attacked") / "tree"))
    return root, sorted(hostile(root))


def test_all_attacks_at_once_are_one_line_each(attacked: tuple[Path, list[str]]) -> None:
    """The exit status is 1, stderr has only the count, and no raw control character is printed."""
    root, paths = attacked
    done = check(root)
    assert done.code == 1
    assert done.err.endswith("problems\n")
    assert done.err.count("\n") == 1
    lines = done.out.split("\n")
    assert lines.pop() == ""
    assert all(line.isprintable() for line in lines)
    assert sorted({line.partition(": ")[0].rstrip("0123456789").rstrip(":") for line in lines}) == paths
    assert len(lines) == len(paths)
    assert done.peak_mib < LARGEST_MIB


def test_json_output_has_the_real_file_names(root: Path) -> None:
    (root / "checks/methods/a\x1b\u202e.yml").write_text("x")
    done = check(root, "--json")
    assert done.out.isascii()
    assert "\x1b" not in done.out
    assert [each["path"] for each in json.loads(done.out)] == ["checks/methods/a\x1b\u202e.yml"]


@pytest.mark.parametrize("arguments", [["verdict"], ["snippets", "list"], ["check", "--fix"]], ids=" ".join)
def test_other_commands_do_not_crash_on_a_hostile_tree(
    arguments: list[str], attacked: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*arguments, "--root", str(attacked[0])])
    printed = capsys.readouterr()
    assert code == (OK if arguments[0] == "snippets" else FAILED)
    assert all(line.isprintable() for line in (printed.out + printed.err).splitlines())
