"""The JSON Schemas of the records, for editors and for other programs."""

from typing import Any

from pydantic import TypeAdapter

from headroom.records.claims import Claim
from headroom.records.evidence import Evidence
from headroom.records.facts import FactSheet, HardwareClass, StandIns
from headroom.records.glossary import Term
from headroom.records.machines import Machine
from headroom.records.methods import Method
from headroom.records.published import PublishedAlone, PublishedClaims
from headroom.records.snippets import Header, SnippetRun

_RECORDS: dict[str, Any] = {
    "claim": Claim,
    "claims-file": PublishedClaims,
    "evidence": Evidence,
    "facts": FactSheet,
    "glossary": dict[str, Term],
    "hardware-classes": dict[str, HardwareClass],
    "machine": Machine,
    "method": Method,
    "one-claim-file": PublishedAlone,
    "run": SnippetRun,
    "snippet-header": Header,
    "stand-ins": StandIns,
}


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each kind of record, by its name; every field carries its meaning."""
    return {name: TypeAdapter(kind).json_schema() for name, kind in _RECORDS.items()}
