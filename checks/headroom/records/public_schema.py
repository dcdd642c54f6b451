"""What the site publishes of claims for other programs: claims.json, and the same of each claim alone.

Every path is relative to the top of the site, whose address ``site`` gives where it is known.
"""

from pydantic import Field

from headroom.records.base import Record, Value
from headroom.records.claims import CitedFigure, Source, Sweep
from headroom.records.retirement import Retirement

FORMAT_VERSION = 1
"""Of the published files: it rises when a field is removed or changes its meaning, not when one is added."""


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


class PublishedConditions(Record):
    """What a measured claim compares, and under which conditions."""

    benchmark: str
    subject: str
    """The arm that the claim says is better."""
    baseline: str
    """The arm that the subject is compared with."""
    fixed: dict[str, Value]
    """What the benchmark holds fixed: model, data type, tokens."""
    at: dict[str, Value]
    """The benchmark's parameters that are not swept."""
    sweep: Sweep | None
    """The axis along which the claim is measured; null where there is one point."""
    holds_for: str | None
    """The part of the sweep that the statement asserts; null where it asserts all of it."""
    hardware: list[str]
    """The hardware classes that the statement is meant for."""


class PublishedCitation(Record):
    """Who reports a cited claim, where, and in which words. This project did not measure it."""

    source: Source
    """Its title, authors, year, type, URL, locator and the day on which it was read."""
    quote: str
    """The words of the source."""
    figures: list[CitedFigure]
    """The figures of the quote, with their units, and as the source prints them."""
    hardware_as_stated: str
    """The hardware, as the source states it."""
    independence: str
    """Who reports it: ``author`` of the method, its ``vendor``, or an ``independent`` party."""


class PublishedModel(Record):
    """What a modelled claim has in place of standings."""

    status: str
    formula: str
    valid_when: str
    """The conditions under which the formula holds."""
    predicts: PublishedPrediction
    validated_by: list[PublishedCheck]


class PublishedClaim(Record):
    """A claim with its verdicts."""

    id: str
    kind: str
    """``measured``, ``cited`` or ``modelled``."""
    verdict: str
    """What the evidence says of the statement on all hardware classes together; the least favourable class decides.

    ``supported``, ``contradicted``, ``inconclusive``, ``disputed``, ``flips``, ``unmeasured``, ``modelled``, ``cited``
    or ``retired``. Only ``supported`` and ``modelled`` mean that the statement holds. ``flips`` means that it holds in
    a part of the sweep. ``cited`` means that somebody reports it and that this project did not measure it.
    """
    state: str
    """``active`` or ``retired``: whether the project still makes the claim. It does not say that the claim is true."""
    retired: Retirement | None
    supersedes: list[str]
    """The claims whose place it took."""
    statement: str
    """One sentence. That of a cited claim begins with who reports it."""
    method: str | None
    """The method that the claim is about; null where it is about this project's own way of measuring."""
    guide: str
    """The path of the guide that the claim belongs to."""
    not_claimed: list[str]
    """What a reader might wrongly conclude from the statement."""
    conditions: PublishedConditions | None
    """Null where this project did not measure the claim."""
    citation: PublishedCitation | None
    """Null where the claim is not cited."""
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


class PublishedFile(Record):
    """What every published file says of itself."""

    format_version: int
    """Rises when a field is removed or changes its meaning, not when one is added."""
    commit: str | None
    """The commit that the file was made from; null where the tree is in no git repository."""
    commit_date: str | None
    """The day of that commit in UTC. Nothing in the file depends on the day of the build."""
    site: str | None
    """The address of the top of the site, which every path here is relative to; null where it is not known."""
    described_by: str = Field(alias="$schema")
    """The path of the JSON Schema of this file."""


class PublishedClaims(PublishedFile):
    """claims.json: every claim, and every hardware class."""

    claims: list[PublishedClaim]
    hardware: dict[str, PublishedHardware]


class PublishedAlone(PublishedFile):
    """The file of one claim."""

    claim: PublishedClaim
