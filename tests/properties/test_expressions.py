"""Property tests of formulas: never executed, never slow, and equal to a reference."""

import contextlib
import math
import operator
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headroom.maths import expressions
from headroom.maths.quantities import Quantity

# A tree of a formula is a number, a name, or an operation with its operands.
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
CALLS: dict[str, Callable[..., float]] = {"min": min, "max": max, "ceil": math.ceil, "floor": math.floor}
NUMBERS = st.integers(0, 1000) | st.floats(0.001, 1000).map(lambda number: round(number, 3))
NAMES = {"a": 2.5, "b": -3.0, "c": 7.0}
TREES = st.recursive(
    NUMBERS | st.sampled_from([*NAMES]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([*BINARY]), inner, inner),
        st.tuples(st.just("**"), inner, st.integers(-4, 4)),
        st.tuples(st.just("neg"), inner),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner),
        st.tuples(st.sampled_from(["ceil", "floor"]), inner),
    ),
    max_leaves=12,
)


def written(tree: Any) -> str:
    """Return a tree as a formula."""
    if not isinstance(tree, tuple):
        return str(tree)
    name, *inner = tree
    if name == "neg":
        return f"(-{written(inner[0])})"
    if name in CALLS:
        return f"{name}({', '.join(map(written, inner))})"
    return f"({written(inner[0])} {name} {written(inner[1])})"


def reference(tree: Any) -> float:
    """Evaluate a tree with Python; reject examples with huge or tiny numbers."""
    if not isinstance(tree, tuple):
        return NAMES[tree] if isinstance(tree, str) else float(tree)
    name, *inner = tree
    if name == "neg":
        found = -reference(inner[0])
    elif name == "**":
        product = math.prod([reference(inner[0])] * abs(inner[1]), start=1.0)
        found = 1 / product if inner[1] < 0 else product
    else:
        found = float({**BINARY, **CALLS}[name](*map(reference, inner)))
    assume(found == 0 or 1e-50 < abs(found) < 1e50)
    return found


@given(TREES)
def test_a_formula_has_exactly_the_references_value(tree: Any) -> None:
    """Both refuse a division by zero."""
    text = written(tree)
    assume(len(text) <= expressions.MAX_LENGTH)
    formula = expressions.parse(text)
    values = {name: Quantity.of(value) for name, value in NAMES.items()}
    try:
        expected = reference(tree)
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="division by zero"):
            formula.evaluate(values)
        return
    found = formula.evaluate(values)
    assert found.value == expected
    slack = 1e-9 * max(abs(found.low), abs(found.high), 1)
    assert found.low - slack <= found.value <= found.high + slack


PIECES = st.sampled_from(
    ["a", "b", "1", "9", "1e9", "**", "*", "/", "+", "-", "(", ")", ",", "min", "max", "ceil", "floor", " ", ".", "_",
     "lambda", "if", "else", "for", "in", "import", "__import__", "0x", "1_0", "not", "is", "await", "yield"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=120).map("".join) | st.text(max_size=500))
def test_any_text_is_parsed_or_refused_quickly(text: str) -> None:
    """It raises only ValueError, runs nothing, and computes no large power."""
    began = time.process_time()
    with contextlib.suppress(ValueError, KeyError):
        expressions.parse(text).evaluate(dict.fromkeys("ab", Quantity.of(3.0)))
    assert time.process_time() - began < 2
