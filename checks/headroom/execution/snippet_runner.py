"""Run snippets with and without their technique (ablation), and write run records."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from headroom import environment
from headroom.execution import local_hub, script_child
from headroom.execution.isolation import PRELOAD, QUIET, ForkServer, ProcessOutcome
from headroom.execution.snippet_outcome import AblationDetected, Failed, Hub, NotRun, Passed, judge, judge_ablated
from headroom.io import atomic_write, safe_read
from headroom.records.captured_output import trimmed
from headroom.records.paths import run_path
from headroom.records.snippets import AblationRun, Snippet, SnippetRun
from headroom.records.tree import Tree

__all__ = ["AblationDetected", "Failed", "NotRun", "Passed", "Runner", "changed", "record", "write"]

MEMORY_LIMIT = 8 << 30  # bytes that the processes of a snippet may use together


class Runner:
    """Runs the snippets of one tree, each in a process of its own, with the local hub.

    With ``HEADROOM_HUB=real`` in the environment, snippets load the real models through the network.

    Args:
        tree: the tree; its LICENSE is the training text of the stand-ins.
        cache: the folder of the local hub and compiled graphs, which are built once.
        preload: modules to import before the first snippet.
    """

    def __init__(self, tree: Tree, cache: Path, *, preload: Sequence[str] = PRELOAD) -> None:
        self._tree, self._cache, self._preload = tree, cache, preload
        self._hub: Hub = "real" if os.environ.get("HEADROOM_HUB") == "real" else "stand-in"
        self._server: ForkServer | None = None

    def run(self, snippet: Snippet) -> Passed | Failed | NotRun:
        """Run the unchanged script.

        Raises:
            HubError: the local hub cannot be built.
            ForkServerError: the libraries cannot be imported.
        """
        done = self._obstacle(snippet) or self._execute(snippet, snippet.source)
        return done if isinstance(done, Failed | NotRun) else judge(snippet, *done, self._hub)

    def run_ablated(self, snippet: Snippet) -> AblationDetected | Failed | NotRun:
        """Run the script without its technique; one of its assertions must fail.

        Raises:
            HubError: the local hub cannot be built.
            ForkServerError: the libraries cannot be imported.
        """
        done = self._obstacle(snippet) or self._execute(snippet, snippet.ablated())
        return done if isinstance(done, Failed | NotRun) else judge_ablated(snippet, *done)

    def close(self) -> None:
        """Stop the fork server."""
        if self._server:
            self._server.close()
        self._server = None

    def _obstacle(self, snippet: Snippet) -> Failed | NotRun | None:
        """Return the reason why the snippet cannot run here, if there is one."""
        served = {*self._tree.stand_ins.models, *self._tree.stand_ins.datasets}
        unknown = [name for name in (*snippet.header.models, *snippet.header.datasets) if name not in served]
        if unknown and self._hub == "stand-in":
            return Failed(
                "stand-in",
                f"{snippet.path}: there is no stand-in for {', '.join(unknown)}; add it to {local_hub.RECORD}",
            )
        if absent := _absent(snippet.header.needs) if snippet.header.needs else []:
            return NotRun(f"needs {', '.join(absent)}, which this machine lacks")
        unmet = [text for text in snippet.dependencies if not _installed(text)]
        return NotRun(f"needs {', '.join(unmet)}, which is not installed") if unmet else None

    def _execute(self, snippet: Snippet, source: str) -> tuple[ProcessOutcome, list[script_child.Report]]:
        """Run this text under the snippet's name in a temporary folder, and return the outcome and the reports."""
        server = self._server = self._server or self._start_server()
        with tempfile.TemporaryDirectory(prefix="headroom-") as name:
            folders = [Path(name, part).resolve() for part in ("script", "reports", "work")]
            for folder in folders:
                folder.mkdir()
            scripts, reports, work = folders
            file = scripts / Path(snippet.path).name
            file.write_text(source, encoding="utf-8")
            program, *options = snippet.header.launch.split()
            outcome = server.run(
                *((script_child.torchrun, options) if program == "torchrun" else (script_child.run,)),
                str(file),
                str(reports),
                timeout=snippet.header.timeout,
                memory_limit=MEMORY_LIMIT,
                cwd=work,
            )
            return outcome, script_child.read(reports)

    def _start_server(self) -> ForkServer:
        shared = {**QUIET, "TORCHINDUCTOR_CACHE_DIR": str((self._cache / "inductor").resolve())}
        if self._hub == "real":
            return ForkServer(shared, self._preload, offline=False)
        try:
            corpus = safe_read.read_text(self._tree.root / "LICENSE", self._tree.root)
        except safe_read.UnreadableError as error:
            message = f"LICENSE: {error.message}, but the stand-ins are trained on its text; {error.remedy}"
            raise local_hub.HubError(message) from error
        home = local_hub.build(self._tree.stand_ins, self._cache, corpus)
        return ForkServer({**shared, **local_hub.environment(home)}, self._preload)


