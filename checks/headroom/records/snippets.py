"""Snippets: standalone scripts with PEP 723 headers, their regions and ablations, and the records of their runs."""

import ast
import re
import textwrap
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from headroom.io import python_source
from headroom.io.safe_read import UnreadableError, line_of, sha256
from headroom.io.strict_load import Document
from headroom.records.base import IsoDate, Record, Sha256, Slug, SnippetId, Text
from headroom.records.captured_output import Printed

# The reference expression of PEP 723. Its time is quadratic in the number of starts, so it is tried once.
_START = re.compile(r"(?m)^# /// script$")
_HEADER = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_REGION = re.compile(r"^\s*# --8<-- \[(?P<edge>start|end):(?P<name>[a-z0-9_-]+)\]\s*$")

Need = Annotated[str, StringConstraints(pattern=r"^(cuda(:[1-9])?|amx|avx512_bf16|bf16)$")]
Launch = Annotated[
    str, StringConstraints(pattern=r"^(python|torchrun --nproc-per-node [1-9]( --max-restarts [1-9])?)$")
]


class Header(Record):
    """The ``[tool.headroom]`` table of a snippet."""

    needs: tuple[Need, ...] = ()
    """The hardware that the snippet requires."""
    environment: Slug | None = None
    """The environment of checks/facts/environments.yml that runs it; by default the main one."""
    launch: Launch = "python"
    timeout: int = Field(default=60, ge=1, le=600)
    """Seconds after which the runner kills its process group."""
    models: tuple[Text, ...] = ()
    datasets: tuple[Text, ...] = ()
    ablation: dict[str, str] = Field(default_factory=dict)
    """Replacements of text that remove the technique; the proof must then fail."""
    no_ablation: Text | None = None
    """Why the snippet has no ablation."""

    @model_validator(mode="after")
    def _ablation_or_reason(self) -> "Header":
        if bool(self.ablation) == bool(self.no_ablation):
            raise ValueError("the header must have either `ablation` or `no_ablation`; add or remove one")
        return self


class Snippet(Record):
    """A script and everything that is known without running it."""

    path: str
    """Relative to the root of the tree, with forward slashes."""
    sha256: Sha256
    source: str
    dependencies: tuple[str, ...]
    title: str
    """The first line of its docstring."""
    header: Header
    regions: dict[str, tuple[int, int]]
    """The lines of each region's two marks."""

    @property
    def id(self) -> str:
        """The path below snippets/ without the suffix."""
        return self.path.removeprefix("snippets/").removesuffix(".py")

    @property
    def command(self) -> str:
        """The command that runs the file."""
        launch = "" if self.header.launch == "python" else f"{self.header.launch} "
        return f"uv run {launch}{self.path}"

    def ablated(self) -> str:
        """Return the source without the technique."""
        return _ablated(self.source, self.header.ablation)


class AblationRun(Record):
    """The result of the run without the technique."""

    outcome: Literal["proof failed"]
    message: str
    seconds: float = Field(gt=0)


class SnippetRun(Record):
    """The record of a run: checks/runs/<snippet>/<hardware class>.json."""

    snippet: SnippetId
    sha256: Sha256
    hardware_class: Slug
    date: IsoDate
    outcome: Literal["passed"]
    seconds: float = Field(gt=0)
    peak_memory_bytes: int = Field(gt=0)
    device: Text
    environment: Slug | None = None
    """The environment that ran it, if it is not the main one."""
    versions: dict[Text, Text]
    models: dict[Text, Literal["stand-in", "real"]]
    warnings: tuple[Text, ...]
    ablation: AblationRun | None
    output: Printed | None = None
    """The end of its output. Records before 2026-11-22 and runs without output lack it."""
    runner: Sha256 | None = None
    """A hash of the code that ran it. Records before 2026-11-23 lack it."""


def named(snippets: Mapping[str, Snippet], pattern: str) -> list[Snippet]:
    """Return the snippets that match a pattern, in order.

    Args:
        snippets: the snippets of a tree, by id.
        pattern: an id, a path, a folder or a glob such as `training/lora*`; an empty text matches all.
    """
    name = pattern.removeprefix("snippets/").removesuffix(".py").rstrip("/")
    if name in snippets:
        return [snippets[name]]
    wanted = (each for each in sorted(snippets) if not name or each.startswith(f"{name}/") or fnmatchcase(each, name))
    return [snippets[each] for each in wanted]


