"""Every record of a tree and every problem of its records, read in one pass."""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from headroom import files, scripts
from headroom.files import UnreadableError
from headroom.parsing import Document
from headroom.records.claims import Claim, MeasuredClaim
from headroom.records.evidence import Evidence
from headroom.records.facts import FactSheet, HardwareClass, StandIns
from headroom.records.layout import claim_path, evidence_path, run_path
from headroom.records.methods import Method
from headroom.records.problems import Problem, invalid, unreadable
from headroom.records.reading import Reader
from headroom.records.snippets import (
    Header,
    Snippet,
    SnippetRun,
    ablation_faults,
    content_sha256,
    document_of,
    header_table,
    regions,
)

_CLAIM: TypeAdapter[Claim] = TypeAdapter(Claim)
_CLASSES: TypeAdapter[dict[str, HardwareClass]] = TypeAdapter(dict[str, HardwareClass])


@dataclass(frozen=True, slots=True)
class Session:
    """An evidence file: what it holds, and where it lies."""

    path: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Tree:
    """What is written down in a tree. Nothing in it has been judged."""

    root: Path
    claims: Mapping[str, Claim]
    claim_paths: Mapping[str, str]
    sessions: tuple[Session, ...]
    methods: Mapping[str, Method]
    classes: Mapping[str, HardwareClass]
    facts: Mapping[str, FactSheet]
    stand_ins: StandIns
    snippets: Mapping[str, Snippet]
    runs: Mapping[tuple[str, str], SnippetRun]
    """By snippet and hardware class."""
    benchmarks: Mapping[str, str]
    """The hash of each benchmark's syntax tree."""
    documents: Mapping[str, Document]
    """The parsed files by path, for the lines of their values."""
    problems: tuple[Problem, ...] = field(default=())

    def measured(self) -> Iterator[MeasuredClaim]:
        """The claims that stand on sessions."""
        return (claim for claim in self.claims.values() if isinstance(claim, MeasuredClaim))


def load(root: Path | str) -> Tree:
    """Every record below ``root`` and every problem of every record.

    Args:
        root: the top of the tree, the folder of ``mkdocs.yml``.

    A missing folder is an empty one. Nothing is raised for what a file holds: it becomes a ``Problem``.
    """
    reader = Reader(Path(root))
    claims, paths = _claims(reader)
    classes, facts, stand_ins = _facts(reader)
    return Tree(
        root=reader.root,
        claims=claims,
        claim_paths=paths,
        sessions=_sessions(reader),
        methods=_methods(reader),
        classes=classes,
        facts=facts,
        stand_ins=stand_ins,
        snippets=_snippets(reader),
        runs=_runs(reader),
        benchmarks=_benchmarks(reader),
        documents=reader.documents,
        problems=tuple(sorted(reader.problems, key=str)),
    )


def _claims(reader: Reader) -> tuple[dict[str, Claim], dict[str, str]]:
    claims: dict[str, Claim] = {}
    paths: dict[str, str] = {}
    for path, name in reader.each("checks/registry", ".yml", "claims"):
        found = reader.record(path, name, "claims", _CLAIM.validate_json)
        if found is None:
            continue
        claim, document, _ = found
        expected = claim_path(claim.id)
        if name != expected:
            message = f"the claim `{claim.id}` does not belong in this file"
            reader.complain(
                name, "claims", message, f"name the file {expected}, or correct the id", document.line(("id",))
            )
            if claim.id in claims:
                continue  # the file that is named as the claim is the claim
        claims[claim.id], paths[claim.id] = claim, name
    return claims, paths


def _sessions(reader: Reader) -> tuple[Session, ...]:
    sessions = []
    for path, name in reader.each("checks/evidence", ".json", "evidence"):
        found = reader.record(path, name, "evidence", Evidence.model_validate_json)
        if found is None:
            continue
        evidence, _, text = found
        expected = evidence_path(evidence, text)
        if name != expected:
            message = "its content is not what its name says"
            remedy = f"evidence is never edited: restore the file, or, if it is new, name it {expected}"
            reader.complain(name, "evidence", message, remedy, None)
        sessions.append(Session(name, evidence))
    return tuple(sessions)


def _methods(reader: Reader) -> dict[str, Method]:
    methods = {}
    for path, name in reader.each("checks/methods", ".yml", "methods"):
        found = reader.record(path, name, "methods", Method.model_validate_json)
        if found is None:
            continue
        if found[0].id != path.stem:
            reader.complain(
                name, "methods", f"the method `{found[0].id}` is not named as its file", "make the two the same"
            )
        methods[found[0].id] = found[0]
    return methods


