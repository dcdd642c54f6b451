"""What reviewing.md says of workflows and settings, and the versions that the published site is built with."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def jobs(path: Path) -> dict[str, Any]:
    """The jobs of a workflow, by name."""
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    return found


class TestReviewing:
    """What reviewing.md says of the workflows."""

    TEXT = (ROOT / "docs/contribute/reviewing.md").read_text("utf-8")

    def test_its_table_lists_every_workflow_and_what_each_may_write(self) -> None:
        """A job that writes has a row of its own."""
        rows = re.findall(r"^\| `([\w.]+)`[^|]*\|[^|]*\|([^|]*)\|", self.TEXT, re.MULTILINE)
        assert {name for name, _ in rows} == {path.name for path in WORKFLOWS}
        for path in WORKFLOWS:
            written = [
                right for job in jobs(path).values() for right, how in job["permissions"].items() if how == "write"
            ]
            told = " ".join(rights for name, rights in rows if name == path.name)
            assert bool(written) == ("writes" in told), path.name

    @pytest.mark.parametrize(
        "setting", ["Require approval for all external contributors", "gpu.yml@refs/heads/main", "Selected workflows"]
    )
    def test_it_asks_for_what_guards_the_runner(self, setting: str) -> None:
        """The environment does not."""
        assert setting in self.TEXT


def test_the_published_site_is_built_with_exact_versions() -> None:
    """Each library that the site needs is pinned, within what pyproject.toml allows."""
    rows = (ROOT / ".ci/constraints.txt").read_text("utf-8").split()
    pinned = {name.lower().replace("_", "-"): version for name, _, version in (row.partition("==") for row in rows)}
    assert all(pinned.values())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for text in (*project["dependencies"], *project["optional-dependencies"]["site"]):
        needed = Requirement(text)
        assert needed.specifier.contains(pinned[needed.name.lower()]), text
    (build,) = (step for step in jobs(ROOT / ".github/workflows/pages.yml")["build"]["steps"] if "env" in step)
    assert build["env"]["PIP_CONSTRAINT"].endswith("/.ci/constraints.txt")
