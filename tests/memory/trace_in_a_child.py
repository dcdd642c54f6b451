"""Trace what a test asks for, in a process of its own that may import torch, and print it as JSON.

The argument, or stdin if it is ``-``, is a JSON list of requests. A request has a ``kind``: ``job`` traces the
coefficients of a family's probe, ``variant`` those under their stored name, ``peaks`` the memory of a configuration,
``measured`` its memory on this CPU, ``kernels`` the packages whose kernels it lacks.
"""

import json
import resource
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")

from headroom.execution.benchmark_run import MemoryMeter  # noqa: E402
from headroom.memory.families import FAMILIES  # noqa: E402
from headroom.memory.tracing.coefficient_record import variants  # noqa: E402
from headroom.memory.tracing.configurations import configuration_of  # noqa: E402
from headroom.memory.tracing.models import TraceSettings, replaced_kernels  # noqa: E402
from headroom.memory.tracing.peaks import trace  # noqa: E402
from headroom.memory.tracing.probe import probe_job  # noqa: E402
from headroom.memory.tracing.real_step import measured_peak  # noqa: E402


def answer(request: dict[str, Any]) -> Any:
    """Return the answer to a request, or the message of the error that it meets."""
    settings = TraceSettings(**request.get("settings", {}))
    try:
        if request["kind"] == "variant":
            return variants(FAMILIES[request["family"]])[request["name"]]()
        if request["kind"] == "job":
            return probe_job(FAMILIES[request["family"]], settings)
        config = configuration_of(request["config"])
        if request["kind"] == "kernels":
            return replaced_kernels(config)
        if request["kind"] == "measured":
            return measured_peak(config, settings, MemoryMeter("cpu"))
        return {phase: dict(peak.parts) for phase, peak in trace(config, settings).items()}
    except Exception as error:  # noqa: BLE001 - the test says which error it expects
        return {"error": f"{type(error).__name__}: {error}"}


asked = sys.stdin.read() if sys.argv[1] == "-" else sys.argv[1]
answers = [answer(request) for request in json.loads(asked)]
sys.stdout.write(json.dumps({"answers": answers, "rss_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
