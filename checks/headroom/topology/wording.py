"""The sentences of the topology reader, which the page's reader in JavaScript uses too."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

SENTENCES: Final[dict[str, str]] = json.loads((Path(__file__).parent / "sentences.json").read_text("utf-8"))
"""Every sentence by its key. A name in braces stands for a value."""


def fill(key: str, /, **values: object) -> str:
    """Return a sentence with its values."""
    return re.sub(r"\{(\w+)\}", lambda match: str(values[match.group(1)]), SENTENCES[key])


def listed(names: Iterable[str]) -> str:
    """Return names as a list in words; three neighbours or more, such as GPU0 to GPU3, as a range."""
    parts = [each for run in _runs(list(names)) for each in run]
    return "".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"  # noqa: PLR2004 - a pair


def _runs(names: list[str]) -> Iterable[list[str]]:
    """Yield the parts of a list: a range for neighbours, and single names."""
    run: list[str] = []
    for name in names:
        if run and not _follows(run[-1], name):
            yield _short(run)
            run = []
        run.append(name)
    yield _short(run)


def _short(run: list[str]) -> list[str]:
    return [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run  # noqa: PLR2004 - two names are no range


def _follows(one: str, other: str) -> bool:
    """Return whether two names of GPUs are neighbours."""
    first, second = (re.fullmatch(r"GPU([0-9]+)", name) for name in (one, other))
    return bool(first and second and int(second.group(1)) == int(first.group(1)) + 1)
