"""Retirement of a claim. Its record and evidence are kept, so that its id is never reused."""

from headroom.records.base import ClaimId, IsoDate, Record, Text


class Retirement(Record):
    """When and why a claim was retired, and the claim that replaced it."""

    since: IsoDate
    why: Text
    superseded_by: ClaimId | None = None
    """The active claim that replaced it, if any."""
