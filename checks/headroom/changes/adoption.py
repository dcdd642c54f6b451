"""Check the pack of another machine as a stranger's file, and say what it adds and how the verdicts change.

Nothing is written here. A pack that was edited is refused as a whole; a record that cannot count is refused alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from headroom import __version__
from headroom.changes.differences import VerdictChange, verdict_changes, verdict_rows
from headroom.environment import MachineState
from headroom.execution import hardware_class_draft, lent_pack, machine_record, measurement
from headroom.execution.wanted import measures
from headroom.io import git_history, record_pack, safe_read
from headroom.io.git_history import HistoryError, Revision
from headroom.io.record_pack import PackError
from headroom.records import Session, Tree, load
from headroom.records.machines import Machine
from headroom.records.memory_errors import FOLDER, MemoryErrors, step_path
from headroom.records.pack_manifest import PackManifest, parse_manifest
from headroom.records.paths import run_path
from headroom.records.snippets import SnippetRun
from headroom.verdicts import judge_all
from headroom.verdicts.judge import judge

# Gates that an honest session cannot fail. A session that fails another gate is added, and its verdict is inconclusive.
FORGED = frozenset(
    (
        "wrong_hardware_class",
        "unit_mismatch",
        "repeated_runs",
        "order_not_random",
        "inputs_not_paired",
        "copied_samples",
    )
)


@dataclass(frozen=True, slots=True)
class Adoption:
    """What a pack adds to a tree."""

    manifest: PackManifest
    added: dict[str, str] = field(default_factory=dict)
    """The text of each record to add, by its path."""
    present: tuple[str, ...] = ()
    """The records that the tree has already."""
    refused: dict[str, str] = field(default_factory=dict)
    """Why each other record is refused."""
    verdicts: tuple[VerdictChange, ...] = ()
    draft: str = ""
    """The entry of a hardware class that the tree lacks, as YAML."""


def adoption(root: Path, file: Path) -> Adoption:
    """Return what a pack adds to the tree.

    Raises:
        PackError: the pack is refused as a whole; the message gives the reason.
    """
    files = record_pack.unpack(file)
    manifest = _manifest(files)
    tree = load(root)
    _check_code(tree, manifest)
    if manifest.hardware_class not in tree.classes:
        machine = MachineState(**manifest.environment.model_dump())
        why = f"the tree has no hardware class `{manifest.hardware_class}`"
        return Adoption(manifest, refused=dict.fromkeys(files, why), draft=hardware_class_draft.entry(machine))
    lent = _Lent(tree, manifest.hardware_class, *_loaded(files))
    outcomes = {name: lent.fault(name) for name in files}
    present = tuple(name for name, data in files.items() if _holds(root / name, data))
    added = {name: data.decode() for name, data in files.items() if not outcomes[name] and name not in present}
    refused = {name: why for name, why in outcomes.items() if why and name not in present}
    return Adoption(manifest, added, present, refused, tuple(lent.verdicts(added)))


def _manifest(files: dict[str, bytes]) -> PackManifest:
    """Take the manifest out of a pack's files, and compare it with the others.

    Raises:
        PackError: there is none, it is invalid, or the files are not those that it lists.
    """
    data = files.pop(record_pack.MANIFEST, None)
    if data is None:
        raise PackError("it has no manifest")
    manifest = parse_manifest(data)
    if odd := sorted(files.keys() ^ manifest.files.keys()):
        raise PackError(f"its manifest and its files differ: {odd[0]!a}")
    for name, content in files.items():
        if safe_read.sha256(content) != manifest.files[name]:
            raise PackError(f"{name}: its content is not the one that the manifest lists; it was changed")
    return manifest


def _check_code(tree: Tree, manifest: PackManifest) -> None:
    """Check that the code that measured is known here.

    Raises:
        PackError: it is neither that of this tree nor that of a commit.
    """
    if manifest.code_sha256 == lent_pack.code_sha256(tree.root):
        return
    if manifest.commit is None:
        raise PackError("it names no commit, and its code is not that of this tree; check out the commit that measured")
    for name, sha256 in manifest.changed.items():
        if _sha256_here(tree.root, name) != sha256:
            raise PackError(f"it was measured with another {name!a} than the commit's and this tree's")
    try:
        Revision.of(tree.root, manifest.commit)
    except HistoryError as error:
        raise PackError(f"its commit is unknown, and its code is not that of this tree: {error}") from error


def _sha256_here(root: Path, name: str) -> str | None:
    """Return the hash of a code file of this tree; None if it has no such file."""
    try:
        return safe_read.sha256(safe_read.read_bytes(root / name, root))
    except safe_read.UnreadableError:
        return None


def _loaded(files: Mapping[str, bytes]) -> tuple[Tree, dict[str, str]]:
    """Load a pack's records with the loaders of every tree; return the first problem of each invalid one too."""
    with TemporaryDirectory(prefix="headroom-") as folder:
        root = Path(folder)
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        tree = load(root)
    return tree, {problem.path: f"{problem.message}; {problem.remedy}" for problem in reversed(tree.problems)}


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


