"""The fields that measured, cited and modelled claims share."""

from pydantic import Field

from headroom.records.base import ClaimId, PagePath, Record, Slug, Text
from headroom.records.retirement import Retirement


class Statement(Record):
    """The fields that all claims share."""

    id: ClaimId
    """Permanent, never reused; its first part is the topic and the folder."""
    statement: Text
    """One sentence that says what is better than what, and in which metric."""
    method: Slug | None
    """The method that the claim is about; null if it is about this project's own way of measuring."""
    guide: PagePath
    """The page that the claim belongs to, below docs/."""
    not_claimed: tuple[Text, ...] = Field(min_length=1)
    """Conclusions that a reader might wrongly draw from the claim."""
    retired: Retirement | None = None
    """When and why the claim was retired. A page that links a retired claim must say so."""
