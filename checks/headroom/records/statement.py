"""What every claim has, whatever it stands on."""

from typing import Literal

from pydantic import Field

from headroom.records.base import ClaimId, PagePath, Record, Slug, Text


class Statement(Record):
    """What every claim has, whatever it stands on."""

    id: ClaimId
    """Permanent, never reused; its first part is the topic and the folder."""
    statement: Text
    """One sentence that says which is better, in what, than what."""
    method: Slug
    guide: PagePath
    """The page that the claim belongs to, below docs/."""
    not_claimed: tuple[Text, ...] = Field(min_length=1)
    """What a reader might wrongly take from it."""
    state: Literal["active", "retired"] = "active"
