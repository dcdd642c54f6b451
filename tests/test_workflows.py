"""Test the workflows, issue forms and code owners: permissions, and who reviews which files."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.io.strict_load import load_yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
FIELDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}
READ = {"contents": "read"}
# The rights of each job, by its place in its workflow.
RIGHTS = {
    "ci": [READ, READ, READ],
    "gpu": [READ],
    "newest": [READ, {"contents": "read", "issues": "write"}],
    "pages": [READ, {"pages": "write", "id-token": "write"}],
    "remeasure": [READ, {"contents": "write", "pull-requests": "write"}],
    "scheduled": [READ],
}


def read(path: Path) -> dict[str, Any]:
    """Return a YAML file as a mapping; `on` stays a word."""
    value = load_yaml(path.read_text("utf-8")).value
    assert isinstance(value, dict)
    return value


class TestWorkflows:
    """The project's own rules; zizmor checks the usual vulnerabilities."""

    def test_each_job_has_the_permissions_of_the_table(self) -> None:
        """No workflow gives permissions to all of its jobs, and none names a secret."""
        found = {path.stem: read(path) for path in WORKFLOWS}
        assert {name: workflow["permissions"] for name, workflow in found.items()} == {key: {} for key in found}
        rights = {name: [job["permissions"] for job in workflow["jobs"].values()] for name, workflow in found.items()}
        assert rights == RIGHTS
        assert [path.name for path in WORKFLOWS if re.search(r"secrets\s*[.\[:]", path.read_text("utf-8"))] == []

    def test_published_site_links_to_its_own_repository(self) -> None:
        step = read(GITHUB / "workflows/pages.yml")["jobs"]["build"]["steps"][2]
        assert step["env"]["HEADROOM_REPOSITORY"] == "${{ github.server_url }}/${{ github.repository }}"
        assert all(
            f"!ENV [{name}, " in (ROOT / "mkdocs.yml").read_text("utf-8")
            for name in step["env"]
            if name.startswith("HEADROOM_")
        )
        assert 'repository: !ENV [HEADROOM_REPOSITORY, "' in (ROOT / "mkdocs.yml").read_text("utf-8")

    def test_published_site_has_an_archive_of_itself(self, tmp_path: Path) -> None:
        """The archive has the name that the README gives."""
        packing, upload = read(GITHUB / "workflows/pages.yml")["jobs"]["build"]["steps"][3:]
        (tmp_path / "site/training").mkdir(parents=True)
        for page in ("index.html", "training/guide.html"):
            (tmp_path / "site" / page).write_text(page, "utf-8")
        subprocess.run(["sh", "-ec", packing["run"]], cwd=tmp_path, check=True)
        (packed,) = (tmp_path / upload["with"]["path"]).glob("*.zip")
        assert f"`{packed.name}`" in (ROOT / "README.md").read_text("utf-8")
        with zipfile.ZipFile(packed) as found:
            files = [name for name in found.namelist() if not name.endswith("/")]
            assert sorted(files) == ["site/index.html", "site/training/guide.html"]

    def test_pull_request_summary_is_computed_by_the_code_of_its_base(self) -> None:
        """So a pull request cannot change the code that judges it."""
        job = read(GITHUB / "workflows/ci.yml")["jobs"]["changes"]
        assert job["if"] == "github.event_name == 'pull_request'"
        script = job["steps"][-1]["run"]
        assert 'git worktree add --quiet --detach "$RUNNER_TEMP/base" HEAD^1' in script
        called = [line.split()[0] for line in script.splitlines()]
        assert called == ["git", "make", '"$RUNNER_TEMP/base/.venv/bin/headroom"']
        assert '--directory "$RUNNER_TEMP/base"' in script


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run zizmor on a folder, offline, with all its findings (persona auditor)."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which("zizmor", path=path)
    assert found, "zizmor is missing; `make test` installs it, or: pip install 'zizmor>=1.32'"
    command = [found, "--offline", "--no-progress", "--strict-collection", "--persona", "auditor", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


class TestZizmor:
    """The linter zizmor."""

    def test_zizmor_finds_nothing(self) -> None:
        done = zizmor(ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        assert all(f"completed {path}" in done.stderr for path in WORKFLOWS), done.stderr

    def test_only_the_self_hosted_runner_is_ignored(self) -> None:
        """Zizmor cannot know that the machine is created for one job."""
        lines = [line for path in WORKFLOWS for line in path.read_text("utf-8").splitlines() if "zizmor:" in line]
        assert [re.findall(r"# zizmor: ignore\[([\w-]+)\] \w+", line) for line in lines] == [["self-hosted-runner"]]
        assert not [*ROOT.glob("zizmor.y*ml"), *GITHUB.glob("zizmor.y*ml")]

    def test_zizmor_reports_a_template_injection(self, tmp_path: Path) -> None:
        text = (
            "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n"
            "      - run: echo ${{ github.event.pull_request.title }}\n"
        )
        (tmp_path / ".github/workflows").mkdir(parents=True)
        (tmp_path / ".github/workflows/x.yml").write_text(text, "utf-8")
        done = zizmor(tmp_path)
        assert done.returncode != 0
        assert "template-injection" in done.stdout


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_form_has_the_shape_that_github_accepts(path: Path) -> None:
    """GitHub silently drops an invalid form; readers use the form to report a wrong claim."""
    form = read(path)
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "title", "labels", "body"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in form["body"]} <= FIELDS
    assert all(set(field) <= {"type", "id", "attributes", "validations"} for field in form["body"])
    for names in ([field["id"] for field in fields], [field["attributes"]["label"] for field in fields]):
        assert len(names) == len(set(names)) > 0
    lists = [field for field in fields if field["type"] in ("dropdown", "checkboxes")]
    assert all(field["attributes"]["options"] for field in lists)


def rules() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the patterns of CODEOWNERS with their owners."""
    for line in (GITHUB / "CODEOWNERS").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, *owners = line.split()
            yield pattern, tuple(owner.rpartition("/")[2] for owner in owners)


def owners(path: str) -> tuple[str, ...]:
    """Return the owners of a file; the last matching pattern counts."""
    fitting = [who for pattern, who in rules() if pattern == "*" or f"/{path}/".startswith(f"{pattern.rstrip('/')}/")]
    return fitting[-1]


class TestCodeOwners:
    """Data and the code that judges it have different owners."""

    def test_every_pattern_matches_a_file_or_folder(self) -> None:
        """A renamed folder would lose its owners silently."""
        for pattern, who in rules():
            assert pattern == "*" or (pattern.startswith("/") and (ROOT / pattern[1:]).exists()), pattern
            assert pattern == "*" or (ROOT / pattern[1:]).is_dir() == pattern.endswith("/"), pattern
            assert set(who) <= {"content", "infrastructure"}
            assert who

    @pytest.mark.parametrize(
        "path",
        [
            "checks/headroom/verdicts/judge.py", "tests/conftest.py", ".github/workflows/ci.yml", ".github/CODEOWNERS",
            ".ci/run", "Makefile", "pyproject.toml", "mkdocs.yml", "checks/facts/hardware-classes.yml",
            "docs/assets/scripts/accessibility.js", "docs/contribute/statistics.md",
        ],
    )  # fmt: skip
    def test_code_that_judges_is_owned_by_infrastructure(self, path: str) -> None:
        assert (ROOT / path).is_file()
        assert owners(path) == ("infrastructure",)

    @pytest.mark.parametrize("folder", ["registry", "evidence", "methods", "runs"])
    def test_claims_and_evidence_are_owned_by_content(self, folder: str) -> None:
        path = next(path for path in sorted((ROOT / "checks" / folder).rglob("*")) if path.is_file())
        assert owners(path.relative_to(ROOT).as_posix()) == ("content",)

    def test_benchmarks_have_both_owners(self) -> None:
        """They state content, and run on lent machines."""
        assert owners("checks/benchmarks/gpt2_padding.py") == ("content", "infrastructure")
