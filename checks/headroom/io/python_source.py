"""Parse and hash untrusted Python scripts without running them."""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

from headroom.io.safe_read import UnreadableError, sha256

_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*(?P<name>[-\w.]+)")  # PEP 263


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree of a script.

    Raises:
        UnreadableError: the script is not valid Python, is nested too deeply, or declares an encoding other than UTF-8.
    """
    for number, line in enumerate(source.split("\n", 2)[:2], 1):
        cookie = _COOKIE.match(line)
        if cookie and cookie["name"].lower().replace("_", "-") not in ("utf-8", "utf8"):
            raise UnreadableError(f"the encoding `{cookie['name']}`", "remove the line: scripts are UTF-8", number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as invalid escapes, which the linter reports
            return ast.parse(source)
    except SyntaxError as error:
        raise UnreadableError(f"not valid Python: {error.msg}", "fix the syntax", error.lineno) from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableError("nested too deeply", "simplify the script", 1) from error


def syntax_sha256(source: str) -> str:
    """Return a hash of a script's syntax tree, which ignores comments, formatting and docstrings.

    It omits empty fields, so that a newer Python version that adds a field gives the same hash.

    Raises:
        UnreadableError: as ``parse_python``.
    """
    try:
        return sha256("\n".join(_syntax(parse_python(source))))
    except RecursionError as error:
        raise UnreadableError("nested too deeply", "simplify the script", 1) from error


def _syntax(node: Any) -> Iterator[str]:
    """Yield a syntax tree as strings: the types of its nodes and their non-empty fields."""
    if isinstance(node, ast.AST):
        yield type(node).__name__
        for name, child in ast.iter_fields(node):
            if child is None or child == [] or name in ("kind", "type_comment"):
                continue
            yield name
            yield from _syntax(child)
        yield "."
    elif isinstance(node, list):
        for child in node:
            if not _is_docstring(child):
                yield from _syntax(child)
    else:
        yield repr(node)


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def arms_of(source: str) -> tuple[str, ...]:
    """Return the arms that a benchmark declares in ``ARMS``, without running it; empty if there are none."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(value, ast.Tuple | ast.List) and any(getattr(target, "id", "") == "ARMS" for target in targets):
            return tuple(
                arm.value for arm in value.elts if isinstance(arm, ast.Constant) and isinstance(arm.value, str)
            )
    return ()


def parameters_of(source: str) -> tuple[str, ...]:
    """Return the required keyword parameters of a benchmark's `prepare`, without running it."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "prepare":
            pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            return tuple(argument.arg for argument, default in pairs if default is None)
    return ()
