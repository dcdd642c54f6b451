"""Load all records of a tree, with the problems of the files that are not valid."""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from headroom.io import python_source, safe_read
from headroom.io.safe_read import UnreadableError
from headroom.io.strict_load import Document
from headroom.records.accelerators import Family, sheet
from headroom.records.base import Slug
from headroom.records.cards import Cards
from headroom.records.claims import Claim, MeasuredClaim
from headroom.records.fact_files import read_facts
from headroom.records.facts import FactSheet, HardwareClass, StandIns
from headroom.records.harness_versions import HarnessVersions
from headroom.records.loader import Reader
from headroom.records.machines import Machine, machines
from headroom.records.measuring_order import MeasuringOrder
from headroom.records.memory_errors import MemoryErrors, read_memory_errors
from headroom.records.methods import Method
from headroom.records.model_shapes import ModelShape
from headroom.records.paths import claim_path, run_path
from headroom.records.pictures import PictureData
from headroom.records.problems import Problem, invalid, unreadable
from headroom.records.published_rows import Published, read_published
from headroom.records.sessions import Session, sessions
from headroom.records.snippet_environments import Environments
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
from headroom.records.step_time_model import StepTimeModel
from headroom.records.terms import Term
from headroom.records.tolerances import loose_tolerances

_CLAIM: TypeAdapter[Claim] = TypeAdapter(Claim)
_TERMS: TypeAdapter[dict[Slug, Term]] = TypeAdapter(dict[Slug, Term])
_PICTURE: TypeAdapter[PictureData] = TypeAdapter(PictureData)


@dataclass(frozen=True, slots=True)
class Tree:
    """All records of a tree, without verdicts."""

    root: Path
    claims: Mapping[str, Claim]
    claim_paths: Mapping[str, str]
    sessions: tuple[Session, ...]
    methods: Mapping[str, Method]
    glossary: Mapping[str, Term]
    term_paths: Mapping[str, str]
    classes: Mapping[str, HardwareClass]
    facts: Mapping[str, FactSheet]
    stand_ins: StandIns
    environments: Environments
    """The environments of snippets that do not run in the main one, by name."""
    harness_versions: HarnessVersions
    published: Published
    machines: Mapping[str, Machine]
    """The machine records, by the path of the file."""
    snippets: Mapping[str, Snippet]
    runs: Mapping[tuple[str, str], SnippetRun]
    """By snippet and hardware class."""
    benchmarks: Mapping[str, str]
    """The hash of each benchmark's syntax tree."""
    pictures: Mapping[str, PictureData]
    """The data of each picture, by name."""
    documents: Mapping[str, Document]
    """The YAML files by path, to find the lines of values."""
    problems: tuple[Problem, ...] = field(default=())
    measuring_order: MeasuringOrder = field(default_factory=MeasuringOrder)
    """The order in which `headroom measure --wanted` measures."""
    shapes: Mapping[str, ModelShape] = field(default_factory=dict)
    """The shapes of published models, by id."""
    cards: Cards = field(default_factory=Cards)
    """The memory of GPUs."""
    families: Mapping[str, Family] = field(default_factory=dict)
    """What vendors print about accelerators, by family."""
    accelerator_sheets: Mapping[str, FactSheet] = field(default_factory=dict)
    """The figures of each accelerator, by its id."""
    memory_errors: Mapping[str, MemoryErrors] = field(default_factory=dict)
    """The recorded errors of memory estimates, by the name of the file."""
    step_time: StepTimeModel | None = None
    """The constants of the planner's step-time model."""

    def measured(self) -> Iterator[MeasuredClaim]:
        """Return the measured claims."""
        return (claim for claim in self.claims.values() if isinstance(claim, MeasuredClaim))

    def sheet(self, name: str) -> FactSheet | None:
        """Return the sheet of this name, of a file in checks/facts/ or of an accelerator."""
        return self.facts.get(name) or self.accelerator_sheets.get(name)


def load(root: Path | str) -> Tree:
    """Return all records below ``root``, the folder of ``mkdocs.yml``, and their problems.

    A missing folder counts as an empty one. An invalid file raises no exception: it is reported as a ``Problem``.
    """
    reader = Reader(Path(root))
    claims, paths = _claims(reader)
    facts = read_facts(reader)
    terms, term_paths = _glossary(reader)
    return Tree(
        root=reader.root,
        claims=claims,
        claim_paths=paths,
        methods=_methods(reader),
        glossary=terms,
        term_paths=term_paths,
        classes=facts.classes,
        facts=facts.sheets,
        stand_ins=facts.stand_ins,
        environments=facts.environments,
        harness_versions=facts.versions,
        published=read_published(reader),
        machines=machines(reader),
        snippets=_snippets(reader),
        runs=_runs(reader),
        benchmarks=_benchmarks(reader),
        pictures=_pictures(reader),
        memory_errors=read_memory_errors(reader),  # before `problems`
        sessions=tuple(sessions(reader)),
        documents=reader.documents,
        problems=tuple(sorted(reader.problems, key=str)),
        measuring_order=facts.order,
        shapes=facts.shapes,
        cards=facts.cards,
        families=facts.families,
        step_time=facts.step_time,
        accelerator_sheets={
            name: sheet(name, family) for family in facts.families.values() for name in family.accelerators
        },
    )


