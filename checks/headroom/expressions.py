"""Formulas as strangers wrote them: a little arithmetic with units, evaluated by hand and never run as Python.

Numbers, names, ``+ - * /``, ``**`` with a small whole exponent, parentheses, ``min``, ``max``, ``ceil`` and ``floor``.
Everything else is refused when the formula is read, so that nothing can run, hang, or need more than a little memory.
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

from headroom.quantities import Quantity, best

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
_OF_ONE = ("ceil", "floor")
_ALLOWED = "use numbers, names, + - * / **, parentheses, min, max, ceil and floor"


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula that was read, and holds nothing but arithmetic."""

    text: str
    tree: ast.expr

    @property
    def names(self) -> frozenset[str]:
        """The variables that it uses."""
        return frozenset(
            node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node.id not in _FUNCTIONS
        )

    def evaluate(self, values: Mapping[str, Quantity]) -> Quantity:
        """What it comes to, with the range that follows from the ranges of its variables.

        Raises:
            ValueError: units do not fit one another, or a result is no finite number.
            KeyError: a variable has no value.
        """
        return _value(self.tree, values)


@lru_cache(maxsize=256)
def parse(text: str, *, capitals: bool = False) -> Expression:
    """A formula as a record writes it, or a page, whose names may have capital letters.

    Raises:
        ValueError: it is no arithmetic, or larger than a formula has to be; the message says what and what to do.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the formula has more than {MAX_LENGTH} characters; give its parts names of their own")
    if not _PLAIN.fullmatch(text):
        raise ValueError(f"the formula holds more than arithmetic; {_ALLOWED}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a number that runs into a word, say
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"the formula cannot be read; {_ALLOWED}") from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES or _depth(tree) > MAX_DEPTH:
        raise ValueError(f"the formula has more than {MAX_NODES} parts, or {MAX_DEPTH} within one another; simplify it")
    _refuse(tree, _NAME_WITH_CAPITALS if capitals else _NAME)
    return Expression(text, tree)


def _depth(tree: ast.expr) -> int:
    """How many parts lie within one another; counted level by level, since a tree may be deeper than the stack."""
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def _refuse(node: ast.expr, name: re.Pattern[str]) -> None:
    """Look for anything but arithmetic.

    Raises:
        ValueError: there is some.
    """
    if isinstance(node, ast.Constant):
        number = node.value
        if isinstance(number, bool) or not isinstance(number, int | float) or not number < _LARGEST:
            raise ValueError(f"a constant that is no finite number; {_ALLOWED}")
    elif isinstance(node, ast.Name):
        if not name.fullmatch(node.id) or node.id in _FUNCTIONS:
            letters = "small letters" if name is _NAME else "letters"
            raise ValueError(f"`{node.id}` is no name of a variable; write {letters}, digits and underscores")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _refuse(node.operand, name)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        _refuse(node.left, name)
        if not -MAX_POWER <= _exponent(node.right) <= MAX_POWER:
            raise ValueError(f"a power that is no whole number up to {MAX_POWER}; write one, or a product")
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        _refuse(node.left, name)
        _refuse(node.right, name)
    elif isinstance(node, ast.Call):
        _refuse_call(node, name)
    else:
        raise ValueError(f"the formula holds more than arithmetic; {_ALLOWED}")


def _refuse_call(node: ast.Call, name: re.Pattern[str]) -> None:
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    if called not in _FUNCTIONS or node.keywords:
        raise ValueError(f"the formula calls something; {_ALLOWED}")
    if not node.args or (called in _OF_ONE and len(node.args) > 1):
        wanted = "one" if called in _OF_ONE else "at least one"
        raise ValueError(f"`{called}` of {len(node.args)} values; give it {wanted}")
    for each in node.args:
        _refuse(each, name)


def _exponent(node: ast.expr) -> int:
    """A whole number that is written out; one beyond all bounds where it is none."""
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
