"""Judge the run of a snippet: passed, failed with a message, or ablation detected."""

import ast
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headroom.execution.isolation import ProcessOutcome
from headroom.execution.script_child import Error, Report
from headroom.records.snippets import Snippet

STDERR_LINES = 30  # lines of standard error that are kept of a failed snippet
MESSAGE = 300  # characters of an assertion message that are kept
Hub = Literal["stand-in", "real"]
Kind = Literal[
    "stand-in",
    "environment",
    "time",
    "memory",
    "error",
    "exit",
    "no report",
    "deprecation",
    "empty",
    "unprinted",
    "ablation",
]
# A comment on the printed value, with and without the technique: `# on: {torch.bfloat16}, off: {torch.float32}`.
_PRINTS = re.compile(r"\b(?P<when>on|off): (?P<value>\{[^}]*\}|[\w.+-]+)(?: or (?P<other>[\w.+-]+))?")


@dataclass(frozen=True, slots=True)
class Passed:
    """The script ran to its end, and its assertions held."""

    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    """Peak memory of all its processes together, including the preloaded libraries."""
    device: str
    """``cpu`` or ``cuda``."""
    hub: Hub
    warnings: tuple[str, ...]
    stdout: str


@dataclass(frozen=True, slots=True)
class AblationDetected:
    """The ablated run failed by an assertion of the script, as it must."""

    seconds: float
    message: str
    """The assertion that failed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The snippet failed, or cannot run."""

    kind: Kind
    message: str
    """The file, the fault and the remedy."""
    stderr: str = ""
    """The last lines of its standard error."""


@dataclass(frozen=True, slots=True)
class NotRun:
    """The snippet was not started."""

    reason: str


def ranks(snippet: Snippet) -> int:
    """Return the number of processes that must report."""
    return 1 if snippet.header.launch == "python" else int(snippet.header.launch.split()[2])


def judge(snippet: Snippet, outcome: ProcessOutcome, reports: Sequence[Report], hub: Hub) -> Passed | Failed:
    """Judge a run of the unchanged script.

    Args:
        snippet: the snippet that ran.
        outcome: the outcome of the first process.
        reports: the report of each rank, in the order in which they ended.
        hub: the source of the models.
    """
    fault = _killed(snippet, outcome) or _unfinished(snippet, outcome, reports) or _unsound(reports)
    fault = fault or _unprinted(snippet, outcome, "on")
    if fault:
        kind, line, text = fault
        return Failed(kind, f"{snippet.path}:{line}: {text}", _end(outcome.stderr))
    return Passed(
        seconds=outcome.seconds,
        cpu_seconds=outcome.cpu_seconds,
        peak_memory_bytes=outcome.peak_memory_bytes,
        device=reports[0].device,
        hub=hub,
        warnings=tuple(dict.fromkeys(text for report in reports for text in report.warnings)),
        stdout=outcome.stdout,
    )


def judge_ablated(snippet: Snippet, outcome: ProcessOutcome, reports: Sequence[Report]) -> AblationDetected | Failed:
    """Judge a run without the technique: its first error must come from an ``assert`` of the script itself.

    Args:
        snippet: the snippet that ran with its ablation.
        outcome: the outcome of the first process.
        reports: the report of each rank, in the order in which they ended.
    """
    error = _first(reports)
    fault = _killed(snippet, outcome) or (None if error else _unfinished(snippet, outcome, reports))
    if fault := fault or _unprinted(snippet, outcome, "off"):
        what = fault[2]
    elif error is None:
        what = "all assertions passed; assert the effect of the technique"
    elif error.type != "AssertionError":
        what = f"line {error.line} raised {error.type}: {error.message}; choose an ablation that lets the script run"
    elif not error.own:
        what = f"a library's assertion failed ({error.file}:{error.line}: {error.message}); assert in the script"
    elif not (statement := _assertion(snippet.ablated(), error.line)):
        what = f"line {error.line} raised an AssertionError without an `assert`; use an `assert` statement"
    else:
        return AblationDetected(outcome.seconds, (error.message or statement)[:MESSAGE])
    message = f"{snippet.path}:1: the proof did not detect the ablation: {what}"
    return Failed("ablation", message, _end(outcome.stderr))


_Fault = tuple[Kind, int, str]
"""The kind of a failure, its line, and the fault with its remedy."""


def _killed(snippet: Snippet, outcome: ProcessOutcome) -> _Fault | None:
    if outcome.timed_out:
        limit = snippet.header.timeout
        return "time", 1, f"still running after {limit} s; make the script smaller, or raise `timeout` in its header"
    if outcome.over_memory:
        used = f"{outcome.peak_memory_bytes / 2**30:.1f} GiB"
        return "memory", 1, f"used {used} of memory, over the limit of a snippet; make the script smaller"
    return None


def _unfinished(snippet: Snippet, outcome: ProcessOutcome, reports: Sequence[Report]) -> _Fault | None:
    if error := _first(reports):
        place = "" if error.own else f" (in {error.file})"
        return "error", error.line if error.own else 1, f"{error.type}: {error.message}{place}; correct the script"
    if outcome.exit_code != 0:
        how = signal.Signals(-outcome.exit_code).name if outcome.exit_code < 0 else f"exit code {outcome.exit_code}"
        return "exit", 1, f"ended by {how}; its standard error may name the cause"
    if len(reports) < ranks(snippet):
        return "no report", 1, "it ended before its last line; do not call os._exit"
    return None


def _unsound(reports: Sequence[Report]) -> _Fault | None:
    if texts := [text for report in reports for text in report.deprecations]:
        return "deprecation", 1, f"{texts[0]}; use the replacement that the warning names"
    if round(max(report.seconds for report in reports), 3) == 0:
        return "empty", 1, "took 0.000 s, so it ran nothing; write the technique and its proof"
    return None


def _unprinted(snippet: Snippet, outcome: ProcessOutcome, when: str) -> _Fault | None:
    """Return the first `on:` or `off:` comment whose value was not printed."""
    for number, row in enumerate(snippet.source.splitlines(), 1):
        for match in _PRINTS.finditer(row.partition("  # ")[2]):
            values = [value for value in (match["value"], match["other"]) if value]
            if match["when"] == when and not any(value in outcome.stdout for value in values):
                return "unprinted", number, f"the script did not print the value of `{match[0]}`; correct the comment"
    return None


def _assertion(source: str, line: int) -> str:
    """Return the ``assert`` statement that contains a line, written on one line, or an empty string."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return ast.unparse(node)
    return ""


def _first(reports: Sequence[Report]) -> Error | None:
    """Return the first error; the errors of other ranks follow from it."""
    return next((report.error for report in reports if report.error), None)


def _end(text: str) -> str:
    return "\n".join(text.splitlines()[-STDERR_LINES:])
