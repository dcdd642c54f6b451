"""The schema of claims.json and of the JSON file of each claim, which the site publishes for other programs.

Every path is relative to the root of the site, whose address is ``site`` if it is known.
"""

from pydantic import Field

from headroom.records.base import Record, Value
from headroom.records.claims import CitedFigure, Source, Sweep
from headroom.records.retirement import Retirement

FORMAT_VERSION = 1
"""The version of the published files. It rises when a field is removed or changes its meaning."""


class PublishedPoint(Record):
    """A claim at one point of its sweep, or as a whole if it has no sweep."""

    point: dict[str, Value]
    asserted: bool
    """Whether the claim asserts this point, or only shows it."""
    verdict: str
    reason: str
    ratio: float | None
    """Improvement of the subject over the baseline, above 1 if the subject is better; null if unknown."""
    low: float | None
    """The lower end of the ratio's interval; null if it has none."""
    high: float | None
    """The upper end; null if the interval has no upper bound."""
    level: float
    """The level of the interval, corrected for the number of points in the sweep."""
    n: int
    """Number of blocks: independent repetitions of both arms."""
    baseline: float | None
    """Median of the baseline, in the unit of the metric."""
    subject: float | None
    """Median of the subject, in the unit of the metric."""


class PublishedCrossover(Record):
    """The part of its sweep in which a claim is supported."""

    kind: str
    """``everywhere``, ``from``, ``up_to``, ``nowhere``, ``unresolved``, or ``irregular``."""
    edge: Value | None
    """The first supported value for ``from``, the last one for ``up_to``."""
    between: tuple[Value, Value] | None
    """The two measured values between which the verdict changes; null if it does not change exactly once."""


class PublishedEvent(Record):
    """One event in the history of a claim."""

    date: str
    time: str | None
    """In UTC; null if it was not recorded."""
    hardware: str | None
    """The hardware class; null for a retirement, which applies to all classes."""
    evidence: str | None
    before: str
    after: str
    why: str


class PublishedStanding(Record):
    """A claim on one hardware class."""

    status: str
    reason: str
    age: str | None
    """``fresh``, ``ageing``, ``stale`` or ``void``; null if there is no evidence."""
    age_reason: str
    date: str | None
    """The date of the session that decides the verdict."""
    time: str | None
    """In UTC; null if the session does not record it."""
    evidence: str | None
    """The path of that session's raw data."""
    product: str | None
    """The machine of that session."""
    versions: dict[str, str]
    """The software versions of that session."""
    disputed_between: list[str]
    """The paths of the two sessions with opposite results."""
    crossover: PublishedCrossover | None
    """Null if the claim has no sweep or is not measured."""
    points: list[PublishedPoint]


class PublishedPrediction(Record):
    """The prediction of a modelled claim's formula."""

    name: str
    unit: str
    value: float | None
    low: float | None
    high: float | None


class PublishedCheck(Record):
    """The comparison of a formula with one measurement."""

    claim: str
    hardware: str
    point: dict[str, Value]
    predicted: float | None
    measured: float | None
    error: float | None
    """The relative error; null if one of the two values is unknown."""
    tolerance: float


class PublishedConditions(Record):
    """The arms of a measured claim and the conditions of their comparison."""

    benchmark: str
    subject: str
    """The arm that the claim says is better."""
    baseline: str
    """The arm that the subject is compared with."""
    fixed: dict[str, Value]
    """The conditions that the benchmark fixes: model, data type, tokens."""
    at: dict[str, Value]
    """The benchmark's parameters that are not swept."""
    sweep: Sweep | None
    """The axis along which the claim is measured; null if there is one point."""
    holds_for: str | None
    """The part of the sweep that the statement asserts; null if it asserts all of it."""
    hardware: list[str]
    """The hardware classes to which the statement applies."""


class PublishedCitation(Record):
    """The source and the quote of a cited claim, which this project did not measure."""

    source: Source
    """The title, authors, year, type, URL, locator and retrieval date."""
    quote: str
    """The words of the source."""
    figures: list[CitedFigure]
    """The figures of the quote, with their units and as printed in the source."""
    hardware_as_stated: str
    """The hardware, as the source states it."""
    independence: str
    """Who reports it: ``author`` of the method, its ``vendor``, or an ``independent`` party."""


