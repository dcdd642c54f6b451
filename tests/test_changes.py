"""Test `headroom changes` on small repositories."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import markdown
import pytest

import factories
from headroom import changes as package
from headroom.changes import Changes, HistoryError, changes, differences, report
from headroom.changes.differences import VerdictChange
from headroom.cli import FAILED, OK, USAGE, main
from headroom.io import git_history, safe_read
from headroom.io.atomic_write import UnwritableError
from headroom.records import MeasuredClaim, load
from headroom.verdicts.summary import VerdictRow

CLAIM = factories.a_claim()
PATH = "checks/registry/training/clever.yml"
HOSTILE = "<img src=x> | [x](javascript:alert(1)) `tick` @team *star*"


def git(root: Path, *words: str, given: str = "") -> str:
    """Return the output of git in a folder, independent of the user's settings."""
    who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-C", str(root), *words],
        env={**os.environ, **who, **settings},
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def commit(root: Path) -> None:
    """Commit everything."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "a change")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository whose one commit has a claim and a session that supports it."""
    root = factories.write_tree(tmp_path / "tree", [CLAIM], [factories.a_session(CLAIM)])
    git(root, "init", "--quiet")
    factories.write(root / ".gitignore", ".cache/\n")
    commit(root)
    return root


def rewrite(root: Path, claim: MeasuredClaim) -> None:
    """Overwrite the claim."""
    factories.write_tree(root, [claim])


def evidence_of(root: Path) -> Path:
    """Return the path of the one evidence file."""
    (path,) = (root / "checks/evidence").rglob("*.json")
    return path


def printed(found: Changes) -> list[str]:
    """Return the lines that a terminal shows."""
    return list(report.lines(found))


class TestDifferences:
    """Changed verdicts, claims and evidence."""

    def test_unchanged_tree_has_no_differences(self, root: Path) -> None:
        assert printed(changes(root, "HEAD")) == []

    def test_changed_verdict_shows_before_after_and_evidence(self, root: Path) -> None:
        path = factories.keep(root, factories.a_session(CLAIM, 0.5, date="2026-11-21"))
        found = changes(root, "HEAD")
        (moved,) = found.verdicts
        assert moved.before
        assert moved.after
        assert (moved.before.status, moved.after.status) == ("supported", "disputed")
        line = printed(found)[0]
        assert re.fullmatch(
            r"verdict: training\.clever on cpu: supported \(clear\), 1\.\d+ \[1\.\d+, 1\.\d+\], 20 blocks → "
            r"disputed \(checks/.* says the opposite\), 0\.\d+ \[0\.\d+, 0\.\d+\], 20 blocks",
            line,
        )
        assert printed(found)[1:] == [f"evidence added: {path.relative_to(root).as_posix()}"]

    def test_same_verdict_from_new_evidence_is_renewed(self, root: Path) -> None:
        factories.keep(root, factories.a_session(CLAIM, 1.6, date="2026-11-21", seed=8))
        found = changes(root, "HEAD")
        assert (found.verdicts, len(found.renewed)) == ((), 1)
        assert printed(found)[0].startswith("new figures: training.clever on cpu: supported (clear), 1.")

    def test_edited_benchmark_voids_the_verdict(self, root: Path) -> None:
        factories.write(root / "checks/benchmarks/made_up.py", factories.BENCHMARK.replace("1.0", "2.0"))
        (line,) = printed(changes(root, "HEAD"))
        assert line.endswith("→ unmeasured (its benchmark has changed)")

    def test_sweep_is_compared_point_by_point(self, root: Path) -> None:
        """An unmeasured claim has one row, which is compared with each measured point."""
        swept = factories.a_claim("training.swept", benchmark="swept", scope=factories.a_sweep(1, 8))
        sources = {"swept": factories.BENCHMARK, "made_up": factories.BENCHMARK}
        factories.write_tree(root, [swept], benchmarks=sources)
        commit(root)
        factories.keep(root, factories.a_session(swept))
        found = changes(root, "HEAD")
        assert [(each.point, each.before and each.before.status) for each in found.verdicts] == [
            ({"batch_size": 1}, "unmeasured"),
            ({"batch_size": 8}, "unmeasured"),
        ]
        commit(root)
        factories.write(root / "checks/benchmarks/swept.py", factories.BENCHMARK.replace("1.0", "3.0"))
        assert [(each.point, each.after and each.after.status) for each in changes(root, "HEAD").verdicts] == [
            ({"batch_size": 1}, "unmeasured"),
            ({"batch_size": 8}, "unmeasured"),
        ]

    def test_added_and_changed_claims_are_listed_with_their_fields(self, root: Path) -> None:
        """A changed `min_effect` shows, because it may have been chosen after the measurement."""
        rewrite(root, factories.a_claim(min_effect=0.2, blocks=10))
        factories.write_tree(root, [factories.a_claim("training.other", statement=HOSTILE)])
        found = changes(root, "HEAD")
        assert [(each.claim, each.fields) for each in found.reworded] == [("training.clever", ("min_effect", "blocks"))]
        assert f"claim added: training.other: {HOSTILE}" in printed(found)
        assert [(each.claim, each.before) for each in found.verdicts] == [("training.other", None)]

    def test_retired_claim_is_no_problem(self, root: Path) -> None:
        text = (root / PATH).read_text("utf-8")
        factories.write(root / PATH, text + 'retired: {since: "2026-11-21", why: Nobody needs it any more.}\n')
        found = changes(root, "HEAD")
        assert [claim.id for claim in found.retired] == ["training.clever"]
        assert found.problems == ()

    def test_changed_code_and_workflows_are_listed(self, root: Path) -> None:
        factories.write(root / "Makefile", "a:\n")
        factories.write(root / "pyproject.toml", "a = 1\n")
        commit(root)
        (root / "Makefile").unlink()
        factories.write(root / "pyproject.toml", "a = 2\n")
        factories.write(root / ".github/workflows/x\u202e.yml", "on: push\n")
        factories.write(root / "README.md", "x")
        assert changes(root, "HEAD").judging == ("'.github/workflows/x\\u202e.yml'", "Makefile", "pyproject.toml")


