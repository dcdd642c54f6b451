"""Format the result of ``headroom reproduce`` next to the registry's sessions, as text and for JSON."""

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from headroom.verdicts import PointVerdict
from headroom.verdicts.reproduction import MEANING, ComparedSession, Reproduction

_OTHER_CLASS = "That session is from another hardware class, which has its own verdict: the two need not agree."


def as_text(found: Reproduction, evidence: str, place: str) -> str:
    """Return the report for a terminal.

    Args:
        found: the new session, with the registry's sessions to compare.
        evidence: path of the new session's file.
        place: the path that it would have in the registry.
    """
    parts = [f"{found.claim.id}: {found.claim.statement}", "\n".join(_verdicts(found))]
    parts += ["\n".join(_compared(found, each)) for each in found.compared]
    if not found.compared:
        parts.append("The registry has no session to compare with.")
    return "\n\n".join([*parts, "\n".join(_what_now(found, evidence, place))])


def as_json(found: Reproduction, evidence: str, entry: str | None) -> dict[str, Any]:
    """Return the report as plain values; unknown values are None."""
    return {
        "claim": found.claim.id,
        "hardware_class": found.hardware_class,
        "class_entry": entry,
        "evidence": evidence,
        "before": found.before,
        "after": found.after if found.hardware_class else None,
        "verdict": found.verdict.verdict,
        "here": [_values(point) for point in found.verdict.points],
        "beside": [
            {
                "hardware_class": each.hardware_class,
                "session": each.session.path,
                "status": each.status,
                "agreement": each.agreement,
                "points": [_values(point) for point in each.points],
                "differences": [asdict(one) for one in each.differences],
                "unknown": each.unknown,
            }
            for each in found.compared
        ],
    }


def _values(point: PointVerdict) -> dict[str, Any]:
    figures = {name: getattr(point, name) for name in ("ratio", "low", "high")}
    known = {name: value if math.isfinite(value) else None for name, value in figures.items()}
    plain = {name: getattr(point, name) for name in ("asserted", "verdict", "reason", "n")}
    return {"point": dict(point.point), **plain, **known}


def _verdicts(found: Reproduction) -> Iterator[str]:
    """Yield a table of the verdicts at every point, here and in the registry."""
    rows = [("", "at", "verdict", "ratio", "interval", "blocks")]
    here = f"here ({found.hardware_class or 'no class yet'})"
    for i, point in enumerate(found.verdict.points):
        rows.append((here, *_cells(point)))
        rows += [
            (f"{each.hardware_class}, {each.session.head.date}", *_cells(each.points[i])) for each in found.compared
        ]
    swept = any(point.point for point in found.verdict.points)
    yield from _table([row if swept else (row[0], *row[2:]) for row in rows])


def _cells(point: PointVerdict) -> tuple[str, str, str, str, str]:
    at = ", ".join(f"{name}={value}" for name, value in point.point.items())
    known = math.isfinite(point.ratio)
    ratio, interval = (f"{point.ratio:.4g}", f"[{point.low:.4g}, {point.high:.4g}]") if known else ("unknown", "")
    shown = "" if point.asserted else ", shown only"
    return at, f"{point.verdict} ({point.reason}{shown})", ratio, interval, str(point.n)


def _compared(found: Reproduction, each: ComparedSession) -> Iterator[str]:
    """Yield whether two sessions agree, and how their environments differ."""
    yield f"Compared with {each.session.path}:"
    yield MEANING[each.agreement]
    if each.hardware_class != found.hardware_class:
        yield _OTHER_CLASS
    if each.differences:
        yield ""
        head = ("differs", "here", each.hardware_class)
        yield from _table([head, *((one.what, one.here, one.there) for one in each.differences)])
    if each.unknown:
        yield f"unknown for both, so these may also differ: {', '.join(each.unknown)}"


def _what_now(found: Reproduction, evidence: str, place: str) -> Iterator[str]:
    """Yield the path of the evidence, its effect on the claim, and how to contribute it."""
    yield f"The evidence is {evidence}."
    if found.hardware_class is None:
        yield "It names no hardware class, so it counts for no claim and cannot be contributed."
        yield "Add the entry above to checks/facts/hardware-classes.yml, replace its TODO marks, and measure again."
        return
    in_place = evidence == place
    yield _effect(found, in_place=in_place)
    yield "To contribute it:" if in_place else "The registry is unchanged. To contribute the evidence:"
    yield ""
    if not in_place:
        folder = place.rpartition("/")[0]
        yield f"    mkdir -p {folder} && cp {shlex.quote(evidence)} {folder}/"
    yield "    headroom check --fix"
    yield f"    git switch -c evidence-{place.rpartition('-')[2].partition('.')[0]}"
    yield "    git add checks/evidence docs"
    yield f"    git commit -m 'Evidence for {found.claim.id} on {found.hardware_class}'"
    yield ""
    yield "Then push the branch and open a pull request; CONTRIBUTING.md describes the review."


def _effect(found: Reproduction, *, in_place: bool) -> str:
    """Return the sentence on the claim's status with this session in the registry."""
    where = f"on {found.hardware_class}"
    with_it = "With this session" if in_place else "With this session in the registry"
    if found.after == found.before:
        return f"{with_it}, the claim stays {found.after} {where}, and its figures are those of the newest session."
    if found.after == "disputed":
        return f"{with_it}, the claim becomes disputed {where}, where it is {found.before}. Please contribute it."
    return f"{with_it}, the claim becomes {found.after} {where} instead of {found.before}."


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Yield the rows with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
