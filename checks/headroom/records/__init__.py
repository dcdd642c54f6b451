"""Typed, frozen records of a tree, and loaders whose errors name file, line, field and remedy."""

from headroom.records.claims import CitedClaim, Claim, MeasuredClaim, Point
from headroom.records.evidence import Evidence, Run
from headroom.records.facts import HardwareClass
from headroom.records.modelled_claims import ModelledClaim
from headroom.records.problems import Problem
from headroom.records.reported_claims import ReportedClaim
from headroom.records.sessions import Session
from headroom.records.tree import Tree, load

__all__ = [
    "CitedClaim",
    "Claim",
    "Evidence",
    "HardwareClass",
    "MeasuredClaim",
    "ModelledClaim",
    "Point",
    "Problem",
    "ReportedClaim",
    "Run",
    "Session",
    "Tree",
    "load",
]
