"""Gates: named checks that a session must pass to count as evidence for a claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from headroom.records.claims import MeasuredClaim, Point
from headroom.records.evidence import Environment, Run, Slot, place
from headroom.records.facts import HardwareClass
from headroom.records.metrics import METRICS
from headroom.verdicts import output_check
from headroom.verdicts.paired_blocks import PairedBlock, RunLayout

_FAILED_SHARE = 0.1
_INSPECTED_BLOCKS = 3
"""Number of blocks whose operations must be recorded. Not every block is inspected, since that takes a step's time."""
BUSY_SHARE = 0.1
"""The mean share of core time that other processes may use; see docs/contribute/statistics.md."""


@dataclass(frozen=True, slots=True)
class Case:
    """One claim at one point of one session: the input of a gate."""

    claim: MeasuredClaim
    layout: RunLayout
    point: Point
    blocks: list[PairedBlock]
    runs: list[Run]
    """The runs of all blocks."""
    baseline: tuple[float, ...]
    """The value of the baseline's run in each block, in the metric's unit."""
    control: tuple[float, ...]
    """The value of each block's control, where it has one."""
    hardware: HardwareClass | None
    level: float


def _other_class(case: Case) -> bool:
    """The machine does not belong to the session's hardware class."""
    return case.hardware is not None and not case.hardware.holds(case.layout.evidence.environment)


def _units(case: Case) -> bool:
    """The samples are not in the metric's unit."""
    name = case.claim.metric.name
    return case.layout.evidence.units.get(name) != METRICS[name].unit


def _too_few_blocks(case: Case) -> bool:
    """The session planned fewer blocks than the claim requires, or its blocks differ from the planned ones."""
    planned, ran = case.layout.evidence.design.blocks, case.layout.blocks
    return planned < case.claim.blocks or len(ran) != planned or ran != set(range(planned))


def _repeated_runs(case: Case) -> bool:
    """A slot of a block has two runs, so repetitions were counted as blocks."""
    return case.layout.repeated


def _order(case: Case) -> bool:
    """The order of runs differs from that of the recorded seed, or contradicts their times."""
    return not case.layout.in_order


def _failed_runs(case: Case) -> bool:
    """More than a tenth of the runs of an arm, or of the control, failed."""
    claim, layout = case.claim, case.layout
    for arm, control in ((claim.baseline, False), (claim.subject, False), (claim.baseline, True)):
        slot = Slot(arm, control, place(case.point))
        failed = layout.failures.get(slot, 0)
        if failed > _FAILED_SHARE * (failed + len(layout.runs.get(slot, ()))):
            return True
    return False


def _inputs(case: Case) -> bool:
    """The arms of a block had different inputs, or two blocks had the same."""
    seen = {(run.block, run.input_seed) for run in case.runs}
    return not len(seen) == len({seed for _, seed in seen}) == len(case.blocks)


def _copied(case: Case) -> bool:
    """Two runs have identical noisy samples, or a run has none."""
    if METRICS[case.claim.metric.name].exact:
        return False
    samples = [run.samples[case.claim.metric.name] for run in case.runs]
    return len(samples) != len(set(samples)) or not all(samples)


def _outputs(case: Case) -> bool:
    """A run's output differs from its baseline's by more than the claim's tolerance."""
    allowed = case.claim.allowed
    first = 2 if case.claim.gives_up else 1  # if the claim gives up quality, only the control must match
    return any(
        output_check.relative_difference(block.baseline.output, run.output) > allowed
        for block in case.blocks
        for run in block.runs[first:]
    )


def _quality(case: Case) -> bool:
    """The subject gave up more quality than the claim allows, or an unknown amount."""
    given = case.claim.gives_up
    return given is not None and any(
        output_check.quality_loss(case.claim, block) > given.at_most for block in case.blocks
    )


