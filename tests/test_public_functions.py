"""The functions that `headroom` itself offers: imported at first use, and the same as in their modules."""

import subprocess
import sys

import pytest

import headroom
from headroom import comparatives
from headroom.maths import statistics
from headroom.memory import estimate as estimating
from headroom.memory import job
from headroom.planner import plan as planning
from headroom.records import tree
from headroom.topology import reader
from headroom.verdicts import judge as judging


@pytest.mark.parametrize(
    ("offered", "implementation"),
    [
        (headroom.compare, statistics.compare),
        (headroom.comparisons, comparatives.comparisons),
        (headroom.estimate, estimating.estimate),
        (headroom.Job, job.Job),
        (headroom.judge, judging),
        (headroom.load, tree.load),
        (headroom.plan, planning.plan),
        (headroom.read_topology, reader.read_topology),
    ],
)
def test_public_function_is_that_of_its_module(offered: object, implementation: object) -> None:
    assert offered is implementation


def test_every_public_name_can_be_imported() -> None:
    assert {name for name in headroom.__all__ if callable(getattr(headroom, name))} == {*headroom.__all__}


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'compares'"):
        getattr(headroom, "compares")  # noqa: B009 - mypy refuses the attribute itself


@pytest.mark.parametrize(("use", "loaded"), [("", []), ("headroom.compare", ["numpy"])])
def test_import_alone_loads_no_library(use: str, loaded: list[str]) -> None:
    code = f"import sys, headroom\n{use}\nprint(*(name for name in ('numpy', 'pydantic') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == loaded
