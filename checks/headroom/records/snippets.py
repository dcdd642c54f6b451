"""Snippets: standalone scripts, what their headers say they need, and the record of their last run."""

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

# The block of PEP 723, by its reference expression. With many starts it takes the square of the time: it is tried once.
_START = re.compile(r"(?m)^# /// script$")
_HEADER = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_REGION = re.compile(r"^\s*# --8<-- \[(?P<edge>start|end):(?P<name>[a-z0-9_-]+)\]\s*$")

Need = Annotated[str, StringConstraints(pattern=r"^(cuda(:[1-9])?|amx|avx512_bf16|bf16)$")]
Launch = Annotated[str, StringConstraints(pattern=r"^(python|torchrun --nproc-per-node [1-9])$")]


class Header(Record):
    """The ``[tool.headroom]`` table of a snippet."""

    needs: tuple[Need, ...] = ()
    """Hardware without which it cannot run."""
    launch: Launch = "python"
    timeout: int = Field(default=60, ge=1, le=600)
    """Seconds after which its whole process group is killed."""
    models: tuple[Text, ...] = ()
    datasets: tuple[Text, ...] = ()
    ablation: dict[str, str] = Field(default_factory=dict)
    """Texts whose replacement takes the technique out; the proof must then fail."""
    no_ablation: Text | None = None
    """Why no ablation makes sense."""

    @model_validator(mode="after")
    def _ablation_or_reason(self) -> "Header":
        if bool(self.ablation) == bool(self.no_ablation):
            raise ValueError("neither an ablation nor the reason why there is none (or both); write one of the two")
        return self


class Snippet(Record):
    """One script and what is known of it without running it."""

    path: str
    """Relative to the root of the tree, with forward slashes."""
    sha256: Sha256
    source: str
    dependencies: tuple[str, ...]
    title: str
    """The first line of its docstring."""
    header: Header
    regions: dict[str, tuple[int, int]]
    """The lines of each region's markers."""

    @property
    def id(self) -> str:
        """Its path below snippets/ without the ending."""
        return self.path.removeprefix("snippets/").removesuffix(".py")

    @property
    def command(self) -> str:
        """The one command that runs the file."""
        launch = "" if self.header.launch == "python" else f"{self.header.launch} "
        return f"uv run {launch}{self.path}"

    def ablated(self) -> str:
        """The source with the technique taken out."""
        return _ablated(self.source, self.header.ablation)


class AblationRun(Record):
    """What happened when the technique was taken out."""

    outcome: Literal["proof failed"]
    message: str
    seconds: float = Field(gt=0)


class SnippetRun(Record):
    """The record of one run: checks/runs/<snippet>/<hardware class>.json."""

    snippet: SnippetId
    sha256: Sha256
    hardware_class: Slug
    date: IsoDate
    outcome: Literal["passed"]
    seconds: float = Field(gt=0)
    peak_memory_bytes: int = Field(gt=0)
    device: Text
    versions: dict[Text, Text]
    models: dict[Text, Literal["stand-in", "real"]]
    warnings: tuple[Text, ...]
    ablation: AblationRun | None
    output: Printed | None = None
    """The end of what it printed; records from before 2026-11-22 lack it, and so do runs that printed nothing."""


def named(snippets: Mapping[str, Snippet], pattern: str) -> list[Snippet]:
    """Return the snippets that a pattern names, in order.

    Args:
        snippets: those of a tree, by id.
        pattern: an id or a path for one alone, a folder for all below it, or a glob as `training/lora*`; empty for all.
    """
    name = pattern.removeprefix("snippets/").removesuffix(".py").rstrip("/")
    if name in snippets:
        return [snippets[name]]
    wanted = (each for each in sorted(snippets) if not name or each.startswith(f"{name}/") or fnmatchcase(each, name))
    return [snippets[each] for each in wanted]


