"""The launcher: what a run of a session reports, and what its process adds."""

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
REQUEST = {"arm": "plain", "metrics": ["step_time"]}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """What a process is to do, without torch."""
    made = SimpleNamespace(run=lambda *_: None)
    monkeypatch.setitem(sys.modules, "headroom.execution.benchmark_run", made)
    monkeypatch.setattr("headroom.execution.benchmark_run", made, raising=False)
    return made.run


def launched(work: Callable[..., object], request: Any = REQUEST, *, report: bool = True, **outcome: Any) -> Any:
    """What the launcher makes of a process that ended so."""

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
def test_a_report_says_what_else_the_machine_did(work: Callable[..., object], share: float | None) -> None:
    """Or that the system does not say."""
    assert launched(work, others_cpu=share) == {**REPORT, "others_cpu": share}


def test_the_memory_of_the_process_is_added_where_it_is_asked_for(work: Callable[..., object]) -> None:
    """Its parent has measured it."""
    found = launched(work, {**REQUEST, "metrics": ["step_time", "peak_rss"]})
    assert found["samples"] == {"step_time": [0.5], "peak_rss": [7.0]}


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ({"stderr": "Traceback\nValueError: no such arm\n"}, "the run failed: ValueError: no such arm"),
        ({"timed_out": True}, "the run timed out: it said nothing"),
        ({"over_memory": True}, "the run ran out of memory: it said nothing"),
    ],
)
def test_a_run_without_a_report_has_failed(work: Callable[..., object], outcome: dict[str, Any], why: str) -> None:
    """With the last thing that it said."""
    with pytest.raises(RunFailedError, match=why):
        launched(work, report=False, **outcome)
