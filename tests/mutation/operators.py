"""Mutants: small changes of a module's syntax tree, each of which a test should notice.

The kinds are the usual ones: a comparison, an operator, a condition, a constant, a result, a statement or an argument
that is another one or gone. Left alone is what no run could tell, or what only people read: types, docstrings,
decorators, and the words of messages (formatted texts, and what errors and problems are made of).
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_PAIRS = (
    ("any", "all"), ("min", "max"), ("startswith", "endswith"), ("removeprefix", "removesuffix"), ("lower", "upper"),
    ("partition", "rpartition"), ("find", "rfind"), ("is_dir", "is_file"),
)  # fmt: skip
_NAMES = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
# What is called with words for people, and, where it is a number, the place of its first argument that is one.
_MESSAGES = {"complain": 2, "Problem": 4, "at": 3, "_in": 3, "_refusal": 2}
_CHECKED = ("Field", "ConfigDict", "StringConstraints")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module."""

    module: str
    """Its dotted name."""
    line: int
    function: str
    """The qualified name of the outermost function that holds the change; empty where importing runs it."""
    before: str
    after: str
    code: Callable[[], CodeType]
    """Compiles the module with the change."""

    def __str__(self) -> str:
        """A name that stays while the lines above it change: module, function and change."""
        return f"{self.module}:{self.function}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place in the tree, and what may stand there instead."""

    parent: ast.AST
    field: str
    index: int | None
    function: str

    def put(self, node: Any) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(module: str, source: str, path: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its lines; two that read alike are told apart by a number."""
    tree = ast.parse(source)
    found: list[Mutant] = []
    times: dict[str, int] = {}
    for slot, node in _slots(tree, ""):
        for other in _others(node, slot):
            after = ast.unparse(other)
            mutant = Mutant(
                module, node.lineno, slot.function, ast.unparse(node), after, _compiled(tree, slot, node, other, path)
            )
            times[str(mutant)] = number = times.get(str(mutant), 0) + 1
            if number > 1:
                mutant = Mutant(module, node.lineno, slot.function, mutant.before, f"{after} #{number}", mutant.code)
            found.append(mutant)
    return found


def _compiled(tree: ast.Module, slot: _Slot, old: ast.AST, new: ast.AST, path: str) -> Callable[[], CodeType]:
    def code() -> CodeType:
        slot.put(ast.fix_missing_locations(ast.copy_location(new, old)))
        try:
            return compile(tree, path, "exec")
        finally:
            slot.put(old)

    return code


def _slots(parent: ast.AST, function: str, scope: str = "") -> Iterator[tuple[_Slot, Any]]:
    """Every statement and expression below a node, outside of what is left alone."""
    for field, value in ast.iter_fields(parent):
        if _left_alone(parent, field):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST) or _is_docstring(child) or _is_message(parent, field, index):
                continue
            inside = function
            if isinstance(parent, ast.FunctionDef) and field == "body" and not function:
                inside = scope
            below = scope
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and not inside:
                below = f"{scope}.{child.name}".lstrip(".")
            if isinstance(child, ast.stmt | ast.expr):
                yield _Slot(parent, field, index, inside), child
            if not isinstance(child, ast.JoinedStr):
                yield from _slots(child, inside, below)


def _left_alone(parent: ast.AST, field: str) -> bool:
    if isinstance(parent, ast.Raise) or (
        isinstance(parent, ast.Subscript) and getattr(parent.value, "id", "") == "Literal"
    ):
        return True
    if isinstance(parent, ast.Assign) and getattr(parent.targets[0], "id", "") == "__all__":
        return True
    if isinstance(parent, ast.AnnAssign) and getattr(parent.annotation, "id", "") == "TypeAlias":
        return True
    return field in ("annotation", "returns", "decorator_list", "bases") or (
        isinstance(parent, ast.ExceptHandler) and field == "type"
    )


def _is_message(parent: ast.AST, field: str, index: int | None) -> bool:
    """Whether an argument is made of words for people."""
    if not isinstance(parent, ast.Call):
        return False
    name = _called(parent)
    if name.endswith("Error"):
        return True
    return name in _MESSAGES and field == "args" and index is not None and index >= _MESSAGES[name]


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _others(node: Any, slot: _Slot) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    yield from _KINDS.get(type(node), lambda _: iter(()))(node)
    if isinstance(node, ast.expr) and slot.field == "test" and not isinstance(node, ast.Constant):
        yield ast.Constant(value=False)
        if not isinstance(slot.parent, ast.While):
            yield ast.Constant(value=True)
    if isinstance(node, ast.expr) and slot.field == "ifs":
        yield ast.Constant(value=True)


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for i, op in enumerate(node.ops):
        for other in _COMPARED[type(op)]:
            yield ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators)


def _arithmetic(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in _COMPUTED:
        yield ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)


def _boolean(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _unary(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.Not | ast.USub):
        yield node.operand


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, float):
        yield ast.Constant(value / 2 if value else 1.0)
    elif isinstance(value, str):
        yield ast.Constant("" if value else "x")


def _result(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is None:
        yield ast.Pass()
    elif not (isinstance(node.value, ast.Constant) and not node.value.value):
        yield ast.Return(ast.Constant(None))


def _gone(_node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


def _stored(node: ast.Assign) -> Iterator[ast.AST]:
    if all(isinstance(target, ast.Subscript | ast.Attribute) for target in node.targets):
        yield ast.Pass()


def _call(node: ast.Call) -> Iterator[ast.AST]:
    name, args = _called(node), node.args
    if name in _NAMES:
        swapped = _NAMES[name]
        func = ast.Name(swapped) if isinstance(node.func, ast.Name) else ast.Attribute(node.func.value, swapped)
        func.ctx = ast.Load()
        yield ast.Call(func, args, node.keywords)
    for i in range(len(args) - 1):
        if name not in _MESSAGES and ast.dump(args[i]) != ast.dump(args[i + 1]):
            yield ast.Call(node.func, [*args[:i], args[i + 1], args[i], *args[i + 2 :]], node.keywords)
    for i in range(len(node.keywords)) if name[:1].islower() or name in _CHECKED else ():
        yield ast.Call(node.func, args, node.keywords[:i] + node.keywords[i + 1 :])


_KINDS: dict[type[ast.AST], Callable[[Any], Iterator[ast.AST]]] = {
    ast.Compare: _compare,
    ast.BinOp: _arithmetic,
    ast.AugAssign: _gone,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.Constant: _constant,
    ast.Return: _result,
    ast.Raise: _gone,
    ast.Continue: _gone,
    ast.Expr: _gone,
    ast.Assign: _stored,
    ast.Call: _call,
}
