"""Workflows, issue forms and code owners: what may run with which rights, and who is asked."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.cli import _parser
from headroom.parsing import load_yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
PINNED = re.compile(r"^ *- uses: (?P<action>[\w-]+/[\w/-]+)@(?P<commit>[0-9a-f]{40}) # v\d+\.\d+\.\d+$")
# Events that run with the rights of the repository on what a stranger has written.
TRUSTING = {"pull_request_target", "workflow_run", "issue_comment", "issues", "discussion", "discussion_comment"}
FIELDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
each_form = pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    """A YAML file. The loader of the records takes `on` for a word, as the host does."""
    value = load_yaml(path.read_text("utf-8")).value
    assert isinstance(value, dict)
    return value


def events(workflow: dict[str, Any]) -> set[str]:
    """What starts a workflow."""
    on = workflow["on"]
    return {on} if isinstance(on, str) else set(on)


def steps(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    """The steps of a job that use an action."""
    return [step for step in job["steps"] if step.get("uses", "").startswith(f"{action}@")]


class TestWorkflows:
    """No code of a pull request ever runs with a secret or a token that may write."""

    def test_are_looked_at(self) -> None:
        """The four that this project needs are among them."""
        assert {"ci", "gpu", "scheduled", "pages"} <= {path.stem for path in WORKFLOWS}

    @each_workflow
    def test_give_no_right_but_to_a_job(self, path: Path) -> None:
        """A job without a line of its own could do nothing; each has one, with a limit and a name."""
        workflow = read(path)
        assert workflow["permissions"] == {}
        assert workflow["concurrency"]
        for job in workflow["jobs"].values():
            assert isinstance(job["permissions"], dict)
            assert 0 < job["timeout-minutes"] <= 360
            assert job["name"]

    @each_workflow
    def test_trust_no_stranger(self, path: Path) -> None:
        """None starts with rights on what a stranger has written, names a secret, or keeps a token on the disk."""
        workflow = read(path)
        assert not events(workflow) & TRUSTING
        assert not re.search(r"secrets\s*[.\[:]|secrets:\s*inherit|GITHUB_TOKEN", path.read_text("utf-8"))
        for job in workflow["jobs"].values():
            if "github.token" in str(job):  # it tells what an earlier job found, and runs the code of main alone
                assert "github.ref == 'refs/heads/main'" in job["if"]
                assert {step["with"]["ref"] for step in steps(job, "actions/checkout")} == {"main"}
                assert not events(workflow) - {"schedule", "workflow_dispatch"}
            for step in steps(job, "actions/checkout"):
                assert step["with"]["persist-credentials"] is False

    @pytest.mark.parametrize("name", ["ci", "gpu", "scheduled"])
    def test_read_only_where_strangers_code_may_run(self, name: str) -> None:
        """Neither the code of a pull request nor what it installs finds a token that may write."""
        jobs = read(GITHUB / f"workflows/{name}.yml")["jobs"].values()
        assert [job["permissions"] for job in jobs] == [{"contents": "read"}] * len(jobs)

    @each_workflow
    def test_of_pull_requests_read_only(self, path: Path) -> None:
        """Whatever a workflow of pull requests is called."""
        workflow = read(path)
        if "pull_request" in events(workflow):
            rights = {right for job in workflow["jobs"].values() for right in job["permissions"].values()}
            assert rights <= {"read"}

    def test_what_publishes_runs_no_code_of_ours(self) -> None:
        """It takes what another job has built, from `main` alone."""
        workflow = read(GITHUB / "workflows/pages.yml")
        build, deploy = workflow["jobs"]["build"], workflow["jobs"]["deploy"]
        assert build["permissions"] == {"contents": "read"}
        assert build["if"] == "github.ref == 'refs/heads/main'"
        assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
        assert [set(step) for step in deploy["steps"]] == [{"uses"}]
        assert steps(deploy, "actions/deploy-pages")

    def test_a_gpu_is_lent_to_one_commit_after_approval(self) -> None:
        """One person starts it, another approves it, exactly that commit runs, and the machine is thrown away."""
        workflow = read(GITHUB / "workflows/gpu.yml")
        assert events(workflow) == {"workflow_dispatch"}
        (job,) = workflow["jobs"].values()
        assert {"self-hosted", "ephemeral"} <= set(job["runs-on"])
        assert job["environment"] == "gpu"
        first = job["steps"][0]
        pattern = re.search(r"=~ (\S+) ", first["run"])
        assert first["env"] == {"COMMIT": "${{ inputs.commit }}"}
        assert pattern
        assert re.fullmatch(pattern[1], "a" * 40)
        assert not any(re.fullmatch(pattern[1], odd) for odd in ("main", "a" * 39, "A" * 40, f"{'a' * 40}\n$(x)"))
        (checkout,) = steps(job, "actions/checkout")
        assert checkout["with"]["ref"] == "${{ inputs.commit }}"
        assert job["steps"].index(checkout) == 1

    @pytest.mark.parametrize("commit", ["a" * 40, "main", "$(exit 0)", ""])
    def test_the_form_of_a_commit_is_held_to_by_the_shell(self, commit: str) -> None:
        """As the host runs it."""
        (job,) = read(GITHUB / "workflows/gpu.yml")["jobs"].values()
        command = ["bash", "-e", "-o", "pipefail", "-c", job["steps"][0]["run"]]
        done = subprocess.run(command, env={"COMMIT": commit, "PATH": os.environ["PATH"]}, check=False)
        assert (done.returncode == 0) == (commit == "a" * 40)

    def test_actions_are_pinned_by_commit(self) -> None:
        """With the version behind it, for people; and the same everywhere."""
        pins: dict[str, set[str]] = {}
        for path in WORKFLOWS:
            for line in path.read_text("utf-8").splitlines():
                if "uses:" in line:
                    match = PINNED.match(line)
                    assert match, f"{path.name}: {line}"
                    pins.setdefault(match["action"], set()).add(match["commit"])
        assert {action: len(commits) for action, commits in pins.items()} == dict.fromkeys(pins, 1)

    @each_workflow
    def test_no_input_is_pasted_into_a_script(self, path: Path) -> None:
        """A script gets what somebody typed through its environment, as data."""
        for job in read(path)["jobs"].values():
            assert [step["run"] for step in job["steps"] if "${{" in step.get("run", "")] == []

    @each_workflow
    def test_call_what_there_is(self, path: Path) -> None:
        """Targets of the Makefile, by themselves or through `.ci/run`, and commands that the parser takes."""
        targets = set(re.findall(r"^([^\s:#.]+|\$\(VENV\)/\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
        for job in read(path)["jobs"].values():
            script = "\n".join(step.get("run", "") for step in job["steps"])
            for target in re.findall(
                r"^(?:bash \.ci/run|make(?: --directory \S+)?) ([^\s$\"]+)$", script, re.MULTILINE
            ):
                assert target.replace(".venv/", "$(VENV)/") in targets, target
            for words in re.findall(r"/bin/headroom\"? (.+?)(?: >>.*)?$", script, re.MULTILINE):
                _parser().parse_args(shlex.split(words.replace("${names[@]}", "name")))

    def test_the_published_site_leads_to_its_own_repository(self) -> None:
        """What publishes sets what the configuration of the site reads."""
        step = read(GITHUB / "workflows/pages.yml")["jobs"]["build"]["steps"][2]
        assert step["env"]["HEADROOM_REPOSITORY"] == "${{ github.server_url }}/${{ github.repository }}"
        assert all(
            f"!ENV [{name}, " in (ROOT / "mkdocs.yml").read_text("utf-8")
            for name in step["env"]
            if name.startswith("HEADROOM_")
        )
        assert 'repository: !ENV [HEADROOM_REPOSITORY, "' in (ROOT / "mkdocs.yml").read_text("utf-8")

    def test_the_published_site_holds_itself_as_one_file(self, tmp_path: Path) -> None:
        """The file that the README names: all of the site that was built, in a folder, and not itself."""
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

    def test_the_summary_of_a_pull_request_is_computed_by_its_base(self) -> None:
        """So a change cannot bring along the code that judges it."""
        job = read(GITHUB / "workflows/ci.yml")["jobs"]["changes"]
        assert job["if"] == "github.event_name == 'pull_request'"
        script = job["steps"][-1]["run"]
        assert 'git worktree add --quiet --detach "$RUNNER_TEMP/base" HEAD^1' in script
        called = [line.split()[0] for line in script.splitlines()]
        assert called == ["git", "make", '"$RUNNER_TEMP/base/.venv/bin/headroom"']
        assert '--directory "$RUNNER_TEMP/base"' in script


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run zizmor over a folder, without a network, as an auditor: it then shows all that it has."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which("zizmor", path=path)
    assert found, "zizmor is missing; `make test` installs it, or: pip install 'zizmor>=1.32'"
    command = [found, "--offline", "--no-progress", "--strict-collection", "--persona", "auditor", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


class TestZizmor:
    """A tool that knows the usual holes."""

    def test_finds_nothing(self) -> None:
        """In any workflow."""
        done = zizmor(ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        assert all(f"completed {path}" in done.stderr for path in WORKFLOWS), done.stderr

    def test_is_told_to_ignore_one_thing(self) -> None:
        """That a machine is not the host's own: it cannot know that it is made for one job."""
        lines = [line for path in WORKFLOWS for line in path.read_text("utf-8").splitlines() if "zizmor:" in line]
        assert [re.findall(r"# zizmor: ignore\[([\w-]+)\] \w+", line) for line in lines] == [["self-hosted-runner"]]
        assert not [*ROOT.glob("zizmor.y*ml"), *GITHUB.glob("zizmor.y*ml")]

    def test_would_find_something(self, tmp_path: Path) -> None:
        """The same call fails on a workflow that pastes a stranger's title into a script."""
        text = (
            "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n"
            "      - run: echo ${{ github.event.pull_request.title }}\n"
        )
        (tmp_path / ".github/workflows").mkdir(parents=True)
        (tmp_path / ".github/workflows/x.yml").write_text(text, "utf-8")
        done = zizmor(tmp_path)
        assert done.returncode != 0
        assert "template-injection" in done.stdout


