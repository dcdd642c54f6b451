"""Read the files of checks/facts/: figures, hardware, accelerators, environments, models, cards and others."""

from dataclasses import dataclass, field

from pydantic import TypeAdapter

from headroom.io.safe_read import Found
from headroom.records import (
    accelerators,
    cards,
    model_shapes,
    out_of_memory,
    snippet_environments,
    step_time_model,
    vllm_logs,
)
from headroom.records.accelerator_files import read_families
from headroom.records.accelerators import Family
from headroom.records.cards import Cards
from headroom.records.facts import FactSheet, HardwareClass, StandIns
from headroom.records.harness_versions import HarnessVersions
from headroom.records.loader import Reader
from headroom.records.measuring_order import MeasuringOrder
from headroom.records.model_shapes import ModelShape
from headroom.records.out_of_memory import QuotedErrors
from headroom.records.snippet_environments import Environments
from headroom.records.step_time_model import StepTimeModel
from headroom.records.vllm_logs import VllmLogs

_CLASSES: TypeAdapter[dict[str, HardwareClass]] = TypeAdapter(dict[str, HardwareClass])
_ENVIRONMENTS: TypeAdapter[Environments] = TypeAdapter(Environments)


@dataclass(slots=True)
class Facts:
    """The records of checks/facts/."""

    classes: dict[str, HardwareClass] = field(default_factory=dict)
    sheets: dict[str, FactSheet] = field(default_factory=dict)
    stand_ins: StandIns = field(default_factory=lambda: StandIns(models={}, datasets={}))
    versions: HarnessVersions = field(default_factory=HarnessVersions)
    order: MeasuringOrder = field(default_factory=MeasuringOrder)
    shapes: dict[str, ModelShape] = field(default_factory=dict)
    environments: Environments = field(default_factory=dict)
    cards: Cards = field(default_factory=Cards)
    families: dict[str, Family] = field(default_factory=dict)
    step_time: StepTimeModel | None = None


def read_facts(reader: Reader) -> Facts:
    """Return the records of checks/facts/. A file with a problem is reported and leaves its default."""
    facts = Facts(families=read_families(reader))
    for file in reader.each("checks/facts", ".yml", "facts"):
        if file.name.startswith(f"{accelerators.FOLDER}/"):
            continue
        if file.name.startswith(f"{model_shapes.FOLDER}/"):
            if shape := model_shapes.shape_of(reader, file):
                facts.shapes[shape.id] = shape
        else:
            _read(reader, file, facts)
    model_shapes.check_names(reader, facts.shapes)
    _name_sheets_once(reader, facts)
    return facts


def _read(reader: Reader, file: Found, facts: Facts) -> None:
    if file.stem == "hardware-classes":
        facts.classes = _with_peaks(reader, file, reader.yaml(file, "facts", _CLASSES.validate_json) or {}, facts)
    elif file.stem == "stand-ins":
        facts.stand_ins = reader.yaml(file, "facts", StandIns.model_validate_json) or facts.stand_ins
    elif file.name == snippet_environments.PATH:
        facts.environments = reader.yaml(file, "facts", _ENVIRONMENTS.validate_json) or {}
    elif file.stem == "harness-versions":
        facts.versions = reader.yaml(file, "facts", HarnessVersions.model_validate_json) or facts.versions
    elif file.stem == "measuring-order":
        facts.order = reader.yaml(file, "facts", MeasuringOrder.model_validate_json) or facts.order
    elif file.name == cards.PATH:
        known = {name: each for family in facts.families.values() for name, each in family.accelerators.items()}
        facts.cards = cards.cards_of(reader, file, known) or facts.cards
    elif file.name == out_of_memory.PATH:
        reader.yaml(file, "facts", QuotedErrors.model_validate_json)  # estimates read the file themselves
    elif file.name == step_time_model.PATH:
        facts.step_time = reader.yaml(file, "facts", StepTimeModel.model_validate_json)
    elif file.name == vllm_logs.PATH:
        reader.yaml(file, "facts", VllmLogs.model_validate_json)
    elif sheet := reader.yaml(file, "facts", FactSheet.model_validate_json):
        _check_sheet(reader, file, sheet)
        facts.sheets[sheet.id] = sheet


def _check_sheet(reader: Reader, file: Found, sheet: FactSheet) -> None:
    if sheet.id != file.stem:
        message = f"the id `{sheet.id}` differs from the file name"
        reader.report(file.name, "facts", message, f"rename the file to {sheet.id}.yml, or correct the id")
    for key, cell in sheet.figures.items():
        if cell.source not in sheet.sources:
            line = reader.line(file, ("figures", key, "source"))
            message = f"the source of the figure `{key}` is not in `sources`"
            reader.report(file.name, "facts", message, f"add {cell.source} to `sources`, or correct the name", line)


def _with_peaks(
    reader: Reader, file: Found, classes: dict[str, HardwareClass], facts: Facts
) -> dict[str, HardwareClass]:
    """Return the classes, each with the peak FLOP/s of the accelerator that it names."""
    found = dict(classes)
    for name, known in classes.items():
        if known.peak is None:
            continue
        if known.peak_flops is not None or known.peak_flops_source is not None:
            remedy = "remove `peak_flops` and `peak_flops_source`"
            message = f"{name} has its peak from two places"
            reader.report(file.name, "facts", message, remedy, reader.line(file, (name, "peak")))
        family = next((each for each in facts.families.values() if known.peak.accelerator in each.accelerators), None)
        accelerator = family.accelerators[known.peak.accelerator] if family else None
        value = accelerator.peak(known.peak.format) if accelerator else None
        if accelerator is None or value is None:
            if any(problem.path.startswith(f"{accelerators.FOLDER}/") for problem in reader.problems):
                continue  # it may be in the file that cannot be read
            line = reader.line(file, (name, "peak"))
            message = f"there is no dense {known.peak.format} rate of an accelerator `{known.peak.accelerator}`"
            reader.report(file.name, "facts", message, f"correct it, or add the rate in {accelerators.FOLDER}/", line)
        else:
            source = f"dense {known.peak.format} peak of {accelerator.title}"
            found[name] = known.model_copy(update={"peak_flops": value * 1e12, "peak_flops_source": source})
    return found


def _name_sheets_once(reader: Reader, facts: Facts) -> None:
    """Report accelerators with the name of a sheet: `fact:` links name both."""
    for stem, family in facts.families.items():
        path = f"{accelerators.FOLDER}/{stem}.yml"
        for name in family.accelerators.keys() & facts.sheets.keys():
            line = reader.documents[path].line(("accelerators", name))
            message = f"checks/facts/{name}.yml has the same name as the accelerator `{name}`"
            reader.report(path, "facts", message, "rename one of the two", line)
