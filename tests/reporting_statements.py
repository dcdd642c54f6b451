"""The statements that report a problem, and which of them ran."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Self

import headroom

PACKAGE = Path(headroom.__file__).parent
FILES = [
    *(PACKAGE / name for name in ("io/safe_read.py", "io/strict_load.py", "io/python_source.py")),
    *(path for package in ("records", "pages", "rules") for path in sorted((PACKAGE / package).glob("*.py"))),
]
RAISED = ("UnreadableError", "ValueError", "LookupError")
REPORTING = ("Problem", "report", "at", "_in")
# Statements that no tree can reach, with the reason.
ELSEWHERE = {
    "io/safe_read.py:read_found:1": "the tests may run as a user who can read every file",
    "io/python_source.py:parse_python:3": "a trace ends with the stack; the fault `bottomless benchmark` gets here",
    "io/python_source.py:syntax_sha256:1": "as above",
    "pages/measured_figures.py:measured:2": "the rules ask only for figures that a link names",
}


def reports(node: ast.stmt) -> bool:
    """Return whether a statement reports a problem: an error, a problem, or a message with a remedy."""
    if isinstance(node, ast.Raise):
        return isinstance(node.exc, ast.Call) and getattr(node.exc.func, "id", "") in RAISED
    if isinstance(node, ast.Return | ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Yield) else node.value
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            return any(isinstance(each, ast.JoinedStr) or _is_sentence(each) for each in value.elts)
        called = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
        return any(getattr(func, "id", getattr(func, "attr", "")) in REPORTING for func in called)
    return False


def _is_sentence(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


def sites(path: Path) -> dict[str, range]:
    """Return the lines of each reporting statement of a file, by file, function and number."""
    places: dict[str, range] = {}
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for number, node in enumerate(filter(reports, _statements(function)), 1):
                name = f"{path.relative_to(PACKAGE).as_posix()}:{function.name}:{number}"
                places[name] = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return places


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function, in order, without those of nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.FunctionDef):
            yield from _statements(child)


SITES = {name: (path, lines) for path in FILES for name, lines in sites(path).items()}


class Reached:
    """A context manager that records the executed lines of functions with a reporting statement."""

    def __init__(self) -> None:
        self.functions = {(str(path), name.split(":")[1]) for name, (path, _) in SITES.items()}
        self.lines: set[tuple[str, int]] = set()
        self.trees: set[str] = set()

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        return self._line if (code.co_filename, code.co_name) in self.functions else None

    def _line(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def missed(lines: set[tuple[str, int]]) -> list[str]:
    """Return the sites of which no line ran."""
    return [name for name, (path, rows) in SITES.items() if not any((str(path), row) in lines for row in rows)]
