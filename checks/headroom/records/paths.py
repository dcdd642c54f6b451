"""Paths of the records in a tree, and the text of the JSON files that the project writes."""

import json

from headroom.io.safe_read import sha256
from headroom.records.base import Record
from headroom.records.evidence import Evidence, Head


def claim_path(claim_id: str) -> str:
    """Return the path of a claim: the first part of its id is the folder, the rest is the file name."""
    return f"checks/registry/{claim_id.replace('.', '/', 1).replace('.', '-')}.yml"


def run_path(snippet: str, hardware_class: str) -> str:
    """Return the path of the record of a snippet's run."""
    return f"checks/runs/{snippet}/{hardware_class}.json"


def evidence_path(evidence: Evidence, text: str) -> str:
    """Return the path of a session: its benchmark, hardware class, date and the hash of its text."""
    return session_path(evidence, sha256(text))


def session_path(head: Head, text_sha256: str) -> str:
    """Return the path of a session whose text has the given hash."""
    return f"checks/evidence/{head.benchmark}/{head.hardware_class}-{head.date}-{text_sha256[:12]}.json"


def machine_path(hardware_class: str, date: str, text_sha256: str) -> str:
    """Return the path of a machine record: its hardware class, date and the hash of its text."""
    return f"checks/machines/{hardware_class}-{date}-{text_sha256[:12]}.json"


def record_text(record: Record) -> str:
    """Return a record as the text of its JSON file."""
    return json.dumps(record.as_written(), indent=1, ensure_ascii=False) + "\n"


def evidence_text(evidence: Evidence) -> str:
    """Return a session as the text of its JSON file, with one line per run to keep diffs readable."""
    data = evidence.as_written()
    runs = ",\n".join(f"  {json.dumps(run, ensure_ascii=False)}" for run in data.pop("runs"))
    head = json.dumps(data, indent=1, ensure_ascii=False)[:-2]
    return f'{head},\n "runs": [\n{runs}\n ]\n}}\n'
