"""Pack the new records of a machine into one file, with a manifest of the code and the files."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from headroom.environment import MachineState
from headroom.io import atomic_write, record_pack, safe_read
from headroom.io.git_history import HistoryError, Revision
from headroom.records.evidence import Environment
from headroom.records.memory_errors import FOLDER
from headroom.records.pack_manifest import PackManifest
from headroom.records.paths import record_text, run_path
from headroom.records.tree import Tree

CODE = ("checks/headroom", "checks/benchmarks", "snippets")
"""The folders whose code measures."""
RECORDS = ("checks/evidence", "checks/machines", FOLDER, "checks/runs")


def write(tree: Tree, machine: MachineState, hardware_class: str, path: Path) -> list[str]:
    """Write the pack of this class's new records to a path, and return the names of the packed records.

    New are the records that the commit lacks or that differ from it; without git, all records of the class.

    Raises:
        UnwritableError: the file cannot be written.
    """
    commit = _commit(tree.root)
    names = sorted(_new_records(tree, hardware_class, commit))
    files = {name: (tree.root / name).read_bytes() for name in names}
    manifest = PackManifest(
        format=1,
        commit=commit.commit if commit else None,
        changed={name: _sha256(tree.root / name) for name in commit.touched(*CODE)} if commit else {},
        code_sha256=code_sha256(tree.root),
        hardware_class=hardware_class,
        environment=Environment(**asdict(machine)),
        files={name: safe_read.sha256(data) for name, data in files.items()},
    )
    files[record_pack.MANIFEST] = record_text(manifest).encode()
    atomic_write.write_atomic(path, record_pack.pack(files).decode())  # a pack is UTF-8: JSON, plain names, null bytes
    return names


def code_sha256(root: Path) -> str:
    """Return a hash of all code that measures: the package, the benchmarks and the snippets."""
    files = (file for folder in CODE for file in safe_read.walk(root, folder) if file.name.endswith(".py"))
    return safe_read.sha256("".join(f"{file.name} {_sha256(Path(file.path))}\n" for file in files))


def _commit(root: Path) -> Revision | None:
    try:
        return Revision.of(root, "HEAD")
    except HistoryError:
        return None


def _new_records(tree: Tree, hardware_class: str, commit: Revision | None) -> Iterator[str]:
    new = set(commit.touched(*RECORDS)) if commit else None
    paths = [session.path for session in tree.sessions if session.head.hardware_class == hardware_class]
    paths += [path for path, machine in tree.machines.items() if machine.hardware_class == hardware_class]
    paths += [run_path(snippet, name) for snippet, name in tree.runs if name == hardware_class]
    paths += [
        f"{FOLDER}/{name}.json" for name, each in tree.memory_errors.items() if each.hardware_class == hardware_class
    ]
    return (path for path in paths if new is None or path in new)


def _sha256(path: Path) -> str | None:
    return safe_read.sha256(path.read_bytes()) if path.is_file() else None
