"""Read checks/published/: records of published comparisons and of published memory, copied rows, and licences."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headroom.io import safe_read
from headroom.io.safe_read import Found, UnreadableError
from headroom.records.loader import Reader
from headroom.records.memory_rows import MemoryTable
from headroom.records.problems import unreadable
from headroom.records.published_comparisons import PublishedComparison
from headroom.records.training_runs import RunTable

FOLDER = "checks/published"
RULE = "published"
_MOST_COLUMNS, _MOST_ROWS, _LONGEST_CELL = 100, 20_000, 2_000
_TEXTS = ("LICENSE", "LICENCE", "NOTICE", "COPYING")

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a CSV file, each by column, and the file's hash."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Published:
    """All published comparisons by id, the copied tables and the licences by their path below the folder."""

    comparisons: dict[str, PublishedComparison] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    """The file of each comparison."""
    tables: dict[str, Table] = field(default_factory=dict)
    licences: dict[str, str] = field(default_factory=dict)
    memory: dict[str, MemoryTable] = field(default_factory=dict)
    """The tables of published GPU memory, by id."""
    training: dict[str, RunTable] = field(default_factory=dict)
    """The tables of published training runs, by id."""

    def of(self, claim: str) -> tuple[PublishedComparison, ...]:
        """Return the comparisons that decide a claim, by id."""
        return tuple(
            self.comparisons[name] for name in sorted(self.comparisons) if self.comparisons[name].claim == claim
        )


def read_published(reader: Reader) -> Published:
    """Read the folder, and report files that are none of the three kinds or cannot be read."""
    found = Published()
    for file in safe_read.walk(reader.root, FOLDER):
        name = file.name.removeprefix(f"{FOLDER}/")
        if not _regular(reader, file):
            continue
        if "/" not in name and name.endswith(".yml"):
            _add_comparison(reader, file, found)
        elif name.startswith("memory/") and name.count("/") == 1 and name.endswith(".yml"):
            _add_memory(reader, file, found)
        elif name.startswith("training/") and name.count("/") == 1 and name.endswith(".yml"):
            _add_training(reader, file, found)
        elif name.count("/") == 1 and name.endswith(".csv"):
            _add_table(reader, file, name, found)
        elif name.count("/") == 1 and Path(name).name.startswith(_TEXTS):
            _add_licence(reader, file, name, found)
        else:
            remedy = (
                "move or delete it: the folder has records (.yml), also in memory/ and training/, and per source a "
                "folder of .csv files and licences"
            )
            reader.report(file.name, RULE, "neither a record, nor rows, nor a licence", remedy, None)
    return found


def _regular(reader: Reader, file: Found) -> bool:
    try:
        if not file.plain:
            safe_read.checked_path(Path(file.path), reader.root)
    except UnreadableError as error:
        reader.problems.append(unreadable(file.name, RULE, error))
        return False
    return True


def _add_comparison(reader: Reader, file: Found, found: Published) -> None:
    record = reader.yaml(file, RULE, PublishedComparison.model_validate_json)
    if record is None:
        return
    _check_name(reader, file, record.id)
    found.comparisons[record.id] = record
    found.paths[record.id] = file.name


def _add_memory(reader: Reader, file: Found, found: Published) -> None:
    if table := reader.yaml(file, RULE, MemoryTable.model_validate_json):
        _check_name(reader, file, table.id)
        found.memory[table.id] = table


def _add_training(reader: Reader, file: Found, found: Published) -> None:
    if table := reader.yaml(file, RULE, RunTable.model_validate_json):
        _check_name(reader, file, table.id)
        found.training[table.id] = table


def _check_name(reader: Reader, file: Found, name: str) -> None:
    if name != Path(file.name).stem:
        message = f"the id `{name}` differs from the file name"
        reader.report(file.name, RULE, message, f"rename the file to {name}.yml, or correct the id")


def _add_table(reader: Reader, file: Found, name: str, found: Published) -> None:
    data = reader.data(file, RULE)
    text = None if data is None else reader.decoded(file, RULE, data)
    if data is None or text is None:
        return
    try:
        columns, rows = _parsed(text)
    except UnreadableError as error:
        reader.problems.append(unreadable(file.name, RULE, error))
    else:
        found.tables[name] = Table(columns, rows, safe_read.sha256(data))


def _add_licence(reader: Reader, file: Found, name: str, found: Published) -> None:
    text = reader.text(file, RULE)
    if text is not None:
        found.licences[name] = text


def _parsed(text: str) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Return the columns and rows of a CSV text.

    Raises:
        UnreadableError: the text is no rectangular CSV with a header, or exceeds a limit.
    """
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        head = tuple(next(reader, ()))
        _check_head(head)
        return head, tuple(_rows(reader, head))
    except csv.Error as error:
        raise UnreadableError(f"no CSV ({error})", "write it with a CSV writer", reader.line_num) from error


def _check_head(head: tuple[str, ...]) -> None:
    if len(head) < 2 or len(head) > _MOST_COLUMNS or len({*head}) < len(head) or not all(head):  # noqa: PLR2004 - two arms
        message = f"the header does not name 2 to {_MOST_COLUMNS} columns, each once"
        raise UnreadableError(message, "correct the first line", 1)


def _rows(reader: Iterable[list[str]], head: tuple[str, ...]) -> Iterator[Row]:
    for number, cells in enumerate(reader, 1):
        if number > _MOST_ROWS:
            raise UnreadableError(f"more than {_MOST_ROWS} rows", "copy only the rows that records select", number + 1)
        if len(cells) != len(head) or any(len(cell) > _LONGEST_CELL for cell in cells):
            message = f"row {number} does not have {len(head)} cells of at most {_LONGEST_CELL} characters"
            raise UnreadableError(message, "correct the row", number + 1)
        yield dict(zip(head, cells, strict=True))