class PublishedModel(Record):
    """The formula of a modelled claim, its prediction and its validations."""

    status: str
    formula: str
    valid_when: str
    """The conditions under which the formula holds."""
    predicts: PublishedPrediction
    validated_by: list[PublishedCheck]


class PublishedResult(Record):
    """What the rows of one published comparison say."""

    record: str
    """The id of the comparison, as in checks/published/."""
    verdict: str
    """``agrees``, ``disagrees`` or ``mixed``."""
    raw: str
    """What one row is: ``samples``, ``windows``, ``quantiles``, ``reruns`` or ``single``."""
    ratio: float
    """Improvement of the subject over the baseline, above 1 if the subject is better."""
    low: float | None
    """The lowest ratio over reruns or between quantiles; null if the rows show no range. No confidence interval."""
    high: float | None
    n: int
    """Number of paired reruns; 1 for other rows."""
    baseline: float
    subject: float
    unit: str
    """The unit of both amounts."""
    source: str
    """The address of the original at its commit."""
    licence: str
    measured_until: str
    """The latest day on which it can have been measured."""
    stake: str
    hardware: str
    versions: dict[str, str]
    conditions: dict[str, str]
    unknown: list[str]
    exceptions: list[str]
    """How the arms differ in more than the method."""


class PublishedClaim(Record):
    """A claim with its verdicts."""

    id: str
    kind: str
    """``measured``, ``reported``, ``cited`` or ``modelled``."""
    verdict: str
    """The verdict on all hardware classes together; the least favourable class decides.

    ``supported``, ``contradicted``, ``inconclusive``, ``disputed``, ``flips``, ``unmeasured``, ``modelled``, ``cited``
    or ``retired``. Only ``supported`` and ``modelled`` mean that the statement holds. ``flips`` means that it holds in
    a part of the sweep. ``cited`` means that a source reports it and that this project did not measure it.
    ``agrees``, ``disagrees`` and ``mixed`` compare a reported claim with rows that somebody else published.
    """
    state: str
    """``active`` or ``retired``: whether the project still makes the claim. It does not say that the claim is true."""
    retired: Retirement | None
    supersedes: list[str]
    """The claims that it replaced."""
    statement: str
    """One sentence. The statement of a cited claim begins with its source."""
    method: str | None
    """The method that the claim is about; null if it is about this project's own way of measuring."""
    guide: str
    """The path of the guide that the claim belongs to."""
    not_claimed: list[str]
    """Conclusions that a reader might wrongly draw from the statement."""
    conditions: PublishedConditions | None
    """Null if this project did not measure the claim."""
    citation: PublishedCitation | None
    """Null if the claim is not cited."""
    metric: str | None
    """The compared metric; null if nothing was measured."""
    unit: str | None
    page: str
    samples: str | None
    """The path of its samples as CSV; null if nothing was measured."""
    badges: dict[str, str]
    """The paths of its badges by hardware class; the empty name is the badge of all classes together."""
    standings: dict[str, PublishedStanding]
    """By hardware class."""
    history: list[PublishedEvent]
    """The events, oldest first."""
    model: PublishedModel | None = None
    reported: list[PublishedResult] | None = None
    """The published comparisons of a reported claim; null for other claims."""


class PublishedFloor(Record):
    """The noise floor of a hardware class: how far times of identical arms differ."""

    share: float
    comparisons: int
    sessions: int
    counts: bool
    """Whether it rests on enough comparisons and sessions to be applied to claims."""


class PublishedHardware(Record):
    """A hardware class."""

    name: str
    peak_flops: float
    noise_floor: PublishedFloor | None
    machines: list[str]
    """The paths of the machine records of the class."""


class PublishedFile(Record):
    """The fields that all published files share."""

    format_version: int
    """Rises when a field is removed or changes its meaning, not when one is added."""
    commit: str | None
    """The commit that the file was built from; null outside of a git repository."""
    commit_date: str | None
    """The date of that commit in UTC. The file does not depend on the date of the build."""
    site: str | None
    """The address of the site's root, to which every path here is relative; null if unknown."""
    described_by: str = Field(alias="$schema")
    """The path of the JSON Schema of this file."""


class PublishedClaims(PublishedFile):
    """The file claims.json: all claims and all hardware classes."""

    claims: list[PublishedClaim]
    hardware: dict[str, PublishedHardware]


class PublishedAlone(PublishedFile):
    """The file of one claim."""

    claim: PublishedClaim
