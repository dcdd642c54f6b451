"""Gates: what makes a session worth nothing for a claim, whatever its figures say. Each has a name."""

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
"""In how many blocks it must be known what the arms did. Not every block is inspected: it takes as long as a step."""
BUSY_SHARE = 0.1
"""Of the time of a machine's cores, what others may have on the mean; see docs/contribute/statistics.md."""


@dataclass(frozen=True, slots=True)
class Case:
    """One claim at one point of one session, as the gates see it."""

    claim: MeasuredClaim
    layout: RunLayout
    point: Point
    blocks: list[PairedBlock]
    runs: list[Run]
    """Those of all blocks."""
    baseline: tuple[float, ...]
    """What the baseline's run of each block counts as."""
    control: tuple[float, ...]
    """The same of each control that there is."""
    hardware: HardwareClass | None
    level: float


def _other_class(case: Case) -> bool:
    """The machine is not of the class that the session says."""
    return case.hardware is not None and not case.hardware.holds(case.layout.evidence.environment)


def _units(case: Case) -> bool:
    """The samples are in another unit than the metric's."""
    name = case.claim.metric.name
    return case.layout.evidence.units.get(name) != METRICS[name].unit


def _too_few_blocks(case: Case) -> bool:
    """The session was planned with fewer blocks than the claim fixes, or its blocks are not those that were planned."""
    planned, ran = case.layout.evidence.design.blocks, case.layout.blocks
    return planned < case.claim.blocks or len(ran) != planned or ran != set(range(planned))


def _repeated_runs(case: Case) -> bool:
    """A slot of a block was filled twice: somebody counted repetitions as blocks."""
    return case.layout.repeated


def _order(case: Case) -> bool:
    """The order is not the one that the recorded seed gives, or the clock says otherwise."""
    return not case.layout.in_order


def _failed_runs(case: Case) -> bool:
    """More than a tenth of the runs of an arm, or of the control, gave no result."""
    claim, layout = case.claim, case.layout
    for arm, control in ((claim.baseline, False), (claim.subject, False), (claim.baseline, True)):
        slot = Slot(arm, control, place(case.point))
        failed = layout.failures.get(slot, 0)
        if failed > _FAILED_SHARE * (failed + len(layout.runs.get(slot, ()))):
            return True
    return False


def _inputs(case: Case) -> bool:
    """The arms of a block did not see the same inputs, or two blocks did."""
    seen = {(run.block, run.input_seed) for run in case.runs}
    return not len(seen) == len({seed for _, seed in seen}) == len(case.blocks)


def _copied(case: Case) -> bool:
    """Two runs hold the very same noisy samples, or a run holds none."""
    if METRICS[case.claim.metric.name].exact:
        return False
    samples = [run.samples[case.claim.metric.name] for run in case.runs]
    return len(samples) != len(set(samples)) or not all(samples)


def _outputs(case: Case) -> bool:
    """A run of a block did not compute what its baseline did, within the claim's tolerance."""
    allowed = case.claim.allowed
    held = 2 if case.claim.gives_up else 1  # where the claim gives quality up, the control still must
    return any(
        output_check.apart(block.baseline.output, run.output) > allowed
        for block in case.blocks
        for run in block.runs[held:]
    )


def _quality(case: Case) -> bool:
    """A subject gave up more quality than the claim says, or it is not known how much."""
    given = case.claim.gives_up
    return given is not None and any(output_check.lost(case.claim, block) > given.at_most for block in case.blocks)


def _same_work(case: Case) -> bool:
    """Both arms ran the very same operations, or it is not known: the technique may be a silent no-op."""
    pairs = [(block.baseline.work_sha256, block.subject.work_sha256) for block in case.blocks]
    known = [a == b for a, b in pairs if a and b]
    return len(known) < _INSPECTED_BLOCKS or any(known)


def _throttled(case: Case) -> bool:
    """The device slowed down for heat or for its hardware's sake during a run."""
    return any(run.throttled for run in case.runs)


def _machine_busy(case: Case) -> bool:
    """Other work took more than a tenth of the machine's cores while the runs ran, so that it was timed as well."""
    if not METRICS[case.claim.metric.name].timed:
        return False
    return busy(case.runs, case.layout.evidence.environment)


def busy(runs: Sequence[Run], environment: Environment) -> bool:
    """Whether times of these runs are those of a machine that did something else as well.

    On the mean over the runs, so that one short disturbance, which a random order bears, is none. Where nobody counted,
    a machine had no core to spare when as many tasks as cores wanted to run before the session began.
    """
    counted = [run.others_cpu for run in runs if run.others_cpu is not None]
    if len(counted) < len(runs) and environment.load_before >= environment.cores:
        return True
    return bool(counted) and fmean(counted) > BUSY_SHARE


def _faster_than_hardware(case: Case) -> bool:
    """A step took less time than its matmuls can take on this hardware, or their FLOPs or its time are not known."""
    if case.hardware is None:
        return False
    flops: dict[str, float] = {}
    for run in case.runs:
        if run.flops:  # zero is not a free step: the counter did not see what ran
            flops[run.arm] = max(run.flops, flops.get(run.arm, run.flops))
    if {run.arm for run in case.runs} != flops.keys():
        return True
    peak, metric = case.hardware.peak_flops, case.claim.metric.name
    times = [(run, _seconds(run)) for run in case.runs]
    timed = METRICS[metric].timed
    fast = [run for run, seconds in times if (min(seconds) * peak < flops[run.arm] if seconds else timed)]
    return any(case.layout.value(run, metric) > 0 for run in fast)  # a bad sample of the metric has a reason of its own


def _seconds(run: Run) -> tuple[float, ...]:
    """The times of a run's steps, in seconds."""
    return (*run.samples.get("step_time", ()), *run.samples.get("first_step_time", ()))


def _control_missing(case: Case) -> bool:
    """A block has no control, so nothing shows that the session can tell like from unlike."""
    return not case.blocks or any(block.control is None for block in case.blocks)


def _control_failed(case: Case) -> bool:
    """The baseline differs from itself, in its figures or in the work that it did."""
    name = case.claim.metric.name
    pairs = [(block.baseline, block.control) for block in case.blocks if block.control]
    if any(None is not a.work_sha256 != b.work_sha256 is not None for a, b in pairs):
        return True
    baseline = [value for value, block in zip(case.baseline, case.blocks, strict=True) if block.control]
    from headroom.maths.statistics import control_holds  # noqa: PLC0415 - numpy is slow to load, and often not needed

    return not control_holds(baseline, case.control, level=case.level, exact=METRICS[name].exact)


# In the order in which they are named to the reader: the first that fails gives the reason.
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
    """The name of the first gate that this case does not pass, or None where it passes all."""
    return next((name for name, fails in GATES.items() if fails(case)), None)
