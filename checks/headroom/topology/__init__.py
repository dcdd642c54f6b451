"""Readers of `nvidia-smi topo` and `rocm-smi --showtopo`: links of a box, its faults, and what they mean for training.

The package needs no GPU and no library. `docs/assets/topology/` has the same reader in JavaScript. Both take their
sentences from `sentences.json`.
"""

from headroom.topology.errors import TopologyError
from headroom.topology.model import Topology
from headroom.topology.reader import read_topology
from headroom.topology.report import report

__all__ = ["Topology", "TopologyError", "read_topology", "report"]