def header_table(source: str) -> tuple[dict[str, Any], int]:
    """Return the PEP 723 table of a script and the line on which its block starts.

    Raises:
        UnreadableError: the block is missing, not unique, not TOML, or has values of the wrong type.
    """
    starts = len(_START.findall(source))
    block = _HEADER.search(source) if starts == 1 else None
    if block is None:
        message = f"the script has {starts * (starts > 1)} PEP 723 `script` blocks"
        raise UnreadableError(message, "begin it with exactly one block, from `# /// script` to `# ///`", 1)
    line = line_of(source, block.start())
    rows = block["content"].splitlines(keepends=True)
    content = "".join(row[2:] if row.startswith("# ") else row[1:] for row in rows)
    try:
        table = tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the header cannot be parsed as TOML: {error}", "fix the syntax", line) from error
    tool, dependencies = table.get("tool", {}), table.get("dependencies", [])
    if not isinstance(tool, dict) or not isinstance(tool.get("headroom", {}), dict):
        raise UnreadableError("`tool.headroom` is not a table", "write `[tool.headroom]` above its keys", line)
    if not isinstance(dependencies, list) or not all(isinstance(each, str) for each in dependencies):
        raise UnreadableError("`dependencies` is not a list of strings", 'write `dependencies = ["torch"]`', line)
    return table, line


def _split(source: str) -> tuple[str, str]:
    """Return the header of a script and the body below it."""
    header, mark, body = source.partition("\n# ///\n")
    return header + mark, body


def _ablated(source: str, ablation: dict[str, str]) -> str:
    header, body = _split(source)
    for text, replacement in ablation.items():
        body = body.replace(text, replacement)
    return header + body


def regions(source: str) -> dict[str, tuple[int, int]]:
    """Return the named regions of a script, each with the lines of its two marks.

    Raises:
        UnreadableError: a region starts twice or inside another one, has only one mark, or cuts a statement.
    """
    found: dict[str, tuple[int, int]] = {}
    open_: dict[str, int] = {}
    for number, line in enumerate(source.splitlines(), 1):
        match = _REGION.match(line)
        if match is None:
            continue
        name = match["name"]
        if (match["edge"] == "start" and (open_ or name in found)) or (match["edge"] == "end" and name not in open_):
            remedy = "write one start mark and then one end mark, and do not nest regions"
            raise UnreadableError(f"region `{name}` {match['edge']}s out of order", remedy, number)
        if match["edge"] == "start":
            open_[name] = number
        else:
            found[name] = (open_.pop(name), number)
    for name, number in open_.items():
        raise UnreadableError(f"region `{name}` never ends", f"add `# --8<-- [end:{name}]`", number)
    rows = source.splitlines()
    for name, (start, end) in found.items():
        if not _is_whole(rows[start : end - 1]):
            remedy = "move its marks to lines between statements"
            raise UnreadableError(f"region `{name}` is cut inside a statement", remedy, start)
    return found


def _is_whole(rows: list[str]) -> bool:
    """Return whether the lines are complete statements."""
    try:
        python_source.parse_python(textwrap.dedent("\n".join(rows)))
    except UnreadableError:
        return False
    return True


def ablation_faults(source: str, syntax: ast.Module, ablation: dict[str, str]) -> list[tuple[str, str]]:
    """Return the faults of a script's ablation as pairs of message and remedy, given the script's syntax tree.

    Each text must occur exactly once below the header and change something. No assertion may change: if the proof is
    different, its failure shows nothing about the technique.
    """
    _, body = _split(source)
    faults = [
        (f"`{text}` occurs {body.count(text)} times below the header", "choose a text that occurs exactly once")
        for text in ablation
        if body.count(text) != 1
    ]
    same = "write a replacement that removes the technique"
    faults += [(f"`{text}` is replaced by itself", same) for text, new in ablation.items() if text == new]
    if not faults and ablation and _assertions(syntax) != _ablated_assertions(source, ablation):
        faults.append(("it changes an assertion", "remove only the technique, and leave the proof unchanged"))
    return faults


def _assertions(syntax: ast.Module) -> list[str]:
    """Return the conditions that a script asserts; none if they are nested too deeply."""
    try:
        return [ast.dump(node.test) for node in _statements(syntax) if isinstance(node, ast.Assert)]
    except RecursionError:
        return []


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements below a node; skip expressions, which contain none."""
    waiting = deque([node])
    while waiting:
        for child in ast.iter_child_nodes(waiting.popleft()):
            if not isinstance(child, ast.expr | ast.expr_context):
                yield child
                waiting.append(child)


def _ablated_assertions(source: str, ablation: dict[str, str]) -> list[str]:
    """Return the conditions that a script asserts without its technique; none if it is then not valid Python."""
    try:
        return _assertions(python_source.parse_python(_ablated(source, ablation)))
    except UnreadableError:
        return []


def document_of(table: dict[str, Any], line: int) -> Document:
    """Return the header as a document with every value on the header's first line."""
    return Document(table, {(): line})


def content_sha256(source: str) -> str:
    """Return the hash that links a run record to the version of the script."""
    return sha256(source)
