"""Where each record lies in a tree, and how the files that the project writes itself are written."""

import json

from headroom.io.safe_read import sha256
from headroom.records.base import Record
from headroom.records.evidence import Evidence, Head


def claim_path(claim_id: str) -> str:
    """Where a claim belongs: the folder of its topic, its first part."""
    return f"checks/registry/{claim_id.replace('.', '/', 1).replace('.', '-')}.yml"


def run_path(snippet: str, hardware_class: str) -> str:
    """Where the record of a snippet's run belongs."""
    return f"checks/runs/{snippet}/{hardware_class}.json"


def evidence_path(evidence: Evidence, text: str) -> str:
    """Where a session's file belongs: its benchmark, its class, its day and the hash of its bytes."""
    return session_path(evidence, sha256(text))


def session_path(head: Head, text_sha256: str) -> str:
    """As ``evidence_path``, of a session whose text has this hash."""
    return f"checks/evidence/{head.benchmark}/{head.hardware_class}-{head.date}-{text_sha256[:12]}.json"


def machine_path(hardware_class: str, date: str, text_sha256: str) -> str:
    """Where what a machine can do belongs: its class, its day and the hash of its text."""
    return f"checks/machines/{hardware_class}-{date}-{text_sha256[:12]}.json"


def record_text(record: Record) -> str:
    """A record as a JSON file holds it."""
    return json.dumps(record.as_written(), indent=1, ensure_ascii=False) + "\n"


def evidence_text(evidence: Evidence) -> str:
    """A session as its file holds it: one run a line, so that a difference can be read."""
    data = evidence.as_written()
    runs = ",\n".join(f"  {json.dumps(run, ensure_ascii=False)}" for run in data.pop("runs"))
    head = json.dumps(data, indent=1, ensure_ascii=False)[:-2]
    return f'{head},\n "runs": [\n{runs}\n ]\n}}\n'
