"""Verdicts that were worked out before, kept by the claim, the session and the hardware class that they follow from."""

from collections.abc import Callable
from typing import Any

from headroom.cache import Cache
from headroom.files import sha256
from headroom.records.base import from_json, to_json
from headroom.records.claims import MeasuredClaim
from headroom.records.facts import HardwareClass
from headroom.records.sessions import Session
from headroom.records.tree import Tree
from headroom.verdicts.judge import PointVerdict, SessionVerdict


class Memory:
    """The verdicts of a cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._hashes: dict[str, str] = {}

    def verdict(
        self,
        tree: Tree,
        claim: MeasuredClaim,
        session: Session,
        hardware: HardwareClass,
        judge: Callable[[], SessionVerdict],
    ) -> SessionVerdict:
        """The verdict on a claim that is remembered, or else the one that ``judge`` gives."""
        path = tree.claim_paths[claim.id]
        if not session.sha256 or path not in tree.documents:  # they come from no file
            return judge()
        name = session.head.hardware_class
        if name not in self._hashes:
            self._hashes[name] = sha256(hardware.model_dump_json())
        key = ("verdict", tree.documents.sha256(path), self._hashes[name], session.sha256)
        text = self._cache.get(*key)
        if text is not None:
            return _loads(text)
        verdict = judge()
        self._cache.put(_dumps(verdict), *key)
        return verdict


def _dumps(verdict: SessionVerdict) -> bytes:
    points = [[getattr(point, name) for name in PointVerdict.__slots__] for point in verdict.points]
    return to_json([verdict.verdict, verdict.reason, points])


def _loads(text: bytes) -> SessionVerdict:
    verdict, reason, points = from_json(text)
    return SessionVerdict(verdict, reason, tuple(_point(*fields) for fields in points))


def _point(*fields: Any) -> PointVerdict:
    *plain, baseline, subject, control = fields
    return PointVerdict(*plain, tuple(baseline), tuple(subject), tuple(control))  # type: ignore[call-arg]
