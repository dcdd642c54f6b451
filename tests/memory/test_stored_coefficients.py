"""The stored polynomials are those that the installed libraries give: of some families' variants, or of all of them.

A third of the families is compared, one variant each. They change with the commit, so that all are compared over time;
`--deep` compares all at once.
"""

import json
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headroom.io.git_history import last_commit
from headroom.memory.families import FAMILIES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Variant = tuple[str, str]


def stored() -> dict[Variant, Any]:
    """Return the stored variants by family and name."""
    texts = {name: (ROOT / f"checks/coefficients/{name}.json").read_text("utf-8") for name in sorted(FAMILIES)}
    return {
        (family, name): variant
        for family, text in texts.items()
        for name, variant in json.loads(text)["variants"].items()
    }


STORED = stored()


def sample(seed: str) -> list[Variant]:
    """Return one variant of each of a third of the families."""
    chosen = random.Random(seed)  # noqa: S311 - a sample, not a secret
    families = chosen.sample(sorted(FAMILIES), len(FAMILIES) // 3)
    return [chosen.choice([each for each in STORED if each[0] == family]) for family in families]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Compare all variants, or a sample."""
    if "variant" in metafunc.fixturenames:
        chosen = [*STORED] if metafunc.config.getoption("deep") else sample(str(last_commit(ROOT)))
        metafunc.parametrize("variant", chosen, ids=" ".join)


@cache
def traced(asked: tuple[Variant, ...]) -> dict[Variant, Any]:
    """Return the variants as a child process traces them."""
    requests = [{"kind": "variant", "family": family, "name": name} for family, name in asked]
    command = [sys.executable, HERE / "trace_in_a_child.py", "-"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, input=json.dumps(requests))
    assert done.returncode == 0, done.stderr
    return dict(zip(asked, json.loads(done.stdout.splitlines()[-1])["answers"], strict=True))


def test_stored_coefficients_are_those_of_the_installed_libraries(
    variant: Variant, request: pytest.FixtureRequest
) -> None:
    """If this fails after an upgrade, run `headroom trace --coefficients` and look at what changed."""
    chosen = [*STORED] if request.config.getoption("deep") else sample(str(last_commit(ROOT)))
    assert traced(tuple(chosen))[variant] == STORED[variant]


def test_a_sample_has_a_third_of_the_families_and_changes_with_the_commit() -> None:
    families = [family for family, _ in sample("a")]
    assert len({*families}) == len(families) == len(FAMILIES) // 3 > 4
    assert sample("a") == sample("a") != sample("b")
    assert len({each for seed in range(1500) for each in sample(str(seed))}) > 0.99 * len(STORED)
