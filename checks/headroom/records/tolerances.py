"""Find tolerances in a snippet's proof that are too loose to prove anything."""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping

LOOSEST = 0.1
_KEYWORDS = frozenset(("rtol", "atol", "rel_tol", "abs_tol", "rel", "abs", "delta"))
_POSITIONS = {"allclose": 2, "isclose": 2, "assert_allclose": 2, "approx": 1}
"""The position of the first tolerance argument of each function."""
_BINARY: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def loose_tolerances(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and source of each tolerance above 0.1, in calls that compare and in relative differences."""
    nodes = list(ast.walk(tree))
    constants = {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        for shown, value in _tolerances(node):
            number = _number(value, constants)
            if number is not None and number > LOOSEST:
                yield value.lineno, shown


def _tolerances(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the tolerances of a node, each with its source for the message."""
    if isinstance(node, ast.Call):
        name = _function(node)
        for value in node.args[_POSITIONS.get(name, len(node.args)) :]:
            yield f"{name}(…, {ast.unparse(value)})", value
        for word in node.keywords:
            if word.arg in _KEYWORDS:
                yield f"{word.arg}={ast.unparse(word.value)}", word.value
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
        yield from _of_difference(node.left, node.comparators[0])


def _of_difference(left: ast.expr, right: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the tolerance of `abs(a - b) / b < 0.5`, `abs(a / b - 1) < 0.5` and `abs(a - b) < 0.5 * b`."""
    inside = [part for part in ast.walk(left) if _is_absolute(part)]
    divided = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div) for part in ast.walk(left))
    if inside and divided:
        yield f"< {ast.unparse(right)}", right
    elif inside and isinstance(right, ast.BinOp) and isinstance(right.op, ast.Mult):
        for factor in (right.left, right.right):
            yield f"< {ast.unparse(right)}", factor


def _is_absolute(node: ast.AST) -> bool:
    """Return whether a node is `abs(…)` or `….abs()`."""
    return isinstance(node, ast.Call) and _function(node) in ("abs", "fabs")


def _function(call: ast.Call) -> str:
    """Return the last part of the called function's name."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else str(getattr(call.func, "id", ""))


def _number(node: ast.expr, constants: Mapping[str, ast.expr], depth: int = 8) -> float | None:
    """Return the value of an arithmetic expression of numbers and constants, or None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if depth and isinstance(node, ast.Name) and node.id in constants:
        return _number(constants[node.id], constants, depth - 1)
    if depth and isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = (_number(part, constants, depth - 1) for part in (node.left, node.right))
        try:
            return None if left is None or right is None else float(_BINARY[type(node.op)](left, right))
        except (ArithmeticError, TypeError):
            return None
    return None
