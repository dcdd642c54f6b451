"""A folder with the memory polynomials of Llama."""

from pathlib import Path

import pytest

import llama_coefficients

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project's folder with one coefficient file."""
    return llama_coefficients.write(tmp_path_factory.mktemp("memory"), ROOT / "checks/facts/card-memory.yml")