def _facts(reader: Reader) -> tuple[dict[str, HardwareClass], dict[str, FactSheet], StandIns]:
    classes: dict[str, HardwareClass] = {}
    facts: dict[str, FactSheet] = {}
    stand_ins = StandIns(models={}, datasets={})
    for path, name in reader.each("checks/facts", ".yml", "facts"):
        if path.stem == "hardware-classes":
            classes = (reader.record(path, name, "facts", _CLASSES.validate_json) or ({},))[0]
        elif path.stem == "stand-ins":
            stand_ins = (reader.record(path, name, "facts", StandIns.model_validate_json) or (stand_ins,))[0]
        elif found := reader.record(path, name, "facts", FactSheet.model_validate_json):
            _check_facts(reader, name, path.stem, found[0], found[1])
            facts[found[0].id] = found[0]
    return classes, facts, stand_ins


def _check_facts(reader: Reader, name: str, stem: str, sheet: FactSheet, document: Document) -> None:
    if sheet.id != stem:
        reader.complain(name, "facts", f"the sheet `{sheet.id}` is not named as its file", "make the two the same")
    for key, cell in sheet.figures.items():
        if cell.source not in sheet.sources:
            line = document.line(("figures", key, "source"))
            reader.complain(name, "facts", f"the figure `{key}` names no source of the file", "add the source", line)


def _snippets(reader: Reader) -> dict[str, Snippet]:
    found: dict[str, Snippet] = {}
    for path, name in reader.each("snippets", ".py", "snippets"):
        source = reader.text(path, name, "snippets", files.MAX_SCRIPT_BYTES)
        if source is None:
            continue
        if snippet := _snippet(reader, name, source):
            found[snippet.id] = snippet
    return found


def _snippet(reader: Reader, name: str, source: str) -> Snippet | None:
    line = 1
    table: dict[str, Any] = {}
    try:
        table, line = header_table(source)
        tool = table.get("tool", {}).get("headroom", {})
        title = _title(source)
        header = Header.model_validate_json(json.dumps(tool, default=str), strict=True)
        marks = regions(source)
    except UnreadableError as error:
        reader.problems.append(unreadable(name, "snippets", error))
        return None
    except ValidationError as error:
        reader.problems += invalid(name, "snippets", error, document_of(tool, line))
        return None
    for fault in ablation_faults(source, header.ablation):
        reader.complain(name, "snippets", f"ablation: {fault}", "name a text that stands exactly once", line)
    return Snippet(
        path=name,
        sha256=content_sha256(source),
        source=source,
        dependencies=tuple(table.get("dependencies", ())),
        title=title,
        header=header,
        regions=marks,
    )


def _title(source: str) -> str:
    """The first line of a script's docstring.

    Raises:
        UnreadableError: the script is no Python that can be read, or has no docstring.
    """
    docstring = ast.get_docstring(scripts.parse_python(source))
    if not docstring:
        raise UnreadableError("no docstring", "say in one sentence what the script shows", 1)
    if files.HIDDEN.search(docstring):  # written as an escape
        raise UnreadableError("a docstring with a character that is not seen", "remove it", 1)
    return docstring.splitlines()[0]


def _runs(reader: Reader) -> dict[tuple[str, str], SnippetRun]:
    found: dict[tuple[str, str], SnippetRun] = {}
    for path, name in reader.each("checks/runs", ".json", "runs"):
        record = reader.record(path, name, "runs", SnippetRun.model_validate_json)
        if record is None:
            continue
        run = record[0]
        if name != run_path(run.snippet, run.hardware_class):
            reader.complain(
                name, "runs", "the record does not belong in this file", "write it with `headroom snippets run`"
            )
        found[run.snippet, run.hardware_class] = run
    return found


def _benchmarks(reader: Reader) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, name in reader.each("checks/benchmarks", ".py", "benchmarks"):
        source = reader.text(path, name, "benchmarks", files.MAX_SCRIPT_BYTES)
        if path.parent != reader.root / "checks/benchmarks":
            reader.complain(name, "benchmarks", "a benchmark in a folder of its own", "move it to checks/benchmarks/")
        elif source is not None and (syntax := _syntax(reader, name, source)):
            found[path.stem] = syntax
    return found


def _syntax(reader: Reader, name: str, source: str) -> str | None:
    try:
        return scripts.syntax_sha256(source)
    except UnreadableError as error:
        reader.problems.append(unreadable(name, "benchmarks", error))
    return None
