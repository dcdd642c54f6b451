"""`headroom changes`: what a change of the tree does, held to small repositories."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import markdown
import pytest

import factories
from headroom import changes as package
from headroom.changes import Changes, HistoryError, changes, differences, report
from headroom.cli import FAILED, OK, USAGE, main
from headroom.io import git_history, safe_read
from headroom.io.atomic_write import UnwritableError
from headroom.records import MeasuredClaim, load

CLAIM = factories.a_claim()
PATH = "checks/registry/training/clever.yml"
HOSTILE = "<img src=x> | [x](javascript:alert(1)) `tick` @team *star*"


def git(root: Path, *words: str, given: str = "") -> str:
    """What git says in a folder, whoever calls it."""
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
    """A repository whose one commit holds a claim and a session that supports it."""
    root = factories.write_tree(tmp_path / "tree", [CLAIM], [factories.a_session(CLAIM)])
    git(root, "init", "--quiet")
    factories.write(root / ".gitignore", ".cache/\n")
    commit(root)
    return root


def rewrite(root: Path, claim: MeasuredClaim) -> None:
    """Write a claim over the one that is there."""
    factories.write_tree(root, [claim])


def evidence_of(root: Path) -> Path:
    """The one evidence file."""
    (path,) = (root / "checks/evidence").rglob("*.json")
    return path


def said(found: Changes) -> list[str]:
    """What a terminal shows."""
    return list(report.lines(found))


class TestWhatIsTold:
    """Verdicts, claims and evidence."""

    def test_nothing_where_nothing_has_changed(self, root: Path) -> None:
        """A tree is what its own commit holds."""
        assert said(changes(root, "HEAD")) == []

    def test_a_verdict_that_is_another(self, root: Path) -> None:
        """Before and after, with ratio and interval; the evidence that did it is named."""
        path = factories.keep(root, factories.a_session(CLAIM, 0.5, date="2026-11-21"))
        found = changes(root, "HEAD")
        (moved,) = found.verdicts
        assert moved.before
        assert moved.after
        assert (moved.before.status, moved.after.status) == ("supported", "disputed")
        line = said(found)[0]
        assert re.fullmatch(
            r"verdict: training\.clever on cpu: supported \(clear\), 1\.\d+ \[1\.\d+, 1\.\d+\], 20 blocks → "
            r"disputed \(checks/.* says the opposite\), 0\.\d+ \[0\.\d+, 0\.\d+\], 20 blocks",
            line,
        )
        assert said(found)[1:] == [f"evidence added: {path.relative_to(root).as_posix()}"]

    def test_the_same_verdict_on_new_evidence(self, root: Path) -> None:
        """It is told apart from a verdict that has changed."""
        factories.keep(root, factories.a_session(CLAIM, 1.6, date="2026-11-21", seed=8))
        found = changes(root, "HEAD")
        assert (found.verdicts, len(found.renewed)) == ((), 1)
        assert said(found)[0].startswith("new figures: training.clever on cpu: supported (clear), 1.")

    def test_evidence_that_became_void(self, root: Path) -> None:
        """An edit of the benchmark takes the verdict away."""
        factories.write(root / "checks/benchmarks/made_up.py", factories.BENCHMARK.replace("1.0", "2.0"))
        (line,) = said(changes(root, "HEAD"))
        assert line.endswith("→ unmeasured (its benchmark has changed)")

    def test_each_point_of_a_sweep(self, root: Path) -> None:
        """A claim without evidence has one row, which stands before each point that is measured."""
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

    def test_claims_that_are_new_and_changed(self, root: Path) -> None:
        """A new one with its verdict, and of a changed one the fields: an effect that was chosen afterwards shows."""
        rewrite(root, factories.a_claim(min_effect=0.2, blocks=10))
        factories.write_tree(root, [factories.a_claim("training.other", statement=HOSTILE)])
        found = changes(root, "HEAD")
        assert [(each.claim, each.fields) for each in found.reworded] == [("training.clever", ("min_effect", "blocks"))]
        assert f"claim added: training.other: {HOSTILE}" in said(found)
        assert [(each.claim, each.before) for each in found.verdicts] == [("training.other", None)]

    def test_a_claim_that_is_retired(self, root: Path) -> None:
        """That is how one goes."""
        text = (root / PATH).read_text("utf-8")
        factories.write(root / PATH, text + 'retired: {since: "2026-11-21", why: Nobody needs it any more.}\n')
        found = changes(root, "HEAD")
        assert [claim.id for claim in found.retired] == ["training.clever"]
        assert found.problems == ()

    def test_what_judges(self, root: Path) -> None:
        """Code and workflows that are changed, deleted or new are named, and data is not."""
        factories.write(root / "Makefile", "a:\n")
        factories.write(root / "pyproject.toml", "a = 1\n")
        commit(root)
        (root / "Makefile").unlink()
        factories.write(root / "pyproject.toml", "a = 2\n")
        factories.write(root / ".github/workflows/x\u202e.yml", "on: push\n")
        factories.write(root / "README.md", "x")
        assert changes(root, "HEAD").judging == ("'.github/workflows/x\\u202e.yml'", "Makefile", "pyproject.toml")


def linked(root: Path) -> None:
    """Put a link in the place of the evidence, to a file that holds the same."""
    old = evidence_of(root)
    old.symlink_to(old.rename(root / "kept.json"))


BREAKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (lambda root: evidence_of(root).unlink(), "it was there, and now: no such file"),
    "edited": (
        lambda root: factories.write(evidence_of(root), evidence_of(root).read_text("utf-8") + " "),
        "it is not what it was",
    ),
    "renamed": (
        lambda root: evidence_of(root).rename(root / "checks/evidence/made_up/cpu-2026-11-20-000000000000.json"),
        "it was there, and now: no such file",
    ),
    "linked": (linked, "it was there, and now: a symbolic link"),
}


class TestWhatMayNotBe:
    """Evidence is only added, and the id of a claim is permanent."""

    @pytest.mark.parametrize("break_", BREAKS)
    def test_evidence_is_kept_as_it_is(self, root: Path, break_: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A file that is edited, deleted, renamed or replaced by a link fails, with the command that restores it."""
        do, message = BREAKS[break_]
        name = evidence_of(root).relative_to(root).as_posix()
        do(root)
        assert main(["changes", "--against", "HEAD", "--root", str(root)]) == FAILED
        first = capsys.readouterr().out.splitlines()[0]
        assert first.startswith(f"{name}: history: {message}")
        assert f"restore it, `git checkout HEAD -- {name}`" in first

    def test_an_edit_that_carries_its_hash_along_fails_as_well(self, root: Path) -> None:
        """`headroom check` cannot see it: content and name fit. The file that is gone tells."""
        evidence_of(root).unlink()
        factories.keep(root, factories.a_session(CLAIM, 1.9))
        assert [problem.rule for problem in changes(root, "HEAD").problems] == ["history"]

    def test_other_ends_of_lines_are_no_edit(self, root: Path) -> None:
        """Git may write them where a system wants them."""
        path = evidence_of(root)
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert changes(root, "HEAD").problems == ()

    def test_an_id_does_not_vanish(self, root: Path) -> None:
        """Neither with its file, nor by another id in it."""
        (root / PATH).unlink()
        (problem,) = changes(root, "HEAD").problems
        assert (problem.path, problem.field) == (PATH, "id")
        assert "the claim `training.clever` is gone" in problem.message
        rewrite(root, factories.a_claim("training.cleverer"))
        assert len(changes(root, "HEAD").problems) == 1

    def test_a_claim_that_cannot_be_read_is_not_gone(self, root: Path) -> None:
        """`headroom check` says what is wrong with it; here it is named as faulty."""
        factories.write(root / PATH, "id: [")
        found = changes(root, "HEAD")
        assert (found.problems, found.faulty) == ((), (PATH,))


