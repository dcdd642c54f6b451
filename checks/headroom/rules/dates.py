"""Rule `dates`: no record has a date in the future."""

from collections.abc import Iterator

from headroom.io import git_history
from headroom.io.strict_load import Location
from headroom.records import Problem
from headroom.records.accelerators import FOLDER as ACCELERATORS
from headroom.records.accelerators import Family
from headroom.records.claims import CitedClaim
from headroom.records.facts import FactSheet
from headroom.records.model_shapes import FOLDER as SHAPES
from headroom.records.model_shapes import ModelShape
from headroom.records.paths import run_path
from headroom.records.published_rows import FOLDER as PUBLISHED
from headroom.rules.context import Context

Dated = tuple[str, Location, str]
"""A file, the location of a field in it, and the field's date."""


def dates(context: Context) -> Iterator[Problem]:
    """Report dates later than the day after today and after the last commit."""
    last = git_history.latest_day(context.tree.root)
    for path, field, day in _dated(context):
        if day > last:
            document = context.tree.documents.get(path)
            name = ".".join(map(str, field)) if document else "/" + "/".join(map(str, field))
            remedy = "correct the date, or the clock of the machine that wrote it"
            message = f"the date {day} is in the future: {last} is the latest that is accepted"
            yield Problem(path, document.line(field) if document else None, "dates", name, message, remedy)


def _dated(context: Context) -> Iterator[Dated]:
    tree = context.tree
    yield from ((session.path, ("date",), session.head.date) for session in tree.sessions)
    yield from ((path, ("date",), machine.date) for path, machine in tree.machines.items())
    yield from ((run_path(*place), ("date",), run.date) for place, run in tree.runs.items())
    for path, sourced in _sourced(context):
        for name, source in sourced.sources.items():
            yield path, ("sources", name, "retrieved"), source.retrieved
    for record in tree.published.comparisons.values():
        path = tree.published.paths[record.id]
        yield path, ("source", "retrieved"), record.source.retrieved
    for table in tree.published.memory.values():
        yield f"{PUBLISHED}/memory/{table.id}.yml", ("source", "retrieved"), table.source.retrieved
    for runs in tree.published.training.values():
        yield f"{PUBLISHED}/training/{runs.id}.yml", ("source", "retrieved"), runs.source.retrieved
    for claim in tree.claims.values():
        path = tree.claim_paths[claim.id]
        if isinstance(claim, CitedClaim):
            yield path, ("source", "retrieved"), claim.source.retrieved
        if claim.retired:
            yield path, ("retired", "since"), claim.retired.since


def _sourced(context: Context) -> Iterator[tuple[str, FactSheet | ModelShape | Family]]:
    """Yield the records of checks/facts/ that name sources, with their paths."""
    tree = context.tree
    yield from ((f"checks/facts/{sheet.id}.yml", sheet) for sheet in tree.facts.values())
    yield from ((f"{SHAPES}/{shape.id}.yml", shape) for shape in tree.shapes.values())
    yield from ((f"{ACCELERATORS}/{stem}.yml", family) for stem, family in tree.families.items())
