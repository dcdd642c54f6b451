"""What the sessions of a folder said when they were heard before, kept by all that it follows from."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

from headroom.cache import Cache
from headroom.files import sha256
from headroom.records.base import from_json, restored, to_json
from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Design, Environment, Failure, Head
from headroom.records.sessions import Folder, Measured, Session
from headroom.records.tree import Tree
from headroom.verdicts.judge import PointVerdict, SessionVerdict


class Told(NamedTuple):
    """A session, and what it says whatever is claimed: how far its baselines are from themselves."""

    session: Session
    deviations: list[float]


Verdicts = dict[int, SessionVerdict | None]
"""What sessions of a folder say of a claim that they speak for, by their numbers; None where one does not count."""


class Memory:
    """What a cache knows of the folders of one tree."""

    def __init__(self, cache: Cache, tree: Tree) -> None:
        self._cache, self._tree = cache, tree

    def key(self, folder: Folder) -> str | None:
        """What the sessions of a folder are kept by: they, their benchmark, the classes and what machines can do.

        None where nothing is kept: to know the key, the files may have to be read.
        """
        return self._key(folder) if self._cache.holds else None

    def sessions(self, folder: Folder, key: str) -> list[Told] | None:
        """The sessions of a folder, which need not be read then."""
        kept = self._cache.get("sessions", key)
        if kept is None:
            return None
        folder.remember()  # its files may have been touched, or checked out anew, since
        environments, rows = from_json(kept)
        machines = [Environment.model_validate_json(each) for each in environments]
        found = folder.restored([(_head(head, machines), _measured(measured)) for head, measured, _ in rows])
        return [Told(session, row[2]) for session, row in zip(found, rows, strict=True)]

    def verdicts(self, key: str, claim: MeasuredClaim) -> Verdicts | None:
        """What they say of a claim, as it is written now."""
        kept = self._cache.get("verdicts", self._hash(claim), key)
        if kept is None:
            return None
        return {int(number): found and _verdict(*found) for number, found in from_json(kept).items()}

    def keep_sessions(self, folder: Folder, told: Iterable[Told]) -> str | None:
        """Keep the sessions of a folder, if each of its files is what it claims to be, and say by which key."""
        key = self._key(folder) if self._cache.lasts and folder.sound else None
        if key:
            folder.remember()
            self._cache.put(_dumps(told), "sessions", key)
        return key

    def keep_verdicts(self, key: str, claim: MeasuredClaim, verdicts: Verdicts) -> None:
        """Keep what they say of a claim."""
        rows = {number: found and _row(found) for number, found in verdicts.items()}
        self._cache.put(to_json(rows), "verdicts", self._hash(claim), key)

    def _key(self, folder: Folder) -> str | None:
        contents = folder.sha256
        benchmark = self._tree.benchmarks.get(folder.benchmark, "")
        return sha256(f"{contents} {benchmark} {self._classes}") if contents else None

    def _hash(self, claim: MeasuredClaim) -> str:
        return self._tree.documents.sha256(self._tree.claim_paths[claim.id])

    @cached_property
    def _classes(self) -> str:
        """A hash of the hardware classes, and of what machines were seen to reach, which bounds them."""
        classes = [f"{name} {found.model_dump_json()}" for name, found in self._tree.classes.items()]
        machines = [f"{path} {found.model_dump_json()}" for path, found in self._tree.machines.items()]
        return sha256("\n".join([*classes, "", *machines]))


def _dumps(told: Iterable[Told]) -> bytes:
    """Sessions as text on one line. Most of a folder are of one machine, which is written once."""
    machines: dict[str, int] = {}
    rows = []
    for session, deviations in told:
        head = session.head.model_dump(mode="json")
        head["environment"] = machines.setdefault(session.head.environment.model_dump_json(), len(machines))
        rows.append([head, list(session.measured), deviations])
    return to_json([list(machines), rows])


def _head(fields: dict[str, Any], machines: list[Environment]) -> Head:
    """The head of a session. It was validated when it was read, so nothing is validated again."""
    fields["environment"] = machines[fields["environment"]]
    fields["design"] = restored(Design, fields["design"])
    fields["failures"] = tuple(map(Failure.model_validate, fields["failures"]))
    return restored(Head, fields)


def _measured(rows: Iterable[Any]) -> frozenset[Measured]:
    return frozenset([(metric, arm, tuple(map(tuple, at))) for metric, arm, at in rows])


def _row(verdict: SessionVerdict) -> list[Any]:
    points = [[getattr(point, name) for name in PointVerdict.__slots__] for point in verdict.points]
    return [verdict.verdict, verdict.reason, points]


def _verdict(verdict: Any, reason: str, points: Iterable[Any]) -> SessionVerdict:
    return SessionVerdict(verdict, reason, tuple([_point(*fields) for fields in points]))


def _point(*fields: Any) -> PointVerdict:
    *plain, baseline, subject, control = fields
    return PointVerdict(*plain, tuple(baseline), tuple(subject), tuple(control))  # type: ignore[call-arg]
