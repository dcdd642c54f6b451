"""What all tests share: the modules beside this file, and `--deep`, the long form of what has a short one.

Under `--import-mode=importlib` no folder of tests is on the path.
"""

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

sys.path.append(str(Path(__file__).parent))


# Whoever has checked the clean tree by hand has left a cache there, which no copy of it is to have.
shutil.rmtree(Path(__file__).parent / "rule_cases/clean/.cache", ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--deep`."""
    parser.addoption("--deep", action="store_true", help="the long form of tests that have a short one")


def pytest_configure(config: pytest.Config) -> None:
    """Try properties on the same examples every time: few, or with `--deep` many; nothing is kept in the folder."""
    set_hypothesis_home_dir(Path(__file__).parents[1] / ".cache" / "hypothesis")
    settings.register_profile("short", derandomize=True, database=None, deadline=None, max_examples=50)
    settings.register_profile("deep", settings.get_profile("short"), max_examples=2000)
    settings.load_profile("deep" if config.getoption("deep") else "short")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes minutes, unless it is asked for."""
    if config.getoption("deep"):
        return
    left_out = [item for item in items if item.get_closest_marker("deep")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def deep(pytestconfig: pytest.Config) -> bool:
    """Whether the long form is asked for."""
    return bool(pytestconfig.getoption("deep"))
