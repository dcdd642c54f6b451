"""Run snippets with and without their technique (ablation), and write run records."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from headroom import environment
from headroom.execution import ablation_rotation, local_hub, script_child
from headroom.execution.isolation import PRELOAD, QUIET, ForkServer, ProcessOutcome
from headroom.execution.snippet_environments import BuiltEnvironments
from headroom.execution.snippet_outcome import AblationDetected, Failed, Hub, NotRun, Passed, judge, judge_ablated
from headroom.io import atomic_write, safe_read
from headroom.records.captured_output import trimmed
from headroom.records.paths import run_path
from headroom.records.snippet_environments import MAKE
from headroom.records.snippets import AblationRun, Snippet, SnippetRun
from headroom.records.tree import Tree

__all__ = ["AblationDetected", "Failed", "NotRun", "Passed", "Runner", "changed", "record", "write"]

LONGEST_BUILD = 600  # seconds; no snippet may run longer, and each build belongs to a snippet
MEMORY_LIMIT = 8 << 30  # bytes that the processes of a snippet may use together


class Runner:
    """Runs the snippets of one tree, each in a process of its own, with the local hub.

    With ``HEADROOM_HUB=real`` in the environment, snippets load the real models through the network.

    Args:
        tree: the tree; its LICENSE is the training text of the stand-ins.
        cache: the folder of the local hub, compiled graphs, compiled extensions and environments, which are built once.
        preload: modules to import before the first snippet.
    """

    def __init__(self, tree: Tree, cache: Path, *, preload: Sequence[str] = PRELOAD) -> None:
        self._tree, self._cache, self._preload = tree, cache, preload
        self._hub: Hub = "real" if os.environ.get("HEADROOM_HUB") == "real" else "stand-in"
        self._environments = BuiltEnvironments(tree.environments, cache)
        self._server: ForkServer | None = None
        self._bare_server: ForkServer | None = None

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
        """Stop the fork servers."""
        for server in filter(None, (self._server, self._bare_server)):
            server.close()
        self._server = self._bare_server = None

    def versions(self, snippet: Snippet) -> Mapping[str, str]:
        """Return the versions of the packages that the snippet's environment pins; none for the main environment."""
        name = snippet.header.environment
        return {} if name is None else self._environments.pinned_versions(name)

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
        return self._other_environment(snippet) if snippet.header.environment else _unmet(snippet, None)

    def _other_environment(self, snippet: Snippet) -> Failed | NotRun | None:
        """Return what the snippet's own environment lacks; in CI, which builds every environment, that is a failure."""
        name = str(snippet.header.environment)
        if not self._environments.is_built(name):
            lack = NotRun(f"needs the environment {name}, which is not built; run `{MAKE}`")
        elif (unmet := _unmet(snippet, self._environments.versions(name))) is None:
            return None
        else:
            lack = unmet
        return Failed("environment", f"{snippet.path}:1: {lack.reason}") if os.environ.get("CI") else lack

    def _execute(self, snippet: Snippet, source: str) -> tuple[ProcessOutcome, list[script_child.Report]]:
        """Run this text under the snippet's name in a temporary folder, and return the outcome and the reports."""
        environment = snippet.header.environment
        if environment:
            server = self._bare_server = self._bare_server or self._start_server(preload=())
        else:
            server = self._server = self._server or self._start_server()
        with tempfile.TemporaryDirectory(prefix="headroom-") as name:
            folders = [Path(name, part).resolve() for part in ("script", "reports", "work")]
            for folder in folders:
                folder.mkdir()
            scripts, reports, work = folders
            file = scripts / Path(snippet.path).name
            file.write_text(source, encoding="utf-8")
            program, *options = snippet.header.launch.split()
            torchrun = options if program == "torchrun" else None
            if environment:
                call: tuple[Any, ...] = (script_child.run_in, str(self._environments.python(environment)), torchrun)
            else:
                call = (script_child.run,) if torchrun is None else (script_child.torchrun, torchrun)
            outcome = server.run(
                *call,
                str(file),
                str(reports),
                timeout=snippet.header.timeout,
                memory_limit=MEMORY_LIMIT,
                cwd=work,
            )
            return outcome, script_child.read(reports)

    def _start_server(self, preload: Sequence[str] | None = None) -> ForkServer:
        preload = self._preload if preload is None else preload
        shared = {**QUIET, **_compilers(self._cache), **_accelerator()}
        if self._hub == "real":
            return ForkServer(shared, preload, offline=False)
        try:
            corpus = safe_read.read_text(self._tree.root / "LICENSE", self._tree.root)
        except safe_read.UnreadableError as error:
            message = f"LICENSE: {error.message}, but the stand-ins are trained on its text; {error.remedy}"
            raise local_hub.HubError(message) from error
        home = local_hub.build(self._tree.stand_ins, self._cache, corpus)
        return ForkServer({**shared, **local_hub.environment(home)}, preload)