class TestForms:
    """The host drops a form that is not of its shape, without a word."""

    @each_form
    def test_have_the_shape_that_the_host_wants(self, path: Path) -> None:
        """Keys, kinds of fields, labels and options."""
        form = read(path)
        assert set(form) <= {"name", "description", "title", "labels", "assignees", "projects", "type", "body"}
        assert all(isinstance(form[key], str) and form[key] for key in ("name", "description", "title"))
        assert any(field["type"] != "markdown" for field in form["body"])
        for field in form["body"]:
            assert field["type"] in FIELDS
            assert set(field) <= {"type", "id", "attributes", "validations"}
            if field["type"] == "markdown":
                assert field["attributes"]["value"]
                continue
            assert field["attributes"]["label"]
            assert set(field.get("validations", {})) <= {"required"}
            if field["type"] in ("dropdown", "checkboxes"):
                assert field["attributes"]["options"]

    @each_form
    def test_name_their_fields_once(self, path: Path) -> None:
        """By an id, which a link fills in, and a label, which people read."""
        fields = [field for field in read(path)["body"] if field["type"] != "markdown"]
        for names in ([field["id"] for field in fields], [field["attributes"]["label"] for field in fields]):
            assert len(names) == len(set(names))
        assert all(re.fullmatch(r"[a-z][a-z-]*", field["id"]) for field in fields)

    def test_there_are_two_and_a_way_around_them(self) -> None:
        """A claim that is wrong, a method that is missing, and whatever else."""
        assert [path.stem for path in FORMS] == ["claim-is-wrong", "method-is-missing"]
        assert read(GITHUB / "ISSUE_TEMPLATE/config.yml") == {"blank_issues_enabled": True}