def test_the_past_holds_all_that_verdicts_follow_from(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the loaders read but snippets and their runs: a new kind of record has to be read there as well."""
    walked = set()

    def walk(top: Path, folder: str) -> Iterator[safe_read.Found]:
        walked.add(folder)
        return iter(found(top, folder))

    found = safe_read.walk
    monkeypatch.setattr(safe_read, "walk", walk)
    load(root)
    assert {"checks/registry", "checks/evidence"} <= walked
    assert walked - {"snippets", "checks/runs"} <= set(differences._READ)


class TestHistory:
    """What git can be asked, and what is said when it cannot."""

    @pytest.mark.parametrize("name", ["nothing", "--help", "HEAD~5", "HEAD:checks"])
    def test_of_no_commit(self, root: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A name that is none is bad usage, also one that looks like an option."""
        assert main(["changes", f"--against={name}", "--root", str(root)]) == USAGE
        assert f"git has no commit `{name}`; fetch it, or correct the name" in capsys.readouterr().err

    def test_of_a_shallow_clone(self, root: Path, tmp_path: Path) -> None:
        """It is said that the clone is, and how to get the rest."""
        factories.write(root / "README.md", "x")
        commit(root)
        git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), "shallow")
        with pytest.raises(HistoryError, match=r"the clone is shallow; run `git fetch --unshallow`"):
            changes(tmp_path / "shallow", "HEAD~1")

    def test_outside_of_a_repository(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Git's own words, and what to do."""
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        root = factories.write_tree(tmp_path / "tree", [CLAIM])
        with pytest.raises(HistoryError, match=r"not a git repository.*run the command in a clone of the project"):
            changes(root, "HEAD")

    def test_without_git(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is named as missing."""
        monkeypatch.setenv("PATH", str(root))
        with pytest.raises(HistoryError, match="git is not installed; install it"):
            changes(root, "HEAD")

    def test_of_a_commit_that_has_nothing_of_it(self, root: Path) -> None:
        """Otherwise everything would count as new, and nothing as gone."""
        git(root, "checkout", "--quiet", "--orphan", "other")
        git(root, "rm", "--quiet", "-r", "--cached", ".")
        git(root, "commit", "--quiet", "--allow-empty", "--message", "empty")
        with pytest.raises(HistoryError, match=r"`HEAD` has none of checks/registry, "):
            changes(root, "HEAD")

    def test_in_a_hook(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What a hook of another repository sets leads nowhere."""
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
        assert said(changes(root, "HEAD")) == []

    def test_of_a_tree_in_a_folder_of_its_repository(self, tmp_path: Path) -> None:
        """Paths are those of the tree."""
        git(tmp_path, "init", "--quiet")
        root = factories.write_tree(tmp_path / "inner", [CLAIM], [factories.a_session(CLAIM)])
        factories.write(tmp_path / "Makefile", "a:\n")
        commit(tmp_path)
        name = evidence_of(root).relative_to(root).as_posix()
        evidence_of(root).unlink()
        assert [problem.path for problem in changes(root, "HEAD").problems] == [name]

    def test_of_a_damaged_repository(self, root: Path) -> None:
        """A file whose content is lost is named."""
        name = evidence_of(root).relative_to(root).as_posix()
        blob = git(root, "rev-parse", f"HEAD:{name}").strip()
        (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
        with pytest.raises(HistoryError, match=f"git cannot read `{re.escape(name)}` at `HEAD`; fetch it"):
            changes(root, "HEAD")

    def test_without_room(self, root: Path, tmp_path: Path) -> None:
        """A past that cannot be written is no traceback."""
        (tmp_path / "file").write_text("x", "utf-8")
        with pytest.raises(UnwritableError, match=r"file cannot be written \(Not a directory\)"):
            git_history.Revision.of(root, "HEAD").write(tmp_path / "file", "checks/evidence")

    def test_of_a_link_in_the_past(self, root: Path) -> None:
        """It is neither followed nor written."""
        name = evidence_of(root).name
        (root / "checks/evidence/made_up/x.json").symlink_to("/etc/passwd")
        commit(root)
        out = root.parent / "out"
        git_history.Revision.of(root, "HEAD").write(out, "checks/evidence")
        assert [path.name for path in (out / "checks/evidence/made_up").iterdir()] == [name]

    def test_of_an_odd_name_in_the_past(self, root: Path) -> None:
        """Nothing is written where it might lead."""
        factories.write(root / "checks/evidence/made_up/a b.json", "x")
        commit(root)
        with pytest.raises(HistoryError, match="has an unsupported file name"):
            changes(root, "HEAD")

    def test_of_a_name_that_leads_out(self, root: Path) -> None:
        """Git adds no such name, and keeps one that was made by hand."""
        made = git(root, "hash-object", "-w", PATH).strip()
        kind = "100644 blob"
        for name in ("out.json", "..", "..", "evidence", "checks"):
            made = git(root, "mktree", given=f"{kind} {made}\t{name}\n").strip()
            kind = "040000 tree"
        crafted = git(root, "commit-tree", "-m", "crafted", made).strip()
        with pytest.raises(HistoryError, match=r"unsupported file name, 'checks/evidence/\.\./\.\./out\.json'"):
            changes(root, crafted)

    def test_leaves_the_repository_as_it_is(self, root: Path) -> None:
        """Neither its index nor its work tree nor its branches change."""
        changes(root, "HEAD")
        assert git(root, "status", "--porcelain") == ""
        assert git(root, "worktree", "list").count("\n") == 1


class TestPrinting:
    """The three forms."""

    def test_as_json(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Every field, and claims by their ids."""
        factories.write_tree(root, [factories.a_claim("training.other")])
        assert main(["changes", "--against", "HEAD", "--json", "--root", str(root)]) == OK
        found = json.loads(capsys.readouterr().out)
        assert found["added"] == ["training.other"]
        assert [(each["before"], each["after"]["status"]) for each in found["verdicts"]] == [(None, "supported")]
        assert set(found) == set(package.Changes.__slots__)

    def test_as_markdown(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Statements are a stranger's text: they show as they are and do nothing."""
        factories.write_tree(root, [factories.a_claim("training.other", statement=HOSTILE)])
        evidence_of(root).unlink()
        assert main(["changes", "--against", "HEAD", "--markdown", "--root", str(root)]) == FAILED
        text = capsys.readouterr().out
        html = markdown.markdown(text, extensions=["tables"])
        assert "<img" not in html
        assert "<a " not in html
        assert "<em>" not in html
        assert "<h3>What may not be</h3>" in html
        assert html.count("<table>") == 1
        assert "@team" not in text

    def test_as_markdown_of_a_point(self, root: Path) -> None:
        """A point's values are a stranger's text as well, and stand in a table."""
        scope = {"fixed": {}, "at": {"mode": HOSTILE}, "hardware": ["cpu"]}
        other = factories.a_claim("training.other", benchmark="other", scope=scope)
        factories.write_tree(root, [other], [factories.a_session(other)])
        html = markdown.markdown(report.markdown(changes(root, "HEAD")), extensions=["tables"])
        assert "<img" not in html
        assert html.count("<td>") == 4
        assert f"training.other at mode={HOSTILE}" in unescape(html)

    def test_as_markdown_of_much(self, root: Path) -> None:
        """A summary has an end."""
        many = [factories.a_claim(f"training.other-{i}") for i in range(205)]
        factories.write_tree(root, many)
        text = report.markdown(changes(root, "HEAD"))
        assert text.count("\nand 5 more") == 2  # of the claims and of their verdicts
        assert text.count("\n- ") == text.count("\n| training") == 200


GUIDE = "---\ntitle: A guide\n---\n\n# A guide\n\n## Place {#place}\n\n## Other\n"


class TestAddresses:
    """What led somewhere leads somewhere for ever."""

    @pytest.fixture
    def published(self, root: Path) -> Path:
        """The repository with a page on it."""
        factories.write(root / "docs/training/guide.md", GUIDE)
        commit(root)
        return root

    @staticmethod
    def lost(root: Path) -> list[str]:
        """The addresses that are named as lost."""
        problems = changes(root, "HEAD").problems
        return [
            found[1] for problem in problems if (found := re.search(r"address `(.*?)` leads nowhere", str(problem)))
        ]

    def test_a_place_that_is_gone_is_named(self, published: Path) -> None:
        """With the words that would keep it."""
        factories.write(
            published / "docs/training/guide.md", GUIDE.replace("{#place}", "{#spot}").replace("Other", "More")
        )
        assert self.lost(published) == ["training/guide#other", "training/guide#place"]
        assert "say `was: [training/guide#other]`" in str(changes(published, "HEAD").problems[0])

    def test_a_place_that_has_an_old_address_is_not(self, published: Path) -> None:
        """It may be on the same page, or on another one."""
        moved = GUIDE.replace("{#place}", "{#spot}").replace(
            "---\n\n", "was: {spot: [training/guide#place]}\n---\n\n", 1
        )
        factories.write(published / "docs/training/guide.md", moved)
        assert self.lost(published) == []

    def test_a_page_that_another_one_answers_is_not(self, published: Path) -> None:
        """Nor are its places: they lead where the page does."""
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

    def test_a_page_that_cannot_be_read_is_still_there(self, published: Path) -> None:
        """`headroom check` says what is wrong with it."""
        factories.write(published / "docs/training/guide.md", "---\nodd: 1\n---\n")
        assert self.lost(published) == []
