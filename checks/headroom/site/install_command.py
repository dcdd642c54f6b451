"""The command that installs the package: a line ``[](install:command)`` of a page."""

from collections.abc import Sequence

from headroom.site.site_data import SiteData

SCHEME = "install:"
_LINE = f"[]({SCHEME}command)"


def with_command(lines: Sequence[str], site: SiteData) -> list[str]:
    """Replace each line ``[](install:command)`` with the command that installs from the site's repository.

    Raises:
        LookupError: a line has another name.
    """
    block = ["```console", f"$ pip install git+{site.repository.rstrip('/') or 'ADDRESS'}", "```"]
    if wrong := [line for line in lines if line.startswith(f"[]({SCHEME}") and line != _LINE]:
        raise LookupError(f"there is no part {wrong[0]}; known is {_LINE}")
    return [row for line in lines for row in (block if line == _LINE else [line])]
