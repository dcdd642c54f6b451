"""Run a snippet in the child process, as ``python FILE`` would, and report errors and warnings as JSON."""

import json
import logging
import os
import runpy
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

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
    """Run the script under torchrun, with this module as the entry point of each rank."""
    from torch.distributed.run import main  # noqa: PLC0415 - the parent process does not import torch

    package = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    main(["--standalone", *options, "--module", __name__, script, folder])


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


if __name__ == "__main__":
    run(*sys.argv[1:3])