def _installed(dependency: str) -> bool:
    """Return whether a requirement of a header is installed; a requirement that cannot be parsed is not."""
    try:
        wanted = Requirement(dependency)
        return wanted.specifier.contains(version(wanted.name), prereleases=True)
    except (InvalidRequirement, PackageNotFoundError):
        return False


def _absent(needs: Iterable[str]) -> list[str]:
    """Return the needs that this machine does not meet."""
    sets = set(environment.observe("cpu").instruction_sets)
    gpus = _gpus()
    met = {
        "amx": "amx_bf16" in sets,
        "avx512_bf16": "avx512_bf16" in sets,
        "bf16": gpus > 0 or not sets.isdisjoint({"amx_bf16", "avx512_bf16", "bf16"}),
        "cuda": gpus > 0,
        **{f"cuda:{count}": gpus >= count for count in range(1, 10)},
    }
    return [need for need in needs if not met[need]]


def _gpus() -> int:
    """Return the number of GPUs that nvidia-smi lists; torch would have to be imported for it."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return 0
    done = subprocess.run([tool, "--list-gpus"], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


def record(
    result: Passed, ablated: AblationDetected | None, snippet: Snippet, hardware_class: str, date: str
) -> SnippetRun:
    """Return the record of a run that passed on this machine.

    Args:
        result: the run of the unchanged script.
        ablated: the run without the technique, or None if the snippet has no ablation.
        snippet: the snippet that ran.
        hardware_class: the hardware class of this machine.
        date: the day of the run, as YYYY-MM-DD.
    """
    machine = environment.observe(result.device)
    return SnippetRun(
        snippet=snippet.id,
        sha256=snippet.sha256,
        hardware_class=hardware_class,
        date=date,
        outcome="passed",
        seconds=round(result.seconds, 3),
        peak_memory_bytes=result.peak_memory_bytes,
        device=machine.product,
        versions=machine.versions,
        models=dict.fromkeys(snippet.header.models, result.hub),
        warnings=result.warnings,
        ablation=AblationRun(outcome="proof failed", message=ablated.message, seconds=round(ablated.seconds, 3))
        if ablated
        else None,
        output=trimmed(result.stdout) or None,
    )


def write(run: SnippetRun, root: Path) -> Path:
    """Write a run record into the tree, and return its path."""
    path = root / run_path(run.snippet, run.hardware_class)
    absent = {"output"} if run.output is None else None
    atomic_write.write_atomic(path, run.model_dump_json(indent=1, exclude=absent) + "\n")
    return path


def changed(tree: Tree) -> set[str]:
    """Return the ids of the snippets whose present version has no run record from a CPU."""
    on_cpu = {name for name, known in tree.classes.items() if known.device == "cpu"}
    shown = {(run.snippet, run.sha256) for run in tree.runs.values() if run.hardware_class in on_cpu}
    return {snippet.id for snippet in tree.snippets.values() if (snippet.id, snippet.sha256) not in shown}