def _compilers(cache: Path) -> dict[str, str]:
    """Return the variables with which torch.compile and DeepSpeed compile once per cache folder.

    DeepSpeed calls the program ninja, which pip installs next to this interpreter, so that folder is on PATH, too.
    """
    extensions = (cache / "extensions").resolve()
    for lock in extensions.glob("*/lock"):
        # A build that was killed leaves its lock, and the next one would wait for it forever.
        with suppress(FileNotFoundError):  # the build has just ended
            if time.time() - lock.stat().st_mtime > LONGEST_BUILD:
                lock.unlink()
    return {
        "TORCHINDUCTOR_CACHE_DIR": str((cache / "inductor").resolve()),
        "TORCH_EXTENSIONS_DIR": str(extensions),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }


def _accelerator() -> dict[str, str]:
    """Return the variable that names DeepSpeed's device on a machine without a GPU.

    Accelerate imports DeepSpeed whenever it unwraps a model. Without the variable, DeepSpeed then prints a line with
    the time into each output.
    """
    return {} if _gpus() else {"DS_ACCELERATOR": "cpu"}


def _unmet(snippet: Snippet, versions: Mapping[str, str] | None) -> NotRun | None:
    """Return the requirements of a header that are not met, given the installed versions if not the main ones."""
    unmet = [text for text in snippet.dependencies if not _installed(text, versions)]
    return NotRun(f"needs {', '.join(unmet)}, which is not installed") if unmet else None


def _installed(dependency: str, versions: Mapping[str, str] | None) -> bool:
    """Return whether a requirement of a header is installed; a requirement that cannot be parsed is not."""
    try:
        wanted = Requirement(dependency)
        found = version(wanted.name) if versions is None else versions[canonicalize_name(wanted.name)]
        return wanted.specifier.contains(found, prereleases=True)
    except (InvalidRequirement, PackageNotFoundError, KeyError):
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
    result: Passed,
    ablated: AblationDetected | None,
    snippet: Snippet,
    hardware_class: str,
    date: str,
    pinned: Mapping[str, str] | None = None,
) -> SnippetRun:
    """Return the record of a run that passed on this machine.

    Args:
        result: the run of the unchanged script.
        ablated: the run without the technique, or None if the snippet has no ablation.
        snippet: the snippet that ran.
        hardware_class: the hardware class of this machine.
        date: the day of the run, as YYYY-MM-DD.
        pinned: the versions of the snippet's environment, if it is not the main one.
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
        environment=snippet.header.environment,
        versions={"python": machine.versions["python"], **pinned} if pinned else machine.versions,
        models=dict.fromkeys(snippet.header.models, result.hub),
        warnings=result.warnings,
        ablation=AblationRun(outcome="proof failed", message=ablated.message, seconds=round(ablated.seconds, 3))
        if ablated
        else None,
        output=trimmed(result.stdout) or None,
        runner=ablation_rotation.runner_sha256(),
    )


def write(run: SnippetRun, root: Path) -> Path:
    """Write a run record into the tree, and return its path."""
    path = root / run_path(run.snippet, run.hardware_class)
    absent = {name for name in ("output", "environment") if getattr(run, name) is None}
    atomic_write.write_atomic(path, run.model_dump_json(indent=1, exclude=absent) + "\n")
    return path


def changed(tree: Tree) -> set[str]:
    """Return the ids of the snippets whose present version has no run record from a CPU."""
    on_cpu = {name for name, known in tree.classes.items() if known.device == "cpu"}
    shown = {(run.snippet, run.sha256) for run in tree.runs.values() if run.hardware_class in on_cpu}
    return {snippet.id for snippet in tree.snippets.values() if (snippet.id, snippet.sha256) not in shown}
