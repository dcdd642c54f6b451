"""Retirement: how a claim is given up. Record and evidence stay, so that its name never means another."""

from headroom.records.base import ClaimId, IsoDate, Record, Text


class Retirement(Record):
    """That a claim is no longer made: since when, why, and which one is made in its place."""

    since: IsoDate
    why: Text
    superseded_by: ClaimId | None = None
    """The active claim that took its place, if one did."""
