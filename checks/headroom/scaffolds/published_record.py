"""Draft the record of a published comparison from a copied CSV file."""

import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from headroom.records.published_rows import FOLDER, Table
from headroom.verdicts.published_gates import value

SOURCE = re.compile(r"^(?P<repository>[\w-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40}):(?P<path>\S+)$", re.ASCII)
"""The place of an original: OWNER/NAME@COMMIT:PATH."""


def guesses(table: Table) -> dict[str, str]:
    """Return the values of a record that a table suggests: the column of the arms, both arms, and the metric."""
    arm = next(_columns_of_words(table), table.columns[0])
    values = [*dict.fromkeys(row[arm] for row in table.rows), "", ""]
    numbers = [name for name in table.columns if name != arm and name not in set(_columns_of_words(table))]
    found = {"arm": arm, "baseline": values[0], "subject": values[1], "metric": (numbers or [table.columns[-1]])[-1]}
    return {name: json.dumps(text) for name, text in found.items()}


def _columns_of_words(table: Table) -> Iterator[str]:
    """Yield the columns with different values that are no numbers."""
    for name in table.columns:
        cells = {row[name] for row in table.rows}
        if len(cells) > 1 and any(math.isnan(value(cell)) for cell in cells):
            yield name


def filled(name: str, claim: str, place: re.Match[str], rows: str, table: Table) -> dict[str, str]:
    """Return the values of the draft's template."""
    return {
        "id": name,
        "claim": claim,
        **place.groupdict(),
        "path": json.dumps(place["path"]),
        "sha256": table.sha256,
        "rows": rows,
        "folder": rows.partition("/")[0],
        "day": datetime.now(UTC).date().isoformat(),
        **guesses(table),
    }


def path_of(name: str) -> str:
    """Return the path of a record."""
    return f"{FOLDER}/{name}.yml"
