"""Test the launcher of benchmark runs: reports, added memory, and failures."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headroom.execution import measurement
from headroom.execution.measurement import RunFailedError

REPORT = {"samples": {"step_time": [0.5]}, "output": 1.0, "work_sha256": "0" * 64, "flops": 1e9}
REQUEST = {"arm": "plain", "point": {"layers": 2}, "metrics": ["step_time"]}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """Replace the benchmark runner, so that torch is not imported."""
    made = SimpleNamespace(run=lambda *_: None)
    for name in ("benchmark_run", "rank_processes"):
        monkeypatch.setitem(sys.modules, f"headroom.execution.{name}", made)
        monkeypatch.setattr(f"headroom.execution.{name}", made, raising=False)
    return made.run


def launched(work: Callable[..., object], request: Any = REQUEST, *, report: bool = True, **outcome: Any) -> Any:
    """Return the launcher's report for a process that ended with this outcome."""

    def run(called: Callable[..., object], script: str, asked: Any, result: str, **limits: Any) -> Any:
        assert called is work
        assert (script, asked) == (str(Path("bench.py").resolve()), request)
        assert Path(result).parent == limits["cwd"]
        if report:
            Path(result).write_text(json.dumps(REPORT), "utf-8")
        ended = {"others_cpu": 0.25, "stderr": "", "timed_out": False, "over_memory": False, "peak_memory_bytes": 7}
        return SimpleNamespace(**{**ended, **outcome})

    return measurement.launcher(run)(Path("bench.py"), request)


@pytest.mark.parametrize("share", [0.25, None])
def test_report_includes_the_cpu_share_of_other_processes(work: Callable[..., object], share: float | None) -> None:
    assert launched(work, others_cpu=share) == {**REPORT, "others_cpu": share}


def test_peak_rss_is_added_if_requested(work: Callable[..., object]) -> None:
    found = launched(work, {**REQUEST, "metrics": ["step_time", "peak_rss"]})
    assert found["samples"] == {"step_time": [0.5], "peak_rss": [7.0]}


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ({"stderr": "Traceback\nValueError: no such arm\n"}, "the run failed: ValueError: no such arm"),
        ({"timed_out": True}, "the run timed out: no error message"),
        ({"over_memory": True}, "the run ran out of memory: no error message"),
    ],
)
def test_run_without_a_report_fails_with_the_last_line_of_stderr(
    work: Callable[..., object], outcome: dict[str, Any], why: str
) -> None:
    with pytest.raises(RunFailedError, match=why):
        launched(work, report=False, **outcome)
