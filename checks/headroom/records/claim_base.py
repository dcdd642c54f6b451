"""What every claim has, whatever it stands on."""

from pydantic import Field

from headroom.records.base import ClaimId, PagePath, Record, Slug, Text
from headroom.records.retirement import Retirement


class Statement(Record):
    """What every claim has, whatever it stands on."""

    id: ClaimId
    """Permanent, never reused; its first part is the topic and the folder."""
    statement: Text
    """One sentence that says which is better, in what, than what."""
    method: Slug | None
    """The technique that it is about; null where it is about this project's own way of measuring."""
    guide: PagePath
    """The page that the claim belongs to, below docs/."""
    not_claimed: tuple[Text, ...] = Field(min_length=1)
    """What a reader might wrongly take from it."""
    retired: Retirement | None = None
    """Where it is no longer made: since when and why. No page then leans on it without saying so."""
