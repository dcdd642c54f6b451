"""Find loose tolerances in proofs, however they are written."""

import ast

import pytest

from headroom.records.tolerances import loose_tolerances


@pytest.mark.parametrize(
    "proof",
    [
        *("torch.allclose(a, b, atol=0.5)", "torch.allclose(a, b, 0.5)", "torch.isclose(a, b, 1e-5, 0.5)"),
        *("torch.testing.assert_close(a, b, rtol=5e-1, atol=0)", "math.isclose(a, b, rel_tol=1 / 2)"),
        *("a == pytest.approx(b, 0.5)", "a == pytest.approx(b, rel=0.5)", "a == pytest.approx(b, abs=0.5)"),
        *("abs(a - b) / b < 0.5", "abs(a / b - 1) <= 0.5", "abs(a - b) < 0.5 * b", "(a - b).abs() / b < 0.5"),
        *("torch.allclose(a, b, atol=LOOSE)", "abs(a / b - 1) < LOOSE", "abs(a - b) < b * LOOSE"),
    ],
)
def test_a_loose_tolerance_is_found(proof: str) -> None:
    """By keyword, by position, by name, and as a relative difference."""
    assert [line for line, _ in loose_tolerances(ast.parse(f"LOOSE = 0.5\nassert {proof}\n"))] in ([2], [1])


@pytest.mark.parametrize(
    "proof",
    [
        *("torch.allclose(a, b, atol=0.1)", "torch.allclose(a, b)", "math.isclose(a, b, rel_tol=1e-9)"),
        *("a == pytest.approx(b)", "abs(a / b - 1) < 0.04", "abs(a - b) < 1e-4 * b", "abs(a - b) < 2**16"),
        *("a / b < 0.5", "a < 0.5 * b", "abs(a - b) > 0.5 * b", "torch.allclose(a, b, atol=tolerance)"),
    ],
)
def test_a_tight_or_absolute_tolerance_passes(proof: str) -> None:
    assert list(loose_tolerances(ast.parse(f"assert {proof}\n"))) == []
