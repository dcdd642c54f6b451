"""The constants of the planner's step-time model: checks/facts/step-time-model.yml."""

from typing import Annotated

from pydantic import Field

from headroom.records.base import IsoDate, Record, Text
from headroom.records.facts import FactSource

PATH = "checks/facts/step-time-model.yml"
Share = Annotated[float, Field(ge=0, le=1)]
Tensors = Annotated[float, Field(gt=0, le=1000)]


class FittedConstants(Record):
    """The constants that were fitted on the published runs with ``use: fitted``."""

    matmul: Share
    attention: Share
    eager: Tensors
    fused: Tensors
    overlap: Share
    tensor_overlap: Share
    straggling: Share


class LinkShare(Record):
    """The part of a link's bandwidth that a collective of large messages reaches."""

    value: Share
    source: FactSource


class StepTimeModel(Record):
    """The constants, and when they were fixed."""

    title: Text
    fitted: IsoDate
    """The day on which form and constants were fixed. Runs that were added later are blind."""
    constants: FittedConstants
    link: LinkShare
