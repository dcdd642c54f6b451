"""Run a snippet in the child process, as ``python FILE`` would, and report errors and warnings as JSON."""

import json
import logging
import os
import runpy
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headroom.execution import network_block

LOGGERS = ("transformers", "accelerate", "datasets")
MAX_WARNING = 300  # characters of one warning that are kept
_DEPRECATIONS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
# `datasets` logs these when it loads rows from disk that it did not download, as the local hub's always are.
_HUB_NOTICES = ("Using the latest cached version of the dataset", "Found the latest cached dataset configuration")


@dataclass(frozen=True, slots=True)
class Error:
    """The exception that ended a script."""

    type: str
    message: str
    file: str
    """The file of the innermost frame."""
    line: int
    own: bool
    """Whether this file is the script itself."""


@dataclass(slots=True)
class Report:
    """How one process of a snippet ended."""

    device: str = "cpu"
    seconds: float = 0.0
    ended: float = 0.0
    """Time of the end on the machine's monotonic clock, which orders the processes of one run."""
    warnings: list[str] = field(default_factory=list)
    deprecations: list[str] = field(default_factory=list)
    """The warnings that the snippet's author must fix."""
    error: Error | None = None


def run(script: str, folder: str) -> None:
    """Run the script as the main module, and write this rank's report to the folder.

    Raises:
        SystemExit: the script failed; its traceback is on standard error.
    """
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    report = Report()
    _collect_warnings(report, script)
    start = time.monotonic()
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt also end a script
        if not (isinstance(error, SystemExit) and not error.code):
            report.error = _error(error, script)
    report.ended = time.monotonic()
    report.seconds = report.ended - start
    torch = sys.modules.get("torch")
    report.device = "cuda" if torch and torch.cuda.is_initialized() else "cpu"
    Path(folder, f"{os.environ.get('RANK', '0')}.json").write_text(json.dumps(asdict(report)), encoding="utf-8")
    if report.error:
        raise SystemExit(1)


def torchrun(options: Sequence[str], script: str, folder: str) -> None:
    """Run the script under torchrun, whose agent forks the ranks from this process and its imported libraries."""
    from torch.distributed.run import main  # noqa: PLC0415 - the parent process does not import torch

    # With --run-path the agent starts a function, not a program, so that it can fork. The function runs this module.
    main(["--standalone", "--start-method", "fork", *options, "--run-path", __file__, script, folder])


def run_in(python: str, options: Sequence[str] | None, script: str, folder: str) -> None:
    """Replace this process by the interpreter of another environment, which then calls ``run`` or ``torchrun``.

    That environment has none of this package's dependencies, and needs none: what it imports of headroom uses the
    standard library alone. ``-P`` keeps the working directory off its import path.
    """
    call = f"script_child.torchrun({list(options)!r}, *sys.argv[1:])" if options else "script_child.run(*sys.argv[1:])"
    blocked = f"network_block.close({network_block.Kind.AUDIT_HOOK.value!r})" if "HF_HUB_OFFLINE" in os.environ else ""
    lines = (
        f"import sys; sys.path.append({str(Path(__file__).parents[2])!r})",
        "from headroom.execution import network_block, script_child",
        blocked,  # a network namespace outlives the change of interpreters, an audit hook does not
        call,
    )
    os.execv(python, [python, "-P", "-c", "\n".join(lines), script, folder])  # noqa: S606 - an environment of the tree


def read(folder: Path) -> list[Report]:
    """Return the reports of a run, in the order in which the processes ended; a killed process leaves none."""
    found = []
    for path in folder.glob("*.json"):
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        error = data.pop("error")
        found.append(Report(**data, error=Error(**error) if error else None))
    return sorted(found, key=lambda report: report.ended)


def _error(error: BaseException, script: str) -> Error:
    """Return the error with its location, and print its traceback without the frames above the script."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace))
    while trace and trace.tb_next:
        trace = trace.tb_next
    file, line = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else (script, 1)
    return Error(type(error).__name__, _line(str(error), script), _line(file, script), line, own=file == script)


def _collect_warnings(report: Report, script: str) -> None:
    """From now on, add every Python warning and every warning that the libraries log to the report."""
    show = warnings.showwarning

    def record(message: Warning | str, category: type[Warning], filename: str, *rest: Any, **more: Any) -> None:
        own = issubclass(category, _DEPRECATIONS) and filename == script
        _note(report, f"{category.__name__}: {_line(str(message), script)}", own=own)
        show(message, category, filename, *rest, **more)

    warnings.showwarning = record
    warnings.simplefilter("default")
    for name in LOGGERS:
        logging.getLogger(name).addHandler(_ReportHandler(report, script))


class _ReportHandler(logging.Handler):
    def __init__(self, report: Report, script: str) -> None:
        super().__init__(logging.WARNING)
        self.report, self.script = report, script

    def emit(self, record: logging.LogRecord) -> None:
        message = _line(record.getMessage(), self.script)
        if not message.startswith(_HUB_NOTICES):
            _note(self.report, f"{record.name}: {message}", own=False)


def _note(report: Report, text: str, *, own: bool) -> None:
    lists = [report.warnings]
    if own or "deprecated" in text.lower():
        lists.append(report.deprecations)
    for texts in lists:
        if text[:MAX_WARNING] not in texts:
            texts.append(text[:MAX_WARNING])


def _line(text: str, script: str) -> str:
    """Return a text on one line, without control characters and without this run's temporary folder."""
    text = text.replace(f"{Path(script).parent}{os.sep}", "")
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def reset_signals() -> None:
    """Handle signals as a newly started program does; a forked rank inherits the handlers of torchrun's agent."""
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(name, signal.default_int_handler if name is signal.SIGINT else signal.SIG_DFL)


if __name__ == "__main__":
    reset_signals()
    run(*sys.argv[1:3])
