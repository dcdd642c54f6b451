"""What the site publishes of claims for other programs: claims.json, and the same of each claim alone.

Every path is relative to the top of the site, whose address ``site`` gives where it is known.
"""

from pydantic import Field

from headroom.records.base import Record, Value
from headroom.records.retirement import Retirement


class PublishedPoint(Record):
    """A claim at one point of its sweep, or as a whole where nothing is swept."""

    point: dict[str, Value]
    asserted: bool
    """Whether the claim means this point, or only shows it."""
    verdict: str
    reason: str
    ratio: float | None
    """Improvement of the subject over the baseline, above 1 where the subject is better; null where it is not known."""
    low: float | None
    """The lower end of the ratio's interval; null where it has none."""
    high: float | None
    """The upper end; null where the interval has no upper bound."""
    level: float
    """The level of the interval, shared among the points of a sweep already."""
    n: int
    """Blocks: independent repetitions of both arms."""
    baseline: float | None
    """Median of the baseline, in the unit of the metric."""
    subject: float | None
    """Median of the subject, in the unit of the metric."""


class PublishedCrossover(Record):
    """Where along its sweep a claim is supported."""

    kind: str
    """``everywhere``, ``from``, ``up_to``, ``nowhere``, ``unresolved``, or ``irregular``."""
    edge: Value | None
    """The first supported value of ``from``, the last one of ``up_to``."""
    between: tuple[Value, Value] | None
    """Between which two measured values the verdict changes; null where that is not one place."""


class PublishedEvent(Record):
    """One line of the history of a claim."""

    date: str
    time: str | None
    """In UTC; null where the record does not say it."""
    hardware: str | None
    """The hardware class; null where the claim was retired, which is so on all of them."""
    evidence: str | None
    before: str
    after: str
    why: str


class PublishedStanding(Record):
    """A claim on one hardware class."""

    status: str
    reason: str
    age: str | None
    """``fresh``, ``ageing``, ``stale`` or ``void``; null where there is no evidence."""
    age_reason: str
    date: str | None
    """The day of the session that counts."""
    time: str | None
    """In UTC; null where the session does not say it."""
    evidence: str | None
    """The path of that session's raw data."""
    product: str | None
    """The machine that it ran on."""
    versions: dict[str, str]
    """Of the software that it ran with."""
    disputed_between: list[str]
    """The paths of the two sessions that say the opposite."""
    crossover: PublishedCrossover | None
    """Null where nothing is swept or measured."""
    points: list[PublishedPoint]


class PublishedPrediction(Record):
    """What the formula of a modelled claim comes to."""

    name: str
    unit: str
    value: float | None
    low: float | None
    high: float | None


class PublishedCheck(Record):
    """A formula held to one measurement."""

    claim: str
    hardware: str
    point: dict[str, Value]
    predicted: float | None
    measured: float | None
    error: float | None
    """Relative; null where one of the two is not known."""
    tolerance: float


class PublishedModel(Record):
    """What a modelled claim has in place of standings."""

    status: str
    formula: str
    predicts: PublishedPrediction
    validated_by: list[PublishedCheck]


class PublishedClaim(Record):
    """A claim with its verdicts."""

    id: str
    kind: str
    """``measured``, ``cited`` or ``modelled``."""
    state: str
    """``active`` or ``retired``."""
    retired: Retirement | None
    supersedes: list[str]
    """The claims whose place it took."""
    statement: str
    metric: str | None
    """What is compared; null where nothing was measured."""
    unit: str | None
    page: str
    samples: str | None
    """The path of its samples as CSV; null where nothing was measured."""
    badges: dict[str, str]
    """The paths of its badges by hardware class, and that of the claim as a whole by an empty name."""
    standings: dict[str, PublishedStanding]
    """By hardware class."""
    history: list[PublishedEvent]
    """The oldest first."""
    model: PublishedModel | None = None


class PublishedFloor(Record):
    """How far times of a hardware class differ where nothing does."""

    share: float
    comparisons: int
    sessions: int
    counts: bool
    """Whether it rests on enough for claims to be held to it."""


class PublishedHardware(Record):
    """A hardware class."""

    name: str
    peak_flops: float
    noise_floor: PublishedFloor | None
    machines: list[str]
    """The paths of what such machines were measured to do."""


class PublishedClaims(Record):
    """claims.json: every claim, and every hardware class."""

    site: str | None
    """The address of the top of the site, which every path here is relative to; null where it is not known."""
    described_by: str = Field(alias="$schema")
    """The path of the JSON Schema of this file."""
    claims: list[PublishedClaim]
    hardware: dict[str, PublishedHardware]


class PublishedAlone(Record):
    """The file of one claim."""

    site: str | None
    """The address of the top of the site, which every path here is relative to; null where it is not known."""
    described_by: str = Field(alias="$schema")
    """The path of the JSON Schema of this file."""
    claim: PublishedClaim
