"""Headroom: a documentation site whose code runs in tests and whose comparisons rest on recorded measurements.

The public functions are ``compare``, ``comparisons``, ``judge`` and ``load``; each is imported at its first use. The
package's layers, and which may import which, are described in docs/contribute/architecture.md.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["compare", "comparisons", "judge", "load"]

if TYPE_CHECKING:
    from headroom.comparatives import comparisons
    from headroom.maths.statistics import compare
    from headroom.records.tree import load
    from headroom.verdicts.judge import judge
else:
    _MODULES = {
        "compare": "headroom.maths.statistics",
        "comparisons": "headroom.comparatives",
        "judge": "headroom.verdicts.judge",
        "load": "headroom.records.tree",
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
