"""Every statement that reports a problem is reached by a rule case or a fault."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Self

import pytest

import headroom
from faults import FAULTS, make
from test_rule_cases import CASES, found

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


def trees(folder: Path) -> Iterator[Path]:
    """Yield every tree with a fault: the rule cases and the faults of records."""
    for name, case in CASES.items():
        yield case.tree(folder / name)
    for name, fault in FAULTS.items():
        root = make(folder / f"fault {name}")
        fault.do(root)
        yield root


def test_every_place_that_finds_a_problem_is_reached(tmp_path: Path) -> None:
    """A new message needs a case under tests/rule_cases/ or, if it is about a record, a fault in tests/faults.py."""
    reached = Reached()
    for root in trees(tmp_path):
        with reached:
            found(root)
    assert set(missed(reached.lines)) == set(ELSEWHERE)


def test_sites_are_found() -> None:
    """The search finds sites in every package that has any."""
    assert {name.partition("/")[0] for name in SITES if "/" in name} == {"io", "records", "pages", "rules"}
    assert len(SITES) > 100


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("raise ValueError('x')", True),
        ("raise OSError('x')", False),
        ("raise", False),
        ("yield Problem('x')", True),
        ("reader.report('x')", True),
        ("yield at(page)", True),
        ("return f'no {x}', 'correct it'", True),
        ("return 'a b', remedy", True),
        ("return a, b", False),
        ("return 1", False),
    ],
)
def test_reporting_statements_are_recognised(source: str, expected: bool) -> None:  # noqa: FBT001
    """Errors, problems, and pairs of message and remedy."""
    (node,) = ast.parse(source).body
    assert reports(node) == expected


def test_sites_that_do_not_run_are_missed() -> None:
    """Without a tree, every site is missed."""
    assert missed(set()) == list(SITES)
