"""What the sessions of a folder said when they were heard before, kept by all that it follows from."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from headroom.cache import Cache
from headroom.files import sha256
from headroom.records.base import from_json, restored, to_json
from headroom.records.evidence import Design, Environment, Failure, Head
from headroom.records.sessions import Folder, Measured, Session
from headroom.records.tree import Tree
from headroom.verdicts.judge import PointVerdict, SessionVerdict


class Said(NamedTuple):
    """What one session says."""

    verdicts: Mapping[str, SessionVerdict | None]
    """By the claims that it speaks for; None where it does not count."""
    deviations: list[float]
    """How far its baselines are from themselves."""


Heard = list[tuple[Session, Said]]


class Memory:
    """The folders of a cache. It is asked about one tree."""

    def __init__(self, cache: Cache, tree: Tree) -> None:
        self._cache, self._tree = cache, tree

    def recall(self, folder: Folder) -> Heard | None:
        """What the sessions of a folder said, if neither they nor their claims, class or benchmark have changed."""
        key = self._key(folder) if self._cache.holds else None  # to know the key, a folder must be read
        kept = self._cache.get(*key) if key else None
        if kept is None:
            return None
        environments, rows = from_json(kept)
        machines = [Environment.model_validate(each) for each in environments]
        sessions = folder.restored([(_head(head, machines), _measured(found)) for head, found, _, _ in rows])
        return [(session, _said(*row[2:])) for session, row in zip(sessions, rows, strict=True)]

    def keep(self, folder: Folder, heard: Heard) -> None:
        """Keep what the sessions of a folder said."""
        if key := self._key(folder):
            folder.remember()
            self._cache.put(_dumps(heard), *key)

    def _key(self, folder: Folder) -> tuple[str, str] | None:
        files = folder.sha256
        benchmark = self._tree.benchmarks.get(folder.benchmark, "")
        claims = self._claims.get(folder.benchmark, "")
        return ("heard", sha256(f"{files} {benchmark} {claims} {self._classes}")) if files else None

    @cached_property
    def _claims(self) -> Mapping[str, str]:
        """The hashes of the claims of each benchmark."""
        found: dict[str, list[str]] = {}
        for claim in self._tree.measured():
            found.setdefault(claim.benchmark, []).append(self._tree.documents.sha256(self._tree.claim_paths[claim.id]))
        return {name: sha256(" ".join(each)) for name, each in found.items()}

    @cached_property
    def _classes(self) -> str:
        """A hash of the hardware classes, and of what machines were seen to reach, which bounds them."""
        return sha256(to_json([self._tree.classes, self._tree.machines]))


def _dumps(heard: Heard) -> bytes:
    """What was said, as text on one line. Most sessions of a folder are of one machine, which is written once."""
    machines: dict[bytes, int] = {}
    rows = []
    for session, said in heard:
        machine = machines.setdefault(to_json(session.head.environment), len(machines))
        head = dict(session.head) | {"environment": machine}
        rows.append([head, list(session.measured), _plain(said.verdicts), said.deviations])
    return to_json([[from_json(machine) for machine in machines], rows])


def _head(fields: dict[str, Any], machines: list[Environment]) -> Head:
    """The head of a session. It was validated when it was read, so nothing is validated again."""
    fields["environment"] = machines[fields["environment"]]
    fields["design"] = restored(Design, fields["design"])
    fields["failures"] = tuple(map(Failure.model_validate, fields["failures"]))
    return restored(Head, fields)


def _measured(rows: Iterable[Any]) -> frozenset[Measured]:
    return frozenset([(metric, arm, tuple(map(tuple, at))) for metric, arm, at in rows])


def _plain(verdicts: Mapping[str, SessionVerdict | None]) -> dict[str, Any]:
    names = PointVerdict.__slots__
    return {
        claim: found and [found.verdict, found.reason, [[getattr(at, name) for name in names] for at in found.points]]
        for claim, found in verdicts.items()
    }


def _said(verdicts: Mapping[str, Any], deviations: list[float]) -> Said:
    return Said({claim: found and _verdict(*found) for claim, found in verdicts.items()}, deviations)


def _verdict(verdict: Any, reason: str, points: Iterable[Any]) -> SessionVerdict:
    return SessionVerdict(verdict, reason, tuple([_point(*fields) for fields in points]))


def _point(*fields: Any) -> PointVerdict:
    *plain, baseline, subject, control = fields
    return PointVerdict(*plain, tuple(baseline), tuple(subject), tuple(control))  # type: ignore[call-arg]
