"""The child's side of a snippet: run the script as ``python FILE`` would, and write down how that ended."""

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
# What `datasets` says whenever it loads from disk what was not downloaded: the local hub's doing, not the snippet's.
_HUB_NOTICES = ("Using the latest cached version of the dataset", "Found the latest cached dataset configuration")


@dataclass(frozen=True, slots=True)
class Error:
    """What ended a script before its last line."""

    type: str
    message: str
    file: str
    """The file of the innermost frame."""
    line: int
    own: bool
    """Whether that file is the script."""


@dataclass(slots=True)
class Report:
    """How one process of a snippet ended."""

    device: str = "cpu"
    seconds: float = 0.0
    ended: float = 0.0
    """On the machine's monotonic clock, so that the processes of one run can be put in order."""
    warnings: list[str] = field(default_factory=list)
    deprecations: list[str] = field(default_factory=list)
    """Those of the warnings that the snippet's author has to act on."""
    error: Error | None = None


def run(script: str, folder: str) -> None:
    """Run the script as the main module, and leave this rank's report in the folder.

    Raises:
        SystemExit: the script failed; its traceback has been printed.
    """
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    report = Report()
    _listen(report, script)
    start = time.monotonic()
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - also SystemExit and KeyboardInterrupt end a script
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
    """Run the script under torchrun, each rank of it through this module."""
    from torch.distributed.run import main  # noqa: PLC0415 - the parent's side of this module goes without torch

    package = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    main(["--standalone", *options, "--module", __name__, script, folder])


def read(folder: Path) -> list[Report]:
    """The reports of a run, one for each process that lived to write one, in the order of their ends."""
    found = []
    for path in folder.glob("*.json"):
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        error = data.pop("error")
        found.append(Report(**data, error=Error(**error) if error else None))
    return sorted(found, key=lambda report: report.ended)


def _error(error: BaseException, script: str) -> Error:
    """What went wrong and where; prints the traceback without the frames that only lead to the script."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace))
    while trace and trace.tb_next:
        trace = trace.tb_next
    file, line = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else (script, 1)
    return Error(type(error).__name__, _line(str(error), script), _line(file, script), line, own=file == script)


def _listen(report: Report, script: str) -> None:
    """Write every warning, and what the libraries log as one, into the report from now on."""
    show = warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], filename: str, *rest: Any, **more: Any) -> None:
        own = issubclass(category, _DEPRECATIONS) and filename == script
        _note(report, f"{category.__name__}: {_line(str(message), script)}", own=own)
        show(message, category, filename, *rest, **more)

    warnings.showwarning = hear
    warnings.simplefilter("default")
    for name in LOGGERS:
        logging.getLogger(name).addHandler(_Ear(report, script))


class _Ear(logging.Handler):
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
    """A text on one line, without control characters and without the folder that this run happened to be in."""
    text = text.replace(f"{Path(script).parent}{os.sep}", "")
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


if __name__ == "__main__":
    run(*sys.argv[1:3])