def _same_work(case: Case) -> bool:
    """Both arms ran the same operations, or these are unknown, so the technique may be a silent no-op."""
    pairs = [(block.baseline.work_sha256, block.subject.work_sha256) for block in case.blocks]
    known = [a == b for a, b in pairs if a and b]
    return len(known) < _INSPECTED_BLOCKS or any(known)


def _throttled(case: Case) -> bool:
    """The device reduced its clock during a run, because of heat or another hardware limit."""
    return any(run.throttled for run in case.runs)


def _machine_busy(case: Case) -> bool:
    """Other processes used more than a tenth of the machine's cores during timed runs."""
    if not METRICS[case.claim.metric.name].timed:
        return False
    return busy(case.runs, case.layout.evidence.environment)


def busy(runs: Sequence[Run], environment: Environment) -> bool:
    """Return whether other processes used the machine during these runs.

    The mean over the runs decides, since the random order tolerates a short disturbance. If a run did not record the
    share, the machine was busy if its load before the session was at least its number of cores.
    """
    counted = [run.others_cpu for run in runs if run.others_cpu is not None]
    if len(counted) < len(runs) and environment.load_before >= environment.cores:
        return True
    return bool(counted) and fmean(counted) > BUSY_SHARE


def _faster_than_hardware(case: Case) -> bool:
    """A step was faster than its matmuls can be on this hardware, or its FLOPs or its time are unknown."""
    if case.hardware is None:
        return False
    flops: dict[str, float] = {}
    for run in case.runs:
        if run.flops:  # zero means that the counter missed the operations
            flops[run.arm] = max(run.flops, flops.get(run.arm, run.flops))
    if {run.arm for run in case.runs} != flops.keys():
        return True
    peak, metric = case.hardware.roofline, case.claim.metric.name
    times = [(run, _seconds(run)) for run in case.runs]
    timed = METRICS[metric].timed
    fast = [run for run, seconds in times if (min(seconds) * peak < flops[run.arm] if seconds else timed)]
    return any(case.layout.value(run, metric) > 0 for run in fast)  # a bad sample of the metric has its own reason


def _seconds(run: Run) -> tuple[float, ...]:
    """Return the times of a run's steps, in seconds."""
    return (*run.samples.get("step_time", ()), *run.samples.get("first_step_time", ()))


def _control_missing(case: Case) -> bool:
    """A block has no control, so the session cannot show that equal programs measure equal."""
    return not case.blocks or any(block.control is None for block in case.blocks)


def _control_failed(case: Case) -> bool:
    """The control differs from the baseline, in its values or in its operations."""
    name = case.claim.metric.name
    pairs = [(block.baseline, block.control) for block in case.blocks if block.control]
    if any(None is not a.work_sha256 != b.work_sha256 is not None for a, b in pairs):
        return True
    baseline = [value for value, block in zip(case.baseline, case.blocks, strict=True) if block.control]
    from headroom.maths.statistics import control_holds  # noqa: PLC0415 - numpy is slow to load, and often not needed

    return not control_holds(baseline, case.control, level=case.level, exact=METRICS[name].exact)


# The first failing gate, in this order, gives the reason.
GATES: dict[str, Callable[[Case], bool]] = {
    "wrong_hardware_class": _other_class,
    "unit_mismatch": _units,
    "too_few_blocks": _too_few_blocks,
    "repeated_runs": _repeated_runs,
    "order_not_random": _order,
    "failed_runs": _failed_runs,
    "inputs_not_paired": _inputs,
    "copied_samples": _copied,
    "output_differs": _outputs,
    "quality_lost": _quality,
    "same_work": _same_work,
    "throttled": _throttled,
    "machine_busy": _machine_busy,
    "faster_than_hardware": _faster_than_hardware,
    "control_missing": _control_missing,
    "control_failed": _control_failed,
}


def failed_gate(case: Case) -> str | None:
    """Return the name of the first gate that a case fails; None if it passes all."""
    return next((name for name, fails in GATES.items() if fails(case)), None)