def _claims(reader: Reader) -> tuple[dict[str, Claim], dict[str, str]]:
    claims: dict[str, Claim] = {}
    paths: dict[str, str] = {}
    for file in reader.each("checks/registry", ".yml", "claims"):
        claim = reader.yaml(file, "claims", _CLAIM.validate_json)
        if claim is None:
            continue
        expected = claim_path(claim.id)
        if file.name != expected:
            message = f"the claim `{claim.id}` does not belong in this file"
            remedy = f"rename the file to {expected}, or correct the id"
            reader.report(file.name, "claims", message, remedy, reader.line(file, ("id",)))
            if claim.id in claims:
                continue  # the file with the right name takes precedence
        claims[claim.id], paths[claim.id] = claim, file.name
    return claims, paths


def _methods(reader: Reader) -> dict[str, Method]:
    methods = {}
    for file in reader.each("checks/methods", ".yml", "methods"):
        method = reader.yaml(file, "methods", Method.model_validate_json)
        if method is None:
            continue
        if method.id != file.stem:
            message = f"the id `{method.id}` differs from the file name"
            reader.report(file.name, "methods", message, f"rename the file to {method.id}.yml, or correct the id")
        methods[method.id] = method
    return methods


def _glossary(reader: Reader) -> tuple[dict[str, Term], dict[str, str]]:
    terms: dict[str, Term] = {}
    paths: dict[str, str] = {}
    for file in reader.each("checks/glossary", ".yml", "glossary"):
        for name, term in (reader.yaml(file, "glossary", _TERMS.validate_json) or {}).items():
            if name in terms:
                message, remedy = (
                    f"{paths[name]} already defines the term `{name}`",
                    "remove one of the definitions",
                )
                reader.report(file.name, "glossary", message, remedy, reader.line(file, (name,)))
                continue
            terms[name], paths[name] = term, file.name
    return terms, paths


def _pictures(reader: Reader) -> dict[str, PictureData]:
    found = {}
    for file in reader.each("checks/pictures", ".yml", "pictures"):
        if data := reader.yaml(file, "pictures", _PICTURE.validate_json):
            found[file.stem] = data
    return found


def _snippets(reader: Reader) -> dict[str, Snippet]:
    found: dict[str, Snippet] = {}
    for file in reader.each("snippets", ".py", "snippets"):
        source = reader.text(file, "snippets", safe_read.MAX_SCRIPT_BYTES)
        if source is None:
            continue
        if snippet := _snippet(reader, file.name, source):
            found[snippet.id] = snippet
    return found


def _snippet(reader: Reader, name: str, source: str) -> Snippet | None:
    line = 1
    table: dict[str, Any] = {}
    try:
        table, line = header_table(source)
        tool = table.get("tool", {}).get("headroom", {})
        syntax = python_source.parse_python(source)
        title = _title(syntax)
        header = Header.model_validate_json(json.dumps(tool, default=str), strict=True)
        marks = regions(source)
    except UnreadableError as error:
        reader.problems.append(unreadable(name, "snippets", error))
        return None
    except ValidationError as error:
        reader.problems += invalid(name, "snippets", error, document_of(tool, line))
        return None
    for fault, remedy in ablation_faults(source, syntax, header.ablation):
        reader.report(name, "snippets", f"ablation: {fault}", remedy, line)
    for row, tolerance in loose_tolerances(syntax):
        message = f"the tolerance `{tolerance}` is too loose to prove anything"
        reader.report(name, "snippets", message, "use a tolerance of 0.1 or less", row)
    return Snippet(
        path=name,
        sha256=content_sha256(source),
        source=source,
        dependencies=tuple(table.get("dependencies", ())),
        title=title,
        header=header,
        regions=marks,
    )


def _title(syntax: ast.Module) -> str:
    """Return the first line of a script's docstring.

    Raises:
        UnreadableError: the script has no docstring, or one with an invisible character.
    """
    docstring = ast.get_docstring(syntax)
    if not docstring:
        raise UnreadableError("the script has no docstring", "add one sentence that says what the script shows", 1)
    if safe_read.HIDDEN.search(docstring):  # written as an escape
        raise UnreadableError("the docstring contains an invisible character", "remove it", 1)
    return docstring.splitlines()[0]


def _runs(reader: Reader) -> dict[tuple[str, str], SnippetRun]:
    found: dict[tuple[str, str], SnippetRun] = {}
    for file in reader.each("checks/runs", ".json", "runs"):
        data = reader.data(file, "runs", safe_read.MAX_JSON_BYTES)
        record = reader.json(file, data, "runs", SnippetRun.model_validate_json) if data is not None else None
        if record is None:
            continue
        run = record[0]
        if file.name != run_path(run.snippet, run.hardware_class):
            remedy = "delete it, and write it with `headroom snippets run --record`"
            reader.report(file.name, "runs", "the record does not belong in this file", remedy)
        found[run.snippet, run.hardware_class] = run
    return found


def _benchmarks(reader: Reader) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in reader.each("checks/benchmarks", ".py", "benchmarks"):
        source = reader.text(file, "benchmarks", safe_read.MAX_SCRIPT_BYTES)
        if file.name != f"checks/benchmarks/{file.stem}.py":
            message = "the benchmark is in a subfolder"
            reader.report(file.name, "benchmarks", message, "move it to checks/benchmarks/")
        elif source is not None and (syntax := _syntax(reader, file.name, source)):
            found[file.stem] = syntax
    return found


def _syntax(reader: Reader, name: str, source: str) -> str | None:
    try:
        return python_source.syntax_sha256(source)
    except UnreadableError as error:
        reader.problems.append(unreadable(name, "benchmarks", error))
        return None
