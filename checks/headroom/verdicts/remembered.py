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


Told = list[tuple[Session, Said]]
"""What the sessions of a folder say, in order."""


class Memory:
    """What a cache knows of the folders of one tree."""

    def __init__(self, cache: Cache, tree: Tree) -> None:
        self._cache, self._tree = cache, tree

    def recall(self, folder: Folder) -> Told | None:
        """What the sessions of a folder said, if nothing has changed since that it follows from.

        That is they, their benchmark, its claims, the hardware classes, and what machines can do.
        """
        key = self._key(folder) if self._cache.holds else None  # to know the key, a folder must be read
        kept = self._cache.get(*key) if key else None
        if kept is None:
            return None
        environments, rows = from_json(kept)
        machines = [Environment.model_validate_json(each) for each in environments]
        sessions = folder.restored([(_head(head, machines), _measured(found)) for head, found, _, _ in rows])
        return [(session, _said(*row[2:])) for session, row in zip(sessions, rows, strict=True)]

    def keep(self, folder: Folder, told: Told) -> None:
        """Keep what the sessions of a folder said, if each of its files is what it claims to be."""
        if self._cache.lasts and folder.sound and (key := self._key(folder)):
            folder.remember()
            self._cache.put(_dumps(told), *key)

    def _key(self, folder: Folder) -> tuple[str, str] | None:
        contents = folder.sha256
        benchmark = self._tree.benchmarks.get(folder.benchmark, "")
        claims = self._claims.get(folder.benchmark, "")
        return ("said", sha256(f"{contents} {benchmark} {claims} {self._classes}")) if contents else None

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
        classes = [f"{name} {found.model_dump_json()}" for name, found in self._tree.classes.items()]
        machines = [f"{path} {found.model_dump_json()}" for path, found in self._tree.machines.items()]
        return sha256("\n".join([*classes, "", *machines]))


def _dumps(told: Told) -> bytes:
    """What was said, as text on one line. Most sessions of a folder are of one machine, which is written once."""
    machines: dict[str, int] = {}
    rows = []
    for session, said in told:
        head = session.head.model_dump(mode="json")
        head["environment"] = machines.setdefault(session.head.environment.model_dump_json(), len(machines))
        rows.append([head, list(session.measured), _rows(said.verdicts), said.deviations])
    return to_json([list(machines), rows])


def _head(fields: dict[str, Any], machines: list[Environment]) -> Head:
    """The head of a session. It was validated when it was read, so nothing is validated again."""
    fields["environment"] = machines[fields["environment"]]
    fields["design"] = restored(Design, fields["design"])
    fields["failures"] = tuple(map(Failure.model_validate, fields["failures"]))
    return restored(Head, fields)


def _measured(rows: Iterable[Any]) -> frozenset[Measured]:
    return frozenset([(metric, arm, tuple(map(tuple, at))) for metric, arm, at in rows])


def _rows(verdicts: Mapping[str, SessionVerdict | None]) -> dict[str, Any]:
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