@dataclass(frozen=True, slots=True)
class _Lent:
    """The records of a pack, next to the tree that may get them."""

    tree: Tree
    hardware_class: str
    pack: Tree
    invalid: Mapping[str, str]

    def fault(self, name: str) -> str:
        """Return why a record is refused, or an empty string."""
        if (self.tree.root / name).exists():
            return "a file of this name exists with other content, and nothing is overwritten"
        record = self._records().get(name)
        if record is None or name in self.invalid:
            return self.invalid.get(name, "it is no record")
        head = record.head if isinstance(record, Session) else record
        if head.hardware_class != self.hardware_class:
            return f"it is of the hardware class `{head.hardware_class}`, and the pack of `{self.hardware_class}`"
        if head.date > git_history.latest_day(self.tree.root):
            return f"its date, {head.date}, is in the future"
        return self._memory_fault(record, name) if isinstance(record, MemoryErrors) else self._fault_of_its_kind(record)

    def _fault_of_its_kind(self, record: Session | Machine | SnippetRun) -> str:
        if isinstance(record, Session):
            return self._session_fault(record)
        return self._machine_fault(record) if isinstance(record, Machine) else self._run_fault(record)

    def _records(self) -> dict[str, Session | Machine | SnippetRun | MemoryErrors]:
        """Return the records of the pack by their paths."""
        runs = {run_path(run.snippet, run.hardware_class): run for run in self.pack.runs.values()}
        sessions = {session.path: session for session in self.pack.sessions}
        memory = {f"{FOLDER}/{name}.json": each for name, each in self.pack.memory_errors.items()}
        return {**self.pack.machines, **memory, **runs, **sessions}

    def _session_fault(self, session: Session) -> str:
        head = session.head
        if head.benchmark_syntax_sha256 != self.tree.benchmarks.get(head.benchmark):
            return f"its benchmark, `{head.benchmark}`, is another one in this tree, so it would count for nothing"
        if head.harness not in self._harnesses():
            return f"its harness, {head.harness}, is unknown here"
        hardware = self.tree.classes[self.hardware_class]
        claims = [claim for claim in self.tree.measured() if measures(session, claim)]
        reasons = {point.reason for claim in claims for point in judge(claim, session.evidence, hardware).points}
        forged = sorted(FORGED & reasons)
        return f"it fails the gate {', '.join(f'`{gate}`' for gate in forged)}" if forged else ""

    def _harnesses(self) -> set[str]:
        """Return the versions of the harness that this tree knows: its own, those of its sessions and the declared."""
        own = f"{__version__} ({measurement._harness_sha256()[:12]})"  # noqa: SLF001 - a new name would change the hash
        declared = {name for group in self.tree.harness_versions.equivalent for name in group.harness}
        return {own, *declared, *(session.head.harness for session in self.tree.sessions)}

    def _machine_fault(self, machine: Machine) -> str:
        known = {machine_record.harness(), *(each.harness for each in self.tree.machines.values())}
        if machine.harness not in known:
            return f"its harness, {machine.harness}, is unknown here"
        fits = self.tree.classes[self.hardware_class].holds(machine.environment)
        return "" if fits else f"its machine is not of the hardware class `{self.hardware_class}`"

    def _memory_fault(self, record: MemoryErrors, name: str) -> str:
        if (len(record.measured), record.traced, record.published) != (1, (), ()):
            return "it is not one measured step"
        step, hardware = record.measured[0], self.tree.classes[self.hardware_class]
        order = self.tree.measuring_order.memory_of(step.device)
        paths = {step_path(self.hardware_class, each) for each in order.steps} if order else set()
        if name != step_path(self.hardware_class, step) or name not in paths:
            return "checks/facts/measuring-order.yml lists no such step, or its file has another name"
        if record.environment is None or step.device != hardware.device or not hardware.holds(record.environment):
            return f"its machine is not of the hardware class `{self.hardware_class}`"
        sizes = [size for size in (step.measured, step.reserved, step.process) if size is not None]
        return "" if sizes == sorted(sizes) else "its process takes less than PyTorch allocated or reserved"

    def _run_fault(self, run: SnippetRun) -> str:
        snippet = self.tree.snippets.get(run.snippet)
        if snippet is None or snippet.sha256 != run.sha256:
            return f"the snippet `{run.snippet}` is another one in this tree"
        return ""

    def verdicts(self, added: Mapping[str, str]) -> Iterator[VerdictChange]:
        """Yield the verdicts that the added sessions change."""
        new = tuple(session for session in self.pack.sessions if session.path in added)
        sessions = tuple(sorted((*self.tree.sessions, *new), key=lambda session: session.path))
        after = replace(self.tree, sessions=sessions)
        before_rows = verdict_rows(self.tree, judge_all(self.tree))
        return verdict_changes(before_rows, verdict_rows(after, judge_all(after)))


def as_json(found: Adoption) -> dict[str, object]:
    """Return an adoption as JSON values."""
    verdicts = [asdict(change) for change in found.verdicts]
    kept = {"added": sorted(found.added), "present": sorted(found.present), "refused": found.refused}
    return {**kept, "verdicts": verdicts, "manifest": found.manifest.as_written()}
