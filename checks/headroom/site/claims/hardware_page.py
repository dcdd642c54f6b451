"""The page of hardware classes: definition, sessions, noise floor and roofline of each."""

from collections.abc import Iterator
from typing import Any

from headroom.io.markdown_escape import text
from headroom.maths.units import human_readable
from headroom.records import HardwareClass
from headroom.records.machines import Machine, Measurement
from headroom.site.claims import noise_and_roofline, phrasing
from headroom.site.site_data import INDEX, PageContext, SiteData, evidence_file

PAGE = "claims/hardware.md"


def render(site: SiteData) -> str:
    """Return the page as Markdown with front matter."""
    index = PageContext(PAGE).href(INDEX)
    head = [
        '---\ntitle: Hardware classes\ndescription: "The hardware of sessions, noise floor and roofline"\n---',
        "# Hardware classes",
        f"Every verdict on a [claim]({index}) is about one of these classes. Two GPU products never share a class.",
    ]
    classes = [part for name, known in sorted(site.tree.classes.items()) for part in _class(site, name, known)]
    return "\n\n".join([*head, *classes]) + "\n"


def _class(site: SiteData, name: str, known: HardwareClass) -> Iterator[str]:
    yield f"## {text(name)}"
    dates = [session.head.date for session in site.tree.sessions if session.head.hardware_class == name]
    span = f", the newest of {phrasing.day(max(dates))}" if dates else ""
    match = known.match.model_dump(exclude_defaults=True)
    asked = "; ".join(f"{field} {_joined(value)}" for field, value in match.items())
    rows = [
        f"What it is: {known.name}",
        f"Required of a machine: {asked or 'nothing'}",
        f"Sessions: {len(dates)}{span}",
        noise_and_roofline.floor(site.board.noise.floor(name)),
        noise_and_roofline.roofline(known),
    ]
    yield "\n".join(f"- {text(row)}" for row in rows)
    for path, machine in site.tree.machines.items():
        if machine.hardware_class == name:
            yield from _machine(path, machine)


def _joined(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _machine(path: str, machine: Machine) -> Iterator[str]:
    found, others = machine.environment, machine.others_cpu
    share = "an unknown share" if others is None else f"{others:.0%}".replace("%", "\u00a0%")
    busy = f"other processes used {share} of the cores"
    throttled = f", slowed down by {', '.join(machine.throttled)}" if machine.throttled else ""
    seen = f"{found.product}, {found.cores} cores, {found.threads} used, torch {found.versions.get('torch', 'unknown')}"
    raw = f"[raw data]({PageContext(PAGE).href(evidence_file(path))})"
    yield f"{text(seen)}: {phrasing.day(machine.date)}, {text(busy)}{text(throttled)}, {raw}"
    rows = [_row(f"matmul, {name}", each, "TFLOP/s") for name, each in machine.products.items()]
    rows += [_row(f"memory, {name}", each, "B/s") for name, each in machine.bandwidth.items()]
    rows += [_row(f"link, {name}", each, "B/s") for name, each in machine.links.items()]
    rows += [_row("operation call", machine.launch, "s")]
    rows += [f"| {text(f'matmul, {name}')} | – | – | {text(why)} |" for name, why in machine.not_measured.items()]
    yield "\n".join(["| measured | best | median | of |", "| --- | --- | --- | --- |", *rows])


def _row(what: str, measured: Measurement, unit: str) -> str:
    best = min(measured.samples) if unit == "s" else max(measured.samples)
    return (
        f"| {text(what)} | {text(_amount(best, unit))} | {text(_amount(measured.median, unit))} | {text(measured.of)} |"
    )


def _amount(value: float, unit: str) -> str:
    if unit == "TFLOP/s":
        return noise_and_roofline.tera(value)
    return f"{phrasing.number(value / 1e9)} GB/s" if unit == "B/s" else human_readable(value, unit)


def as_data(site: SiteData) -> dict[str, Any]:
    """Return the classes as data for claims.json."""
    return {name: _as_data(site, name, known) for name, known in sorted(site.tree.classes.items())}


def _as_data(site: SiteData, name: str, known: HardwareClass) -> dict[str, Any]:
    floor = site.board.noise.floor(name)
    return {
        "name": known.name,
        "peak_flops": known.roofline,
        "noise_floor": floor
        and {
            "share": floor.share,
            "comparisons": floor.comparisons,
            "sessions": floor.sessions,
            "counts": floor.counts,
        },
        "machines": [evidence_file(path) for path, found in site.tree.machines.items() if found.hardware_class == name],
    }
