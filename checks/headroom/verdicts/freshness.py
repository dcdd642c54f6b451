"""Rate how old evidence is by a claim's limits: fresh, ageing, stale or void. The verdict stays the same.

Age is relative to the day of the last commit, not to today, so that results do not change merely because time passes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from headroom.io import git_history
from headroom.records.claims import CitedClaim, Freshness
from headroom.records.evidence import Environment, Head
from headroom.records.tree import Tree

AgeWord = Literal["fresh", "ageing", "stale", "void"]
_ORDER: tuple[AgeWord, ...] = ("fresh", "ageing", "stale", "void")
_AGEING_SHARE = 0.8
"""The share of a claim's maximum age in days at which evidence is ageing."""
_RELEASE = re.compile(r"^\d+(?:\.\d+)*(?:\.post\d+)?(?:\+.*)?$")
_NUMBERS = re.compile(r"^(\d{1,9})(?:\.(\d{1,9}))?")

Version = tuple[int, int]
"""Major and minor."""


@dataclass(frozen=True, slots=True)
class Age:
    """The age of evidence in a word, with the reason."""

    word: AgeWord
    reason: str
    """Empty if the evidence is fresh."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How many versions behind the newest tested one evidence becomes ageing and stale."""

    counted: Literal["major", "minor"]
    """Which versions are counted. If minor versions are, evidence of an older major version is stale."""
    ageing: int
    stale: int


# docs/contribute/ageing.md explains these numbers.
STEPS: Mapping[str, Steps] = MappingProxyType(
    {
        "torch": Steps("minor", ageing=2, stale=4),  # a release about every two months
        "transformers": Steps("minor", ageing=6, stale=12),  # about two releases per month
        "driver": Steps("major", ageing=20, stale=45),  # branch numbers rise by about 25 per year
    }
)


@dataclass(frozen=True, slots=True)
class AgeReference:
    """The day and the newest versions that ages are relative to."""

    day: date
    newest: Mapping[str, str]
    """The newest release of each key of ``STEPS`` in any record of the tree."""

    @classmethod
    def of(cls, tree: Tree) -> "AgeReference":
        """Return the day of the last commit, or else of the newest record, with the versions of sessions and runs."""
        day = git_history.last_commit_day(tree.root) or max(_days(tree), default="1970-01-01")
        known = [{**run.versions} for run in tree.runs.values()]
        machines = {id(each): each for each in (session.head.environment for session in tree.sessions)}
        known += map(_versions, machines.values())
        return cls(date.fromisoformat(day), {key: found for key in STEPS if (found := _newest(key, known))})


def age(freshness: Freshness, head: Head, reference: AgeReference) -> Age:
    """Return a session's age by a claim's limits; never ``void``, which depends on the benchmark."""
    found = [_by_days(freshness, head, reference.day), *_by_versions(freshness, head, reference.newest)]
    word = max((each.word for each in found), key=_ORDER.index)
    return Age(word, "; ".join(each.reason for each in found if each.word == word))


def _by_days(freshness: Freshness, head: Head, day: date) -> Age:
    days, most = (day - date.fromisoformat(head.date)).days, freshness.max_age_days
    word: AgeWord = "stale" if days > most else "ageing" if days > most * _AGEING_SHARE else "fresh"
    return Age(word, "" if word == "fresh" else f"{days} days old, limit {most}")


def _by_versions(freshness: Freshness, head: Head, newest: Mapping[str, str]) -> Iterator[Age]:
    versions = _versions(head.environment)
    for key, steps in STEPS.items():
        own, last = _number(versions.get(key, "")), _number(newest.get(key, ""))
        if key in freshness.keys and own and last:
            counted, behind, word = _behind(steps, own, last)
            if word != "fresh":
                many = "s" * (behind > 1)
                yield Age(word, f"{key} {versions[key]} is {behind} {counted} version{many} behind {newest[key]}")


def _behind(steps: Steps, own: Version, last: Version) -> tuple[str, int, AgeWord]:
    """Return which versions are counted, how many lie between two versions, and the age word."""
    if steps.counted == "minor" and last[0] > own[0]:
        return "major", last[0] - own[0], "stale"
    behind = last[0] - own[0] if steps.counted == "major" or last[0] < own[0] else last[1] - own[1]
    return steps.counted, behind, "stale" if behind >= steps.stale else "ageing" if behind >= steps.ageing else "fresh"


def _versions(found: Environment) -> dict[str, str]:
    return {**found.versions, **({"driver": found.driver} if found.driver else {})}


@lru_cache(maxsize=1024)  # many sessions have the same versions
def _number(version: str) -> Version | None:
    found = _NUMBERS.match(version)
    return (int(found[1]), int(found[2] or 0)) if found else None


def _newest(key: str, known: Iterable[Mapping[str, str]]) -> str | None:
    """Return the newest release; pre-releases do not count."""
    released = [each[key] for each in known if _RELEASE.match(each.get(key, "")) and _number(each[key])]
    return max(released, key=lambda version: (_number(version) or (0, 0), version), default=None)


def _days(tree: Tree) -> Iterator[str]:
    """Yield every date in the tree's records."""
    yield from (session.head.date for session in tree.sessions)
    yield from (run.date for run in tree.runs.values())
    yield from (machine.date for machine in tree.machines.values())
    yield from (claim.retired.since for claim in tree.claims.values() if claim.retired)
    yield from (claim.source.retrieved for claim in tree.claims.values() if isinstance(claim, CitedClaim))
    yield from (record.source.retrieved for record in tree.published.comparisons.values())
    yield from (source.retrieved for sheet in tree.facts.values() for source in sheet.sources.values())
