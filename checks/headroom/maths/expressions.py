"""Parse and evaluate the arithmetic formulas of records and pages, with units, without running them as Python.

Numbers, names, ``+ - * /``, ``**`` with a small whole exponent, parentheses, ``min``, ``max``, ``ceil`` and ``floor``.
The parser refuses everything else, so a formula from an untrusted contributor cannot run code, hang or exhaust memory.
"""

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from headroom.maths.quantities import Quantity, best

MAX_LENGTH, MAX_NODES, MAX_DEPTH, MAX_POWER = 400, 200, 32, 4
_LARGEST = 1e300
_PLAIN = re.compile(r"[A-Za-z0-9_ .,+*/()-]*")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NAME_WITH_CAPITALS = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_BINARY: Final[Mapping[type, Callable[[Quantity, Quantity], Quantity]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: Final[Mapping[str, Callable[[list[Quantity]], Quantity]]] = {
    "min": lambda found: best(found, min),
    "max": lambda found: best(found, max),
    "ceil": lambda found: found[0].rounded(math.ceil),
    "floor": lambda found: found[0].rounded(math.floor),
}
_UNARY_FUNCTIONS = ("ceil", "floor")
_ALLOWED = "use numbers, names, + - * / **, parentheses, min, max, ceil and floor"


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed formula that contains only arithmetic."""

    text: str
    tree: ast.expr

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the variables that the formula uses."""
        return frozenset(
            node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node.id not in _FUNCTIONS
        )

    def evaluate(self, values: Mapping[str, Quantity]) -> Quantity:
        """Return the formula's value, with the range that follows from the ranges of its variables.

        Raises:
            ValueError: the units do not match, or a result is not a finite number.
            KeyError: a variable has no value.
        """
        return _value(self.tree, values)


@lru_cache(maxsize=256)
def parse(text: str, *, capitals: bool = False) -> Expression:
    """Parse a formula of a record, or with ``capitals`` one of a page, whose names may have capital letters.

    Raises:
        ValueError: the text is not arithmetic, or exceeds a limit; the message names the fault and a remedy.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the formula has more than {MAX_LENGTH} characters; define variables for its parts")
    if not _PLAIN.fullmatch(text):
        raise ValueError(f"the formula contains more than arithmetic; {_ALLOWED}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as a number directly followed by a word
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"the formula cannot be parsed; {_ALLOWED}") from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES or _depth(tree) > MAX_DEPTH:
        raise ValueError(f"the formula has more than {MAX_NODES} parts, or more than {MAX_DEPTH} nested; simplify it")
    _refuse(tree, _NAME_WITH_CAPITALS if capitals else _NAME)
    return Expression(text, tree)


def _depth(tree: ast.expr) -> int:
    """Return the nesting depth, counted level by level, since a tree may be deeper than Python's stack."""
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def _refuse(node: ast.expr, name: re.Pattern[str]) -> None:
    """Check that a syntax tree is arithmetic.

    Raises:
        ValueError: the tree contains something else.
    """
    if isinstance(node, ast.Constant):
        number = node.value
        if isinstance(number, bool) or not isinstance(number, int | float) or not number < _LARGEST:
            raise ValueError(f"a constant is not a finite number; {_ALLOWED}")
    elif isinstance(node, ast.Name):
        if not name.fullmatch(node.id) or node.id in _FUNCTIONS:
            letters = "lower-case letters" if name is _NAME else "letters"
            raise ValueError(f"`{node.id}` is not a valid variable name; use {letters}, digits and underscores")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _refuse(node.operand, name)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        _refuse(node.left, name)
        if not -MAX_POWER <= _exponent(node.right) <= MAX_POWER:
            raise ValueError(f"an exponent is not an integer of at most {MAX_POWER}; write one, or multiply")
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        _refuse(node.left, name)
        _refuse(node.right, name)
    elif isinstance(node, ast.Call):
        _refuse_call(node, name)
    else:
        raise ValueError(f"the formula contains more than arithmetic; {_ALLOWED}")


def _refuse_call(node: ast.Call, name: re.Pattern[str]) -> None:
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    if called not in _FUNCTIONS or node.keywords:
        raise ValueError(f"the formula calls an unknown function; {_ALLOWED}")
    if not node.args or (called in _UNARY_FUNCTIONS and len(node.args) > 1):
        wanted = "one" if called in _UNARY_FUNCTIONS else "at least one"
        raise ValueError(f"`{called}` has {len(node.args)} arguments; pass {wanted}")
    for each in node.args:
        _refuse(each, name)


def _exponent(node: ast.expr) -> int:
    """Return a literal integer exponent; a number above the limit where the node is something else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_exponent(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return MAX_POWER + 1


def _value(node: ast.expr, values: Mapping[str, Quantity]) -> Quantity:
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        return Quantity.of(float(node.value))
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, values)
    if isinstance(node, ast.BinOp):
        left = _value(node.left, values)
        if isinstance(node.op, ast.Pow):
            return left.power(_exponent(node.right))
        return _BINARY[type(node.op)](left, _value(node.right, values))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id]([_value(each, values) for each in node.args])