def header_table(source: str) -> tuple[dict[str, Any], int]:
    """The PEP 723 table of a script and the line on which it starts.

    Raises:
        UnreadableError: there is no such block, more than one, or it is no TOML of the form that it should have.
    """
    starts = len(_START.findall(source))
    block = _HEADER.search(source) if starts == 1 else None
    if block is None:
        raise UnreadableError(
            f"{starts * (starts > 1)} PEP 723 `script` blocks", "begin the file with exactly one, and end it", 1
        )
    line = line_of(source, block.start())
    rows = block["content"].splitlines(keepends=True)
    content = "".join(row[2:] if row.startswith("# ") else row[1:] for row in rows)
    try:
        table = tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the header is no TOML: {error}", "correct the header", line) from error
    tool, dependencies = table.get("tool", {}), table.get("dependencies", [])
    if not isinstance(tool, dict) or not isinstance(tool.get("headroom", {}), dict):
        raise UnreadableError("`tool.headroom` is no table", "write `[tool.headroom]` above its keys", line)
    if not isinstance(dependencies, list) or not all(isinstance(each, str) for each in dependencies):
        raise UnreadableError("`dependencies` is no list of texts", 'write `dependencies = ["torch"]`', line)
    return table, line


def _split(source: str) -> tuple[str, str]:
    """A script's header and what stands below it."""
    header, mark, body = source.partition("\n# ///\n")
    return header + mark, body


def _ablated(source: str, ablation: dict[str, str]) -> str:
    header, body = _split(source)
    for text, replacement in ablation.items():
        body = body.replace(text, replacement)
    return header + body


def regions(source: str) -> dict[str, tuple[int, int]]:
    """The named regions of a script, each with the lines of its two markers.

    Raises:
        UnreadableError: a region starts twice or inside another, ends without a start, never ends, or is cut inside a
            statement.
    """
    found: dict[str, tuple[int, int]] = {}
    open_: dict[str, int] = {}
    for number, line in enumerate(source.splitlines(), 1):
        match = _REGION.match(line)
        if match is None:
            continue
        name = match["name"]
        if (match["edge"] == "start" and (open_ or name in found)) or (match["edge"] == "end" and name not in open_):
            raise UnreadableError(
                f"region `{name}` {match['edge']}s out of turn", "give it one start and then one end", number
            )
        if match["edge"] == "start":
            open_[name] = number
        else:
            found[name] = (open_.pop(name), number)
    for name, number in open_.items():
        raise UnreadableError(f"region `{name}` never ends", f"add `# --8<-- [end:{name}]`", number)
    rows = source.splitlines()
    for name, (start, end) in found.items():
        if not _is_whole(rows[start : end - 1]):
            raise UnreadableError(f"region `{name}` is cut inside a statement", "move its marks", start)
    return found


def _is_whole(rows: list[str]) -> bool:
    """Whether a reader can take these lines as they are: they are statements, from the first to the last."""
    try:
        python_source.parse_python(textwrap.dedent("\n".join(rows)))
    except UnreadableError:
        return False
    return True


def ablation_faults(source: str, syntax: ast.Module, ablation: dict[str, str]) -> list[tuple[str, str]]:
    """Return what is wrong with the ablation of a script, given its syntax tree, and what to do.

    Each text must stand exactly once below the header and change something, and no assertion may be changed: a run
    that fails because the proof is another one shows nothing about the technique.
    """
    _, body = _split(source)
    once = "name a text that stands exactly once"
    faults = [
        (f"`{text}` stands {body.count(text)} times below the header", once)
        for text in ablation
        if body.count(text) != 1
    ]
    faults += [(f"`{text}` is replaced by itself", once) for text, new in ablation.items() if text == new]
    if not faults and ablation and _assertions(syntax) != _ablated_assertions(source, ablation):
        faults.append(("it changes what is asserted", "take the technique out, and leave the proof as it is"))
    return faults


def _assertions(syntax: ast.Module) -> list[str]:
    """Return what a script asserts, without the messages; nothing where that is nested too deeply."""
    try:
        return [ast.dump(node.test) for node in _statements(syntax) if isinstance(node, ast.Assert)]
    except RecursionError:
        return []


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements below a node; expressions, which are most of a syntax tree, hold none."""
    waiting = deque([node])
    while waiting:
        for child in ast.iter_child_nodes(waiting.popleft()):
            if not isinstance(child, ast.expr | ast.expr_context):
                yield child
                waiting.append(child)


def _ablated_assertions(source: str, ablation: dict[str, str]) -> list[str]:
    """Return what a script asserts without its technique; nothing where it is then no Python."""
    try:
        return _assertions(python_source.parse_python(_ablated(source, ablation)))
    except UnreadableError:
        return []


def document_of(table: dict[str, Any], line: int) -> Document:
    """The header as a document whose every value stands on the header's first line."""
    return Document(table, {(): line})


def content_sha256(source: str) -> str:
    """The hash that ties a run record to the bytes that ran."""
    return sha256(source)
