"""The command: its exit codes, what it prints, and what it does not import."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headroom import rules
from headroom.cli import FAILED, OK, USAGE, main

CLEAN = Path(__file__).parent / "rule_cases" / "clean"
PAGE = "docs/training/gpu.md"
HEAVY = ("torch", "transformers", "accelerate", "datasets", "mkdocs", "markdown", "psutil", "tqdm")
# Prints, after the command, which of the modules named first it has imported.
PROBE = """
import sys
from headroom.cli import main
try:
    code = main(sys.argv[2:])
except SystemExit as stop:
    code = stop.code
print(code, *sorted(name for name in sys.argv[1].split() if name in sys.modules), file=sys.stderr)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clean tree to change."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


@pytest.fixture
def red(root: Path) -> Path:
    """A tree with a figure that is not what was measured, and a link to no claim."""
    text = (root / PAGE).read_text("utf-8").replace("[1.43×]", "[2.00×]")
    (root / PAGE).write_text(text.replace("(claim:training.clever.paper)", "(claim:training.none)"), "utf-8")
    return root


def imported(names: tuple[str, ...], *arguments: str) -> list[str]:
    """The exit code of a command, and which of these modules a fresh process has imported at its end."""
    command = [sys.executable, "-c", PROBE, " ".join(names), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1].split()


