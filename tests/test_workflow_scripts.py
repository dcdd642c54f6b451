"""Test the scripts that workflows call with a write token: files of untrusted jobs are data and never run."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from factories import a_claim, a_session, write
from headroom.records import paths
from test_git_history import git

ROOT = Path(__file__).parents[1]
CI = ROOT / ".ci"
NAME = "checks/evidence/made_up/cpu-2026-11-20-0123456789ab.json"
GH = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done >> "$CALLS"
echo -- >> "$CALLS"
while [ $# -gt 0 ]; do [ "$1" = --body-file ] && cat "$2" > "$CALLS.body"; shift; done
case "$(tail -n 20 "$CALLS" | tr '\\n' ' ')" in
  *"issue list "* | *"pr list "*) [ -s "$CALLS.open" ] && cat "$CALLS.open"; : ;;
esac
"""


class Desk:
    """A folder with a fake `gh` that logs its arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "calls"
        tool = write(folder / "bin/gh", GH)
        tool.chmod(0o755)

    def run(self, script: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Call a script as the workflow does."""
        found = {**os.environ, "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "CALLS": str(self.log)}
        found |= {"RUN_URL": "https://example.org/run/7", "RUN_ID": "7", "GIT_CONFIG_GLOBAL": os.devnull, **environment}
        command = ["bash", str(script), *words]
        return subprocess.run(command, capture_output=True, text=True, env=found, cwd=self.folder, check=False)

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call of `gh`."""
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        return [call.splitlines() for call in text.split("--\n")[:-1]]

    @property
    def body(self) -> str:
        """The text of the last issue or pull request."""
        return Path(f"{self.log}.body").read_text("utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a new desk."""
    return Desk(tmp_path)


class TestTellNewest:
    HOSTILE = "\n".join(
        ["FAILED snippets/a.py", "```", "~~~", "</details>", "@everyone [x](javascript:1) #1",
         "\x1b[31mred\x1b]0;t\x07", "\u202e é", "\r\n# heading", "    ", "$(touch ran) `touch ran`", "x" * 500]
    )  # fmt: skip

    def test_report_is_quoted_as_code_with_plain_characters(self, desk: Desk) -> None:
        report = write(desk.folder / "report.txt", self.HOSTILE)
        assert desk.run(CI / "tell-newest", str(report)).returncode == 0
        (listed, made) = desk.calls
        assert listed[:2] == ["issue", "list"]
        assert made[:4] == ["issue", "create", "--title", "The newest torch and transformers break something"]
        first, blank, *rest = desk.body.splitlines()
        assert "https://example.org/run/7" in first
        assert blank == ""
        assert rest[0] == "    FAILED snippets/a.py"
        assert all(line.startswith("    ") and len(line) <= 154 for line in rest)
        assert re.fullmatch(r"[\t\n -~]+", desk.body)
        assert not (desk.folder / "ran").exists()


class TestProposeEvidence:
    @pytest.fixture
    def main(self, desk: Desk) -> Path:
        """Return a checkout of main with one session, the script, and a remote to push to."""
        folder = desk.folder / "main"
        write(folder / ".ci/propose-evidence", (CI / "propose-evidence").read_text("utf-8"))
        write(folder / NAME.replace("0123456789ab", "ffffffffffff"), "{}")
        git(desk.folder, "init", "-q", "--bare", "-b", "main", "origin")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "--no-gpg-sign", "-m", "first", seconds=86400)
        git(folder, "remote", "add", "origin", str(desk.folder / "origin"))
        git(folder, "push", "-q", "origin", "main")
        return folder

    def propose(self, desk: Desk, main: Path) -> subprocess.CompletedProcess[str]:
        """Call the script on the folder `measured`."""
        return desk.run(main / ".ci/propose-evidence", "measured")

    def pushed(self, desk: Desk) -> list[str]:
        """Return the branches of the remote."""
        command = ["git", "--git-dir", str(desk.folder / "origin"), "branch", "--format", "%(refname:short)"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def test_new_evidence_is_pushed_to_a_branch_with_a_pull_request(self, desk: Desk, main: Path) -> None:
        """Nothing else is added, and main stays unchanged."""
        evidence = a_session(a_claim(), blocks=1)
        text = paths.evidence_text(evidence)
        name = paths.evidence_path(evidence, text)
        write(main / "measured" / name, text).chmod(0o755)
        write(main / "unrelated.txt", "a file that nobody asked for")
        done = self.propose(desk, main)
        assert done.returncode == 0, done.stderr
        assert self.pushed(desk) == ["main", "measured-again-7"]
        command = ["git", "show", "--summary", "--format=%an: %s", "measured-again-7"]
        shown = subprocess.run(command, cwd=main, capture_output=True, text=True, check=True).stdout.split("\n")
        assert [line.strip() for line in shown if line] == [
            "github-actions[bot]: Stale claims measured again: 1 sessions", f"create mode 100644 {name}",
        ]  # fmt: skip
        assert (main / name).read_text("utf-8") == text
        (setup, listed, made) = desk.calls
        assert listed[:4] == ["pr", "list", "--head", "measured-again-7"]
        assert setup == ["auth", "setup-git"]
        assert made[:6] == ["pr", "create", "--base", "main", "--head", "measured-again-7"]
        assert f"- `{name}`" in desk.body

    def test_a_second_attempt_takes_the_place_of_the_first(self, desk: Desk, main: Path) -> None:
        """Its branch is there already, and so is its pull request."""
        write(main / "measured" / NAME, "{}")
        assert self.propose(desk, main).returncode == 0
        git(main, "switch", "-q", "main")
        git(main, "branch", "-q", "-D", "measured-again-7")
        write(main / "measured" / NAME, '{"measured": "again"}')
        desk.log.unlink()
        Path(f"{desk.log}.open").write_text("12\n", "utf-8")
        done = self.propose(desk, main)
        assert done.returncode == 0, done.stderr
        command = ["git", "--git-dir", str(desk.folder / "origin"), "show", f"measured-again-7:{NAME}"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == '{"measured": "again"}'
        assert [call[:2] for call in desk.calls] == [["auth", "setup-git"], ["pr", "list"]]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("checks/headroom/verdicts/judge.py", "is not an evidence file"),
            (".github/workflows/ci.yml", "is not an evidence file"),
            ("checks/evidence/made_up/cpu-2026-11-20-0123456789ab.py", "is not an evidence file"),
            ("checks/evidence/made_up/x/cpu-2026-11-20-0123456789ab.json", "is not an evidence file"),
            ("checks/evidence/made_up/cpu-2026-11-20-0123456789ab.json\n.json", "is not an evidence file"),
            ("checks/evidence/made_up/$(touch ran)-2026-11-20-0123456789ab.json", "is not an evidence file"),
            (NAME.replace("0123456789ab", "ffffffffffff"), "exists already"),
        ],
    )
    def test_any_other_file_is_refused_and_nothing_is_pushed(
        self, desk: Desk, main: Path, name: str, message: str
    ) -> None:
        write(main / "measured" / NAME, "{}")
        write(main / "measured" / name, "{}")
        done = self.propose(desk, main)
        assert done.returncode == 1
        assert message in done.stderr
        assert self.pushed(desk) == ["main"]
        assert desk.calls == []
        assert not list(desk.folder.rglob("ran"))

    def test_links_large_files_many_files_and_no_files_are_refused(self, desk: Desk, main: Path) -> None:
        """A link would publish the file that it points to."""
        secret = write(desk.folder / "secret", "x")
        measured = main / "measured"
        assert "is not a folder" in self.propose(desk, main).stderr
        measured.mkdir()
        assert "no evidence to propose" in self.propose(desk, main).stderr
        link = measured / NAME
        link.parent.mkdir(parents=True)
        link.symlink_to(secret)
        assert "is not a regular file" in self.propose(desk, main).stderr
        link.unlink()
        with link.open("wb") as file:
            file.truncate((16 << 20) + 1)
        assert "is larger than 16 MiB" in self.propose(desk, main).stderr
        link.unlink()
        for number in range(51):
            write(measured / NAME.replace("0123456789ab", f"{number:012x}"), "{}")
        assert "too many to review" in self.propose(desk, main).stderr
        assert (self.pushed(desk), desk.calls) == (["main"], [])


def test_remeasure_continues_after_a_failure_and_lists_it(desk: Desk) -> None:
    venv = desk.folder / "venv"
    write(venv / "tests", "")
    command = 'case "$1" in verdict) printf "a\\nb\\nc\\n";; *) echo "$@" >> calls; [ "$4" != b ];; esac'
    write(venv / "bin/headroom", f"#!/bin/sh\n{command}\n").chmod(0o755)
    words = [
        "make",
        "-s",
        "-f",
        str(ROOT / "Makefile"),
        "remeasure",
        f"VENV={venv}",
        "OUT=measured",
        "-o",
        f"{venv}/tests",
    ]
    done = subprocess.run(words, cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "not measured: b" in done.stdout
    assert (desk.folder / "calls").read_text("utf-8") == "".join(f"measure --out measured {name}\n" for name in "abc")
    write(venv / "bin/headroom", "#!/bin/sh\n").chmod(0o755)
    assert subprocess.run(words, cwd=desk.folder, capture_output=True, check=False).returncode == 0
