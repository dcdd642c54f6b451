"""Find the records that estimates and plans read: the project's, or the copy in an installed package."""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
_PACKAGED: Final = _PACKAGE / "data"
"""Where a wheel has a copy of the records, see pyproject.toml; a checkout has no such folder."""


def is_project(folder: Path) -> bool:
    """Return whether a folder is the top of a project."""
    return (folder / "checks/registry").is_dir()


def data_root(root: Path | str | None = None) -> Path:
    """Return the folder whose checks/ has the records to read.

    Args:
        root: the project's folder. By default, the current folder if it is a project, else the copy in the installed
            package, else the checkout that has the package.
    """
    if root is not None:
        return Path(root)
    here = Path.cwd()
    if is_project(here):
        return here
    return _PACKAGED if _PACKAGED.is_dir() else _PACKAGE.parents[1]