class TestCheck:
    """`headroom check`."""

    def test_of_a_clean_tree(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Nothing is printed as a result, what was looked at is counted, and the code is 0."""
        assert main(["check", "--root", str(root)]) == OK
        printed = capsys.readouterr()
        assert printed.out == ""
        kinds = "11 linked, 1 quoted, 1 proved, 1 definition, 1 advice, 1 source, 1 unproven, 1 misread"
        counts = f"2 snippets, 11 claims, 3 sessions, 6 pages, 18 comparisons ({kinds})"
        assert printed.err == f"{counts}: no problems\n"

    def test_prints_one_line_a_problem(self, red: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A problem is `path:line: rule: what is wrong; what to do`, and the code is 1."""
        assert main(["check", "--root", str(red)]) == FAILED
        lines = capsys.readouterr().out.splitlines()
        remedy = "correct the id, or add the claim under checks/registry/"
        assert [re.sub(r":\d+:", ":N:", line) for line in lines] == [
            f"{PAGE}:N: figures: `2.00×` is printed, `1.43×` is measured; run `headroom check --fix`",
            f"{PAGE}:N: links: there is no claim `training.none`; {remedy}",
        ]
        rows = (red / PAGE).read_text("utf-8").splitlines()
        for line, words in zip(lines, ("2.00×", "training.none"), strict=True):
            assert words in rows[int(line.split(":")[1]) - 1]

    def test_prints_json(self, red: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--json` the same problems are a list of objects, and nothing else is printed."""
        assert main(["check", "--json", "--root", str(red)]) == FAILED
        printed = capsys.readouterr()
        found = json.loads(printed.out)
        assert [(each["path"], each["rule"]) for each in found] == [(PAGE, "figures"), (PAGE, "links")]
        assert found[0].keys() == {"path", "line", "rule", "field", "message", "remedy"}
        assert printed.err == ""

    def test_prints_json_of_nothing(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A clean tree is an empty list."""
        assert main(["check", "--json", "--root", str(root)]) == OK
        assert json.loads(capsys.readouterr().out) == []

    @pytest.mark.parametrize(("rule", "code"), [("figures", FAILED), ("links", FAILED), ("claims", OK), ("runs", OK)])
    def test_of_one_rule(self, red: Path, rule: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--only` the other rules neither print nor count."""
        assert main(["check", "--only", rule, "--root", str(red)]) == code
        assert capsys.readouterr().out.count("\n") == (code == FAILED)

    def test_of_no_rule_lists_them(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A rule that there is not is bad usage, and all that there are are named."""
        assert main(["check", "--only", "speling", "--root", str(root)]) == USAGE
        said = capsys.readouterr().err
        assert "there is no rule `speling`" in said
        assert all(name in said for name in (*rules.READING, *rules.RULES))

    def test_fixes_and_says_what(self, red: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--fix` the figure is rewritten and named, and what is left is reported as before."""
        assert main(["check", "--fix", "--root", str(red)]) == FAILED
        printed = capsys.readouterr()
        assert f"{PAGE}: rewrote a figure as `1.43×`" in printed.err
        assert "links" in printed.out
        assert "figures" not in printed.out
        assert "[1.43×]" in (red / PAGE).read_text("utf-8")

    def test_without_fix_writes_nothing(self, red: Path) -> None:
        """To check is to look."""
        before = (red / PAGE).read_bytes()
        main(["check", "--root", str(red)])
        assert (red / PAGE).read_bytes() == before


class TestVerdict:
    """`headroom verdict`."""

    def test_prints_a_line_a_point(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Each claim stands with its class, point, verdict, reason, ratio, interval, blocks and age."""
        assert main(["verdict", "training.clever.saved-memory", "training.clever.paper", "--root", str(root)]) == OK
        assert capsys.readouterr().out.splitlines() == [
            "training.clever.paper on as stated: cited (author)",
            "training.clever.saved-memory on cpu at batch_size=8: supported (clear), 4 [4, 4], 10 blocks, fresh",
        ]

    def test_prints_rows_as_json(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A swept claim has a row a point and class, with the session that it stands on."""
        assert main(["verdict", "training.clever.step-time", "--json", "--root", str(root)]) == OK
        rows = json.loads(capsys.readouterr().out)
        assert [(row["hardware_class"], row["point"]["batch_size"], row["status"]) for row in rows] == [
            ("cpu", 1, "contradicted"),
            ("cpu", 8, "supported"),
            ("h200", 1, "contradicted"),
            ("h200", 8, "supported"),
        ]
        assert all(row["low"] < row["ratio"] < row["high"] and row["n"] == 10 for row in rows)
        assert all((root / row["session"]).is_file() for row in rows)

    def test_of_all_claims(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Without a name every claim has a row, also one that nobody has measured."""
        assert main(["verdict", "--json", "--root", str(root)]) == OK
        rows = json.loads(capsys.readouterr().out)
        assert len({row["claim"] for row in rows}) == 11
        (unmeasured,) = (row for row in rows if row["status"] == "unmeasured")
        assert (unmeasured["ratio"], unmeasured["session"], unmeasured["n"]) == (None, None, 0)

    def test_of_no_claim(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """An id that there is not is bad usage."""
        assert main(["verdict", "training.none", "--root", str(root)]) == USAGE
        assert "there is no claim `training.none`" in capsys.readouterr().err


class TestSnippets:
    """`headroom snippets list`."""

    def test_lists_each_with_its_last_run(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Each snippet stands with its title and when it ran as it stands."""
        assert main(["snippets", "list", "--root", str(root)]) == OK
        assert capsys.readouterr().out.splitlines() == [
            "training/clever: A cached function is computed once. (2026-11-20 on cpu)",
            "training/multi: Two processes each have a rank. (has not run as it stands)",
        ]

    def test_of_an_edited_snippet(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A run of other bytes is no run of the snippet."""
        path = root / "snippets/training/clever.py"
        path.write_text(path.read_text("utf-8") + "\n", "utf-8")
        assert main(["snippets", "list", "*clever", "--json", "--root", str(root)]) == OK
        (row,) = json.loads(capsys.readouterr().out)
        assert (row["snippet"], row["command"], row["ran"]) == (
            "training/clever",
            "uv run snippets/training/clever.py",
            {},
        )

    @pytest.mark.parametrize(
        ("pattern", "found"),
        [
            ("training/clever", ["training/clever"]),
            ("snippets/training/clever.py", ["training/clever"]),
            ("training", ["training/clever", "training/clever_twice", "training/multi"]),
            ("training/", ["training/clever", "training/clever_twice", "training/multi"]),
            ("training/clever*", ["training/clever", "training/clever_twice"]),
            ("*twice", ["training/clever_twice"]),
            ("clever", []),
        ],
    )
    def test_an_exact_name_is_one_snippet(
        self, root: Path, capsys: pytest.CaptureFixture[str], pattern: str, found: list[str]
    ) -> None:
        """A folder is all of its snippets, and a glob those that it fits."""
        shutil.copy(root / "snippets/training/clever.py", root / "snippets/training/clever_twice.py")
        main(["snippets", "list", pattern, "--json", "--root", str(root)])
        assert [row["snippet"] for row in json.loads(capsys.readouterr().out)] == found

    def test_of_no_snippet(self, root: Path) -> None:
        """A pattern that nothing matches is no success."""
        assert main(["snippets", "list", "none", "--root", str(root)]) != OK


class TestUsage:
    """What is asked wrongly."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ["check"],
            ["verdict"],
            ["snippets", "list"],
            ["snippets", "run"],
            ["measure", "x"],
            ["reproduce", "x"],
            ["new", "guide", "x"],
        ],
    )
    def test_elsewhere(self, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Outside a project every command says where to call it, and nothing is created."""
        assert main([*arguments, "--root", str(tmp_path)]) == USAGE
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "--root DIR" in printed.err
        assert list(tmp_path.iterdir()) == []

    def test_here_is_the_default(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Without `--root` the folder at hand is the project's."""
        monkeypatch.chdir(root)
        assert main(["check"]) == OK
        assert "11 claims" in capsys.readouterr().err

    @pytest.mark.parametrize("name", ["none", "training.none", "training.clever.paper"])
    def test_measure_of_what_cannot_be_measured(
        self, root: Path, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A name that is neither a measured claim nor a benchmark is bad usage; the benchmarks are named."""
        assert main(["measure", name, "--root", str(root)]) == USAGE
        assert f"`{name}` is no measured claim" in (said := capsys.readouterr().err)
        assert "benchmarks are: small_step" in said

    @pytest.mark.parametrize("arguments", [[], ["chekc"], ["check", "--fixx"], ["snippets"], ["measure"]])
    def test_words_that_it_does_not_know(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """What cannot be parsed is bad usage, with the usage printed."""
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == USAGE
        assert capsys.readouterr().err.startswith("usage: headroom")


@pytest.mark.parametrize("command", [["check", "--json"], ["verdict"], ["snippets", "list"]])
def test_a_reader_that_has_gone_ends_the_command_without_a_word(command: list[str], red: Path) -> None:
    """As `headroom check | head -1` does. Not all was seen, so the code is not 0."""
    reading, writing = os.pipe()
    os.close(reading)
    called = [sys.executable, "-m", "headroom.cli", *command, "--root", str(red)]
    done = subprocess.run(called, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == FAILED
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


class TestImports:
    """What a command costs before it starts: every import is in a fresh process."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--help"],
            ["check", "--help"],
            ["snippets", "run", "--help"],
            ["reproduce", "--help"],
            ["new", "claim", "--help"],
        ],
    )
    def test_help_imports_nothing_to_read_records_with(self, arguments: list[str]) -> None:
        """Help needs the standard library alone."""
        assert imported(("numpy", "pydantic", "yaml", *HEAVY), *arguments) == ["0"]

    @pytest.mark.parametrize(
        "arguments",
        [["check"], ["check", "--fix"], ["verdict"], ["snippets", "list"], ["new", "guide", "x"], ["reproduce", "x"]],
    )
    def test_nothing_but_runs_imports_what_runs_need(self, arguments: list[str], root: Path) -> None:
        """A contributor without torch, transformers or MkDocs can check, judge and list."""
        assert imported(HEAVY, *arguments, "--root", str(root)) == [str(USAGE if "reproduce" in arguments else OK)]

    def test_changes_imports_as_little(self, root: Path) -> None:
        """Where there is no repository, it ends when all of it is imported."""
        assert imported(HEAVY, "changes", "--against", "nothing", "--root", str(root)) == ["2"]

    def test_the_probe_sees_imports(self, root: Path) -> None:
        """The probe of these tests can fail: `check` reads records, and so imports pydantic."""
        assert imported(("pydantic", "torch"), "check", "--root", str(root)) == ["0", "pydantic"]
