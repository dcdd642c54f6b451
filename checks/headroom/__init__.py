"""Headroom: a documentation site whose code runs in tests and whose comparisons rest on recorded measurements.

The public names are ``compare``, ``comparisons``, ``estimate``, ``Job``, ``judge``, ``load``, ``plan`` and
``read_topology``; each is imported at its first use. The package's layers, and which may import which, are described in
docs/contribute/architecture.md.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Job", "compare", "comparisons", "estimate", "judge", "load", "plan", "read_topology"]

if TYPE_CHECKING:
    from headroom.comparatives import comparisons
    from headroom.maths.statistics import compare
    from headroom.memory.estimate import estimate
    from headroom.memory.job import Job
    from headroom.planner.plan import plan
    from headroom.records.tree import load
    from headroom.topology.reader import read_topology
    from headroom.verdicts.judge import judge
else:
    _MODULES = {
        "Job": "headroom.memory.job",
        "compare": "headroom.maths.statistics",
        "comparisons": "headroom.comparatives",
        "estimate": "headroom.memory.estimate",
        "judge": "headroom.verdicts.judge",
        "load": "headroom.records.tree",
        "plan": "headroom.planner.plan",
        "read_topology": "headroom.topology.reader",
    }

    def __getattr__(name: str) -> object:
        """Import a public function at its first use.

        Raises:
            AttributeError: the package has no such attribute.
        """
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - needed only here

        return getattr(import_module(_MODULES[name]), name)
