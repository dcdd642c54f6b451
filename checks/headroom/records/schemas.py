"""Generate the JSON Schemas of the records, for editors and other programs."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from headroom.records.accelerators import Family
from headroom.records.base import Record
from headroom.records.cards import CardList
from headroom.records.claims import Claim
from headroom.records.evidence import Evidence
from headroom.records.facts import FactSheet, HardwareClass, StandIns
from headroom.records.harness_versions import HarnessVersions
from headroom.records.machines import Machine
from headroom.records.measuring_order import MeasuringOrder
from headroom.records.memory_errors import MemoryErrors
from headroom.records.memory_rows import MemoryTable
from headroom.records.methods import Method
from headroom.records.model_shapes import ModelShape
from headroom.records.out_of_memory import QuotedErrors
from headroom.records.pack_manifest import PackManifest
from headroom.records.pictures import PictureData
from headroom.records.public_schema import PublishedAlone, PublishedClaims
from headroom.records.published_comparisons import PublishedComparison
from headroom.records.snippet_environments import Environments
from headroom.records.snippets import Header, SnippetRun
from headroom.records.step_time_model import StepTimeModel
from headroom.records.terms import Term
from headroom.records.training_runs import RunTable
from headroom.records.vllm_logs import VllmLogs

_RECORDS: dict[str, Any] = {
    "accelerators": Family,
    "cards": CardList,
    "claim": Claim,
    "claims-file": PublishedClaims,
    "evidence": Evidence,
    "facts": FactSheet,
    "glossary": dict[str, Term],
    "hardware-classes": dict[str, HardwareClass],
    "harness-versions": HarnessVersions,
    "machine": Machine,
    "measuring-order": MeasuringOrder,
    "memory-errors": MemoryErrors,
    "method": Method,
    "model-shape": ModelShape,
    "one-claim-file": PublishedAlone,
    "out-of-memory": QuotedErrors,
    "pack-manifest": PackManifest,
    "picture": PictureData,
    "published-comparison": PublishedComparison,
    "published-memory": MemoryTable,
    "published-training": RunTable,
    "run": SnippetRun,
    "snippet-environments": Environments,
    "snippet-header": Header,
    "stand-ins": StandIns,
    "step-time-model": StepTimeModel,
    "vllm-logs": VllmLogs,
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each kind of record, by its name, with a description of each field."""
    kinds = {kind.__name__: kind for kind in _kinds(Record)}
    found = {name: TypeAdapter(kind).json_schema() for name, kind in _RECORDS.items()}
    for schema in found.values():
        for part in (schema, *schema.get("$defs", {}).values()):
            meanings = _meanings(kinds[part["title"]]) if part.get("title") in kinds else {}
            for field, described in part.get("properties", {}).items():
                described.update({"description": meanings[field]} if field in meanings else {})
    return found


def _kinds(record: type[Record]) -> Iterator[type[Record]]:
    """Yield a record class and all its subclasses."""
    yield record
    for kind in record.__subclasses__():
        yield from _kinds(kind)


def _meanings(record: type[Record]) -> dict[str, str]:
    """Return the docstrings of a record's fields, including inherited fields, by the name of the field.

    Pydantic could read them, but at every import of the package, which is slow; only the schemas need them.
    """
    found = {}
    for kind in reversed(record.__mro__[: record.__mro__.index(Record)]):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(body, ast.ClassDef)
        for field, text in pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                written = record.model_fields[field.target.id].alias or field.target.id
                found[written] = inspect.cleandoc(ast.literal_eval(text.value))
    return found
