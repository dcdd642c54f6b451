"""What all tests share: the modules beside this file, and `--deep`, the long form of what has a short one.

Under `--import-mode=importlib` no folder of tests is on the path.
"""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--deep`."""
    parser.addoption("--deep", action="store_true", help="the long form of tests that have a short one")


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
