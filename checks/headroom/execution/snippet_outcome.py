"""What the run of a snippet was worth, judged by how its processes ended."""

import ast
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headroom.execution.isolation import ProcessOutcome
from headroom.execution.script_child import Error, Report
from headroom.records.snippets import Snippet

STDERR_LINES = 30  # of what a failed snippet printed
MESSAGE = 300  # characters of an assertion that are kept
Hub = Literal["stand-in", "real"]
Kind = Literal[
    "stand-in", "time", "memory", "error", "exit", "no report", "deprecation", "empty", "unprinted", "ablation"
]
# What a comment says that its line prints: `# on: {torch.bfloat16}, off: {torch.float32}`.
_PRINTS = re.compile(r"\b(?P<when>on|off): (?P<value>\{[^}]*\}|[\w.+-]+)(?: or (?P<other>[\w.+-]+))?")


@dataclass(frozen=True, slots=True)
class Passed:
    """The script ran to its end and its proof held."""

    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    """Of all its processes together, with the libraries that were loaded for it."""
    device: str
    """``cpu`` or ``cuda``."""
    hub: Hub
    warnings: tuple[str, ...]
    stdout: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """The proof noticed that the technique was taken out: what an ablated run is for."""

    seconds: float
    message: str
    """The assertion that failed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something is wrong with the snippet, or with what it stands on."""

    kind: Kind
    message: str
    """The file, what is wrong, and what to do."""
    stderr: str = ""
    """The end of what it printed there."""


@dataclass(frozen=True, slots=True)
class NotRun:
    """Nothing was started."""

    reason: str


def ranks(snippet: Snippet) -> int:
    """The processes that have to report."""
    return 1 if snippet.header.launch == "python" else int(snippet.header.launch.rpartition(" ")[2])


def judge(snippet: Snippet, outcome: ProcessOutcome, reports: Sequence[Report], hub: Hub) -> Passed | Failed:
    """Whether a run of the script as it is passes.

    Args:
        snippet: what ran.
        outcome: how the process ended that started everything.
        reports: what each rank left, in the order of their ends.
        hub: where the models came from.
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


def judge_ablated(snippet: Snippet, outcome: ProcessOutcome, reports: Sequence[Report]) -> Noticed | Failed:
    """Whether the proof noticed, that is: an ``assert`` of the script itself was the first thing to fail.

    Args:
        snippet: what ran, with its technique taken out.
        outcome: how the process ended that started everything.
        reports: what each rank left, in the order of their ends.
    """
    error = _first(reports)
    fault = _killed(snippet, outcome) or (None if error else _unfinished(snippet, outcome, reports))
    if fault := fault or _unprinted(snippet, outcome, "off"):
        what = fault[2]
    elif error is None:
        what = "all of it passed; assert what the technique does, not that nothing crashed"
    elif error.type != "AssertionError":
        what = f"line {error.line} raised {error.type}: {error.message}; take it out so that the script still runs"
    elif not error.own:
        what = f"the assertion of a library failed ({error.file}:{error.line}: {error.message}); assert in the script"
    elif not (statement := _assertion(snippet.ablated(), error.line)):
        what = f"line {error.line} raised an AssertionError without an `assert`; write the proof as one"
    else:
        return Noticed(outcome.seconds, (error.message or statement)[:MESSAGE])
    message = f"{snippet.path}:1: the proof did not notice that the technique was taken out: {what}"
    return Failed("ablation", message, _end(outcome.stderr))


_Fault = tuple[Kind, int, str]
"""The kind of a failure, the line, what is wrong and what to do."""


def _killed(snippet: Snippet, outcome: ProcessOutcome) -> _Fault | None:
    if outcome.timed_out:
        limit = snippet.header.timeout
        return "time", 1, f"still running after {limit} s; make it smaller, or raise `timeout` in its header"
    if outcome.over_memory:
        return (
            "memory",
            1,
            f"held {outcome.peak_memory_bytes / 2**30:.1f} GiB, more than a snippet may; make it smaller",
        )
    return None


def _unfinished(snippet: Snippet, outcome: ProcessOutcome, reports: Sequence[Report]) -> _Fault | None:
    if error := _first(reports):
        place = "" if error.own else f" (in {error.file})"
        return "error", error.line if error.own else 1, f"{error.type}: {error.message}{place}; correct the script"
    if outcome.exit_code != 0:
        how = signal.Signals(-outcome.exit_code).name if outcome.exit_code < 0 else f"exit code {outcome.exit_code}"
        return "exit", 1, f"ended by {how}; see what it printed"
    if len(reports) < ranks(snippet):
        return "no report", 1, "it left before its last line; do not leave through os._exit"
    return None


def _unsound(reports: Sequence[Report]) -> _Fault | None:
    if texts := [text for report in reports for text in report.deprecations]:
        return "deprecation", 1, f"{texts[0]}; use what replaces it"
    if round(max(report.seconds for report in reports), 3) == 0:
        return "empty", 1, "took 0.000 s; a script that does nothing proves nothing"
    return None


def _unprinted(snippet: Snippet, outcome: ProcessOutcome, when: str) -> _Fault | None:
    """A comment that says what its line prints, where the run has printed no such thing."""
    for number, row in enumerate(snippet.source.splitlines(), 1):
        for match in _PRINTS.finditer(row.partition("  # ")[2]):
            values = [value for value in (match["value"], match["other"]) if value]
            if match["when"] == when and not any(value in outcome.stdout for value in values):
                return "unprinted", number, f"`{match[0]}` was not printed; correct the comment"
    return None


def _assertion(source: str, line: int) -> str:
    """The ``assert`` statement around a line, on one line, or nothing."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return ast.unparse(node)
    return ""


def _first(reports: Sequence[Report]) -> Error | None:
    """The first error: the others of its run follow from it."""
    return next((report.error for report in reports if report.error), None)


def _end(text: str) -> str:
    return "\n".join(text.splitlines()[-STDERR_LINES:])