def replace_by_link(root: Path) -> None:
    """Replace the evidence file by a link to a file with the same content."""
    old = evidence_of(root)
    old.symlink_to(old.rename(root / "kept.json"))


BREAKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (lambda root: evidence_of(root).unlink(), "the file of HEAD is gone or unreadable: no such file"),
    "edited": (
        lambda root: factories.write(evidence_of(root), evidence_of(root).read_text("utf-8") + " "),
        "the file has changed since HEAD",
    ),
    "renamed": (
        lambda root: evidence_of(root).rename(root / "checks/evidence/made_up/cpu-2026-11-20-000000000000.json"),
        "the file of HEAD is gone or unreadable: no such file",
    ),
    "linked": (replace_by_link, "the file of HEAD is gone or unreadable: a symbolic link"),
}


class TestForbiddenChanges:
    """Evidence is add-only, and claim ids are permanent."""

    @pytest.mark.parametrize("break_", BREAKS)
    def test_changed_evidence_fails_with_the_restoring_command(
        self, root: Path, break_: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        do, message = BREAKS[break_]
        name = evidence_of(root).relative_to(root).as_posix()
        do(root)
        assert main(["changes", "--against", "HEAD", "--root", str(root)]) == FAILED
        first = capsys.readouterr().out.splitlines()[0]
        assert first.startswith(f"{name}: history: {message}")
        assert f"restore it with `git checkout HEAD -- {name}`" in first

    def test_edit_under_a_new_hash_fails(self, root: Path) -> None:
        """`headroom check` cannot detect this edit, because the name fits the content."""
        evidence_of(root).unlink()
        factories.keep(root, factories.a_session(CLAIM, 1.9))
        assert [problem.rule for problem in changes(root, "HEAD").problems] == ["history"]

    def test_converted_line_ends_are_no_change(self, root: Path) -> None:
        """Git may convert line ends on checkout."""
        path = evidence_of(root)
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert changes(root, "HEAD").problems == ()

    def test_deleted_or_replaced_claim_id_fails(self, root: Path) -> None:
        (root / PATH).unlink()
        (problem,) = changes(root, "HEAD").problems
        assert (problem.path, problem.field) == (PATH, "id")
        assert "the claim `training.clever` is gone" in problem.message
        rewrite(root, factories.a_claim("training.cleverer"))
        assert len(changes(root, "HEAD").problems) == 1

    def test_unreadable_claim_is_faulty_not_deleted(self, root: Path) -> None:
        factories.write(root / PATH, "id: [")
        found = changes(root, "HEAD")
        assert (found.problems, found.faulty) == ((), (PATH,))


def test_earlier_commit_is_written_with_every_folder_of_records(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new kind of record must be added to `_READ`, unless it affects no verdict."""
    walked = set()

    def walk(top: Path, folder: str) -> Iterator[safe_read.Found]:
        walked.add(folder)
        return iter(found(top, folder))

    found = safe_read.walk
    monkeypatch.setattr(safe_read, "walk", walk)
    load(root)
    assert {"checks/registry", "checks/evidence"} <= walked
    assert walked - {"snippets", "checks/runs", "checks/pictures", "checks/memory-errors"} <= set(differences._READ)


class TestHistory:
    """Repositories and revisions, including broken ones."""

    @pytest.mark.parametrize("name", ["nothing", "--help", "HEAD~5", "HEAD:checks"])
    def test_unknown_revision_is_wrong_usage(self, root: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        """Also a name that looks like an option."""
        assert main(["changes", f"--against={name}", "--root", str(root)]) == USAGE
        assert f"git has no commit `{name}`; fetch it, or correct the name" in capsys.readouterr().err

    def test_shallow_clone_is_reported_with_its_remedy(self, root: Path, tmp_path: Path) -> None:
        factories.write(root / "README.md", "x")
        commit(root)
        git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), "shallow")
        with pytest.raises(HistoryError, match=r"the clone is shallow; run `git fetch --unshallow`"):
            changes(tmp_path / "shallow", "HEAD~1")

    def test_folder_outside_a_repository_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        root = factories.write_tree(tmp_path / "tree", [CLAIM])
        with pytest.raises(HistoryError, match=r"not a git repository.*run the command in a clone of the project"):
            changes(root, "HEAD")

    def test_missing_git_is_reported(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(root))
        with pytest.raises(HistoryError, match="git is not installed; install it"):
            changes(root, "HEAD")

    def test_commit_without_records_is_refused(self, root: Path) -> None:
        """Otherwise everything would count as new, and nothing as deleted."""
        git(root, "checkout", "--quiet", "--orphan", "other")
        git(root, "rm", "--quiet", "-r", "--cached", ".")
        git(root, "commit", "--quiet", "--allow-empty", "--message", "empty")
        with pytest.raises(HistoryError, match=r"`HEAD` has none of checks/registry, "):
            changes(root, "HEAD")

    def test_git_variables_of_a_hook_are_ignored(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
        assert printed(changes(root, "HEAD")) == []

    def test_tree_may_be_a_subfolder_of_its_repository(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "--quiet")
        root = factories.write_tree(tmp_path / "inner", [CLAIM], [factories.a_session(CLAIM)])
        factories.write(tmp_path / "Makefile", "a:\n")
        commit(tmp_path)
        name = evidence_of(root).relative_to(root).as_posix()
        evidence_of(root).unlink()
        assert [problem.path for problem in changes(root, "HEAD").problems] == [name]

    def test_lost_object_is_reported_with_its_file(self, root: Path) -> None:
        name = evidence_of(root).relative_to(root).as_posix()
        blob = git(root, "rev-parse", f"HEAD:{name}").strip()
        (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
        with pytest.raises(HistoryError, match=f"git cannot read `{re.escape(name)}` at `HEAD`; fetch it"):
            changes(root, "HEAD")

    def test_unwritable_folder_is_an_error_without_a_traceback(self, root: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x", "utf-8")
        with pytest.raises(UnwritableError, match=r"file cannot be written \(Not a directory\)"):
            git_history.Revision.of(root, "HEAD").write(tmp_path / "file", "checks/evidence")

    def test_link_in_an_earlier_commit_is_not_written(self, root: Path) -> None:
        name = evidence_of(root).name
        (root / "checks/evidence/made_up/x.json").symlink_to("/etc/passwd")
        commit(root)
        out = root.parent / "out"
        git_history.Revision.of(root, "HEAD").write(out, "checks/evidence")
        assert [path.name for path in (out / "checks/evidence/made_up").iterdir()] == [name]

    def test_odd_name_in_an_earlier_commit_is_refused(self, root: Path) -> None:
        factories.write(root / "checks/evidence/made_up/a b.json", "x")
        commit(root)
        with pytest.raises(HistoryError, match="has an unsupported file name"):
            changes(root, "HEAD")

    def test_path_traversal_in_a_crafted_commit_is_refused(self, root: Path) -> None:
        """Git adds no such name, but reads a crafted one."""
        made = git(root, "hash-object", "-w", PATH).strip()
        kind = "100644 blob"
        for name in ("out.json", "..", "..", "evidence", "checks"):
            made = git(root, "mktree", given=f"{kind} {made}\t{name}\n").strip()
            kind = "040000 tree"
        crafted = git(root, "commit-tree", "-m", "crafted", made).strip()
        with pytest.raises(HistoryError, match=r"unsupported file name, 'checks/evidence/\.\./\.\./out\.json'"):
            changes(root, crafted)

    def test_repository_stays_unchanged(self, root: Path) -> None:
        changes(root, "HEAD")
        assert git(root, "status", "--porcelain") == ""
        assert git(root, "worktree", "list").count("\n") == 1


class TestPrinting:
    """Text, JSON and Markdown."""

    def test_json_has_every_field(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        factories.write_tree(root, [factories.a_claim("training.other")])
        assert main(["changes", "--against", "HEAD", "--json", "--root", str(root)]) == OK
        found = json.loads(capsys.readouterr().out)
        assert found["added"] == ["training.other"]
        assert [(each["before"], each["after"]["status"]) for each in found["verdicts"]] == [(None, "supported")]
        assert set(found) == set(package.Changes.__slots__)

    def test_markdown_escapes_statements(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A statement is untrusted text."""
        factories.write_tree(root, [factories.a_claim("training.other", statement=HOSTILE)])
        evidence_of(root).unlink()
        assert main(["changes", "--against", "HEAD", "--markdown", "--root", str(root)]) == FAILED
        text = capsys.readouterr().out
        html = markdown.markdown(text, extensions=["tables"])
        assert "<img" not in html
        assert "<a " not in html
        assert "<em>" not in html
        assert "<h3>Forbidden changes</h3>" in html
        assert html.count("<table>") == 1
        assert "@team" not in text

    def test_markdown_escapes_the_values_of_a_point(self, root: Path) -> None:
        scope = {"fixed": {}, "at": {"mode": HOSTILE}, "hardware": ["cpu"]}
        other = factories.a_claim("training.other", benchmark="other", scope=scope)
        factories.write_tree(root, [other], [factories.a_session(other)])
        html = markdown.markdown(report.markdown(changes(root, "HEAD")), extensions=["tables"])
        assert "<img" not in html
        assert html.count("<td>") == 4
        assert f"training.other at mode={HOSTILE}" in unescape(html)

    def test_reported_ratios_are_printed_with_and_without_a_range(self) -> None:
        """A single published row has no range; reruns have one."""
        single = VerdictRow("training.a", "published a100", "agrees", "single", {}, 1.5, None, None, 1, None)
        reruns = replace(single, low=1.25, high=1.75, n=3)
        moved = [VerdictChange("training.a", "published a100", {}, before, single) for before in (None, reruns)]
        first, second = report.lines(Changes(tuple(moved), *((),) * 8))
        assert first == "verdict: training.a on published a100: no verdict → agrees (single), 1.5, 1 published ratio"
        assert "agrees (single), 1.5 [1.25, 1.75], 3 published ratios → agrees (single), 1.5, 1" in second

    def test_markdown_has_bounded_length(self, root: Path) -> None:
        many = [factories.a_claim(f"training.other-{i}") for i in range(205)]
        factories.write_tree(root, many)
        text = report.markdown(changes(root, "HEAD"))
        assert text.count("\nand 5 more") == 2  # of the claims and of their verdicts
        assert text.count("\n- ") == text.count("\n| training") == 200


GUIDE = "---\ntitle: A guide\n---\n\n# A guide\n\n## Place {#place}\n\n## Other\n"


class TestAddresses:
    """Addresses of pages and anchors are permanent."""

    @pytest.fixture
    def published(self, root: Path) -> Path:
        """Return the repository with a page."""
        factories.write(root / "docs/training/guide.md", GUIDE)
        commit(root)
        return root

    @staticmethod
    def lost(root: Path) -> list[str]:
        """Return the addresses that are reported as lost."""
        problems = changes(root, "HEAD").problems
        return [
            found[1] for problem in problems if (found := re.search(r"address `(.*?)` no longer leads", str(problem)))
        ]

    def test_deleted_anchor_is_reported_with_its_remedy(self, published: Path) -> None:
        factories.write(
            published / "docs/training/guide.md", GUIDE.replace("{#place}", "{#spot}").replace("Other", "More")
        )
        assert self.lost(published) == ["training/guide#other", "training/guide#place"]
        assert "add `was: [training/guide#other]` to" in str(changes(published, "HEAD").problems[0])

    def test_anchor_with_a_redirect_is_not_lost(self, published: Path) -> None:
        moved = GUIDE.replace("{#place}", "{#spot}").replace(
            "---\n\n", "was: {spot: [training/guide#place]}\n---\n\n", 1
        )
        factories.write(published / "docs/training/guide.md", moved)
        assert self.lost(published) == []

    def test_page_with_a_redirect_is_not_lost(self, published: Path) -> None:
        """Its anchors redirect to the same page."""
        (published / "docs/training/guide.md").rename(published / "docs/training/new.md")
        assert self.lost(published) == [
            "training/guide", "training/guide#a-guide", "training/guide#other", "training/guide#place",
        ]  # fmt: skip
        moved = GUIDE.replace("---\n\n", "was: {top: [training/guide]}\n---\n\n", 1)
        factories.write(published / "docs/training/new.md", moved)
        assert self.lost(published) == []
        commit(published)
        factories.write(published / "docs/training/new.md", GUIDE)
        assert self.lost(published) == ["training/guide"]

    def test_unreadable_page_is_not_lost(self, published: Path) -> None:
        factories.write(published / "docs/training/guide.md", "---\nodd: 1\n---\n")
        assert self.lost(published) == []
