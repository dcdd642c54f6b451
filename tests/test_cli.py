"""Test the command line: exit codes, printed output and imports."""

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
    """Return a copy of the clean tree."""
    return Path(shutil.copytree(CLEAN, tmp_path / "tree"))


@pytest.fixture
def red(root: Path) -> Path:
    """Return a tree with a wrong figure and a link to an unknown claim."""
    text = (root / PAGE).read_text("utf-8").replace("[1.43×]", "[2.00×]")
    (root / PAGE).write_text(text.replace("(claim:training.clever.paper)", "(claim:training.none)"), "utf-8")
    return root


def imported(names: tuple[str, ...], *arguments: str) -> list[str]:
    """Return a command's exit code and which of these modules a fresh process has imported at its end."""
    command = [sys.executable, "-c", PROBE, " ".join(names), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1].split()


class TestCheck:
    """`headroom check`."""

    def test_clean_tree_prints_only_counts(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--root", str(root)]) == OK
        printed = capsys.readouterr()
        assert printed.out == ""
        kinds = "13 linked, 1 quoted, 1 proved, 1 definition, 1 advice, 1 source, 1 unproven, 1 misread"
        counts = f"2 snippets, 14 claims, 3 sessions, 6 pages, 20 comparisons ({kinds})"
        assert printed.err == f"{counts}: no problems\n"

    def test_problem_is_one_line_with_path_line_rule_and_remedy(
        self, red: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
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

    def test_json_lists_the_same_problems(self, red: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--json", "--root", str(red)]) == FAILED
        printed = capsys.readouterr()
        found = json.loads(printed.out)
        assert [(each["path"], each["rule"]) for each in found] == [(PAGE, "figures"), (PAGE, "links")]
        assert found[0].keys() == {"path", "line", "rule", "field", "message", "remedy"}
        assert printed.err == ""

    def test_json_of_a_clean_tree_is_an_empty_list(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--json", "--root", str(root)]) == OK
        assert json.loads(capsys.readouterr().out) == []

    @pytest.mark.parametrize(("rule", "code"), [("figures", FAILED), ("links", FAILED), ("claims", OK), ("runs", OK)])
    def test_only_reports_one_rule(self, red: Path, rule: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--only", rule, "--root", str(red)]) == code
        assert capsys.readouterr().out.count("\n") == (code == FAILED)

    def test_unknown_rule_lists_all_rules(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--only", "speling", "--root", str(root)]) == USAGE
        printed = capsys.readouterr().err
        assert "there is no rule `speling`" in printed
        assert all(name in printed for name in (*rules.READING, *rules.RULES))

    def test_fix_rewrites_a_figure_and_reports_it(self, red: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--fix", "--root", str(red)]) == FAILED
        printed = capsys.readouterr()
        assert f"{PAGE}: rewrote a figure as `1.43×`" in printed.err
        assert "links" in printed.out
        assert "figures" not in printed.out
        assert "[1.43×]" in (red / PAGE).read_text("utf-8")

    def test_check_without_fix_writes_nothing(self, red: Path) -> None:
        before = (red / PAGE).read_bytes()
        main(["check", "--root", str(red)])
        assert (red / PAGE).read_bytes() == before


class TestVerdict:
    """`headroom verdict`."""

    def test_prints_a_line_per_point(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verdict", "training.clever.saved-memory", "training.clever.paper", "--root", str(root)]) == OK
        assert capsys.readouterr().out.splitlines() == [
            "training.clever.paper on as stated: cited (author)",
            "training.clever.saved-memory on cpu at batch_size=8: supported (clear), 4 [4, 4], 10 blocks, fresh",
        ]

    def test_json_has_a_row_per_point_and_class(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
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

    def test_every_claim_has_a_row_even_without_evidence(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verdict", "--json", "--root", str(root)]) == OK
        rows = json.loads(capsys.readouterr().out)
        assert len({row["claim"] for row in rows}) == 14
        (unmeasured,) = (row for row in rows if row["status"] == "unmeasured")
        assert (unmeasured["ratio"], unmeasured["session"], unmeasured["n"]) == (None, None, 0)

    def test_unknown_claim_is_wrong_usage(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["verdict", "training.none", "--root", str(root)]) == USAGE
        assert "there is no claim `training.none`" in capsys.readouterr().err


class TestSnippets:
    """`headroom snippets list`."""

    def test_lists_snippets_with_their_last_runs(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["snippets", "list", "--root", str(root)]) == OK
        assert capsys.readouterr().out.splitlines() == [
            "training/clever: A cached function is computed once. (2026-11-20 on cpu)",
            "training/multi: Two processes each have a rank. (this version has not run)",
        ]

    def test_run_of_an_older_version_does_not_count(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    def test_pattern_is_a_snippet_a_folder_or_a_glob(
        self, root: Path, capsys: pytest.CaptureFixture[str], pattern: str, found: list[str]
    ) -> None:
        shutil.copy(root / "snippets/training/clever.py", root / "snippets/training/clever_twice.py")
        main(["snippets", "list", pattern, "--json", "--root", str(root)])
        assert [row["snippet"] for row in json.loads(capsys.readouterr().out)] == found

    def test_pattern_without_a_match_fails(self, root: Path) -> None:
        assert main(["snippets", "list", "none", "--root", str(root)]) != OK


class TestUsage:
    """Wrong usage."""

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
    def test_folder_outside_a_project_is_refused_and_stays_empty(
        self, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([*arguments, "--root", str(tmp_path)]) == USAGE
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "--root DIR" in printed.err
        assert list(tmp_path.iterdir()) == []

    def test_current_folder_is_the_default_root(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(root)
        assert main(["check"]) == OK
        assert "14 claims" in capsys.readouterr().err

    @pytest.mark.parametrize("name", ["none", "training.none", "training.clever.paper"])
    def test_measure_of_an_unknown_name_lists_the_benchmarks(
        self, root: Path, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["measure", name, "--root", str(root)]) == USAGE
        assert f"`{name}` is neither a measured claim" in (printed := capsys.readouterr().err)
        assert "benchmarks are: small_step" in printed

    @pytest.mark.parametrize("arguments", [[], ["chekc"], ["check", "--fixx"], ["snippets"], ["measure", "--out"]])
    def test_unknown_arguments_print_the_usage(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == USAGE
        assert capsys.readouterr().err.startswith("usage: headroom")


@pytest.mark.parametrize("command", [["check", "--json"], ["verdict"], ["snippets", "list"]])
def test_closed_pipe_fails_without_a_traceback(command: list[str], red: Path) -> None:
    """`headroom check` piped into `head -1` closes the pipe early."""
    reading, writing = os.pipe()
    os.close(reading)
    called = [sys.executable, "-m", "headroom.cli", *command, "--root", str(red)]
    done = subprocess.run(called, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == FAILED
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


class TestImports:
    """Each command runs in a fresh process, because imports add to its start-up time."""

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
    def test_help_imports_the_standard_library_alone(self, arguments: list[str]) -> None:
        assert imported(("numpy", "pydantic", "yaml", *HEAVY), *arguments) == ["0"]

    @pytest.mark.parametrize(
        "arguments",
        [["check"], ["check", "--fix"], ["verdict"], ["snippets", "list"], ["new", "guide", "x"], ["reproduce", "x"]],
    )
    def test_check_verdict_and_list_need_no_heavy_library(self, arguments: list[str], root: Path) -> None:
        assert imported(HEAVY, *arguments, "--root", str(root)) == [str(USAGE if "reproduce" in arguments else OK)]

    def test_changes_needs_no_heavy_library(self, root: Path) -> None:
        """The command fails without a repository, but only after all its imports."""
        assert imported(HEAVY, "changes", "--against", "nothing", "--root", str(root)) == ["2"]

    def test_probe_detects_an_import(self, root: Path) -> None:
        """`check` reads records, and so imports pydantic."""
        assert imported(("pydantic", "torch"), "check", "--root", str(root)) == ["0", "pydantic"]
