"""Build the environments of snippets, and read what they have installed without starting them.

``python -m headroom.execution.snippet_environments`` builds those of the tree in the working directory that are missing
or that have other pins, and no other.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from headroom.io.atomic_write import write_atomic
from headroom.records import load
from headroom.records.snippet_environments import PATH, Environments, SnippetEnvironment

_STAMP = "pins"


class BuiltEnvironments:
    """The environments of a tree and their folders.

    Args:
        pinned: the environments of the tree.
        cache: the folder that has them below ``environments/``.
    """

    def __init__(self, pinned: Environments, cache: Path) -> None:
        self._pinned, self._folder = pinned, cache.absolute() / "environments"

    def build(self) -> None:
        """Build each environment whose stamp is missing or names other pins, two at a time.

        Raises:
            CalledProcessError: pip cannot install the packages.
        """
        missing = [name for name in self._pinned if not self.is_built(name)]
        with ThreadPoolExecutor(max_workers=2) as pool:
            for _ in pool.map(lambda name: _build(self._pinned[name], self._folder / name), missing):
                pass

    def is_built(self, name: str) -> bool:
        """Return whether an environment was built with the present pins."""
        stamp = self._folder / name / _STAMP
        return name in self._pinned and stamp.is_file() and stamp.read_text("ascii") == self._pinned[name].key

    def python(self, name: str) -> Path:
        """Return the path of an environment's interpreter."""
        return self._folder / name / "bin" / "python"

    def versions(self, name: str) -> dict[str, str]:
        """Return the installed version of each package, by its name in lower case with dashes."""
        path = [str(folder) for folder in (self._folder / name).glob("lib/python*/site-packages")]
        return {canonicalize_name(each.name): each.version for each in distributions(path=path)}

    def pinned_versions(self, name: str) -> Mapping[str, str]:
        """Return the version of each pinned package, as run records list it."""
        return {package: pin.version for package, pin in self._pinned[name].packages.items()}


def _build(wanted: SnippetEnvironment, folder: Path) -> None:
    """Build an environment; the stamp is written last, so an interrupted build is built again."""
    shutil.rmtree(folder, ignore_errors=True)
    # A child of this interpreter's own environment would see the packages of PYTHONPATH.
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    for command in ([sys.executable, "-m", "venv", str(folder)], [*pip, *wanted.requirements]):
        subprocess.run(command, check=True, env=outside)  # noqa: S603 - names and versions from the tree
    write_atomic(folder / _STAMP, wanted.key)


def main(root: Path) -> None:
    """Build the environments of a tree.

    Raises:
        SystemExit: the record of the environments is missing, empty or not valid.
    """
    tree = load(root)
    if not tree.environments:
        problems = [str(problem) for problem in tree.problems if problem.path == PATH]
        raise SystemExit("\n".join(problems) or f"{PATH} names no environment; add one")
    BuiltEnvironments(tree.environments, root / ".cache").build()


if __name__ == "__main__":
    main(Path.cwd())