def rules() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lines of CODEOWNERS: a pattern, and who is asked."""
    for line in (GITHUB / "CODEOWNERS").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, *owners = line.split()
            yield pattern, tuple(owner.rpartition("/")[2] for owner in owners)


def owners(path: str) -> tuple[str, ...]:
    """Who is asked about a file: the last pattern that fits counts. Ours are all of it, folders and files."""
    fitting = [who for pattern, who in rules() if pattern == "*" or f"/{path}/".startswith(f"{pattern.rstrip('/')}/")]
    return fitting[-1]


class TestCodeOwners:
    """Data and what judges it have different owners."""

    def test_every_pattern_is_of_something(self) -> None:
        """A folder that is renamed would lose its owners silently."""
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
    def test_what_judges(self, path: str) -> None:
        """Those who know the package, alone."""
        assert (ROOT / path).is_file()
        assert owners(path) == ("infrastructure",)

    @pytest.mark.parametrize("folder", ["registry", "evidence", "methods", "runs"])
    def test_what_is_said_and_measured(self, folder: str) -> None:
        """Those who know the subject, alone."""
        path = next(path for path in sorted((ROOT / "checks" / folder).rglob("*")) if path.is_file())
        assert owners(path.relative_to(ROOT).as_posix()) == ("content",)

    def test_scripts_that_measure_have_both(self) -> None:
        """They say something, and run on machines that are lent."""
        assert owners("checks/benchmarks/gpt2_padding.py") == ("content", "infrastructure")

    def test_the_organisation_is_the_one_of_the_site(self) -> None:
        """One name stands for it in both places, so that it is replaced in both."""
        named = set(re.findall(r"@([\w-]+)/", (GITHUB / "CODEOWNERS").read_text("utf-8")))
        config = (ROOT / "mkdocs.yml").read_text("utf-8")
        assert named == set(re.findall(r'"https://github\.com/([\w-]+)/headroom"', config))
