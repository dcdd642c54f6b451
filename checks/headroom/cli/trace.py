"""``headroom trace``: trace the memory of a job on a machine without a GPU, or the coefficients of architectures."""

import argparse
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headroom.cli import FAILED, OK, USAGE
from headroom.io.atomic_write import write_atomic
from headroom.memory.families import FAMILIES
from headroom.memory.job import INFERENCE

_FOLDER = Path("checks/coefficients")
_GIB = 2**30


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the peak of each phase of a job, or write the coefficients of the named architectures."""
    logging.getLogger("torch.utils._pytree").setLevel(logging.ERROR)  # torchao's deprecations are not the reader's
    try:
        if options.coefficients:
            return _record(root, options.model)
        if options.grid:
            from headroom.cli import trace_grid  # noqa: PLC0415 - imports torch

            return trace_grid.run(root, options)
        _validate(options)
        if options.measure:
            return _compare(root, options)
        return _print(_peaks(root, options), as_json=options.json)
    except ImportError as error:
        _say(f"{error.name} is not installed; run pip install 'headroom[snippets]'")
        return USAGE
    except (ValueError, OSError) as error:
        _say(str(error))
        return USAGE


def _record(root: Path, names: list[str]) -> int:
    unknown = [name for name in names if name not in FAMILIES]
    if unknown:
        raise ValueError(f"no architecture {', '.join(unknown)}; known are {', '.join(FAMILIES)}")
    from headroom.memory.tracing.coefficient_record import probe_family  # noqa: PLC0415 - imports torch

    for name in names or FAMILIES:
        found = probe_family(FAMILIES[name], lambda line: print(line, file=sys.stderr))
        text = json.dumps(found | {"traced": f"{datetime.now(UTC):%Y-%m-%d}"}, separators=(",", ":"))
        write_atomic(root / _FOLDER / f"{name}.json", text.replace('},"', '},\n"') + "\n")
        print(_FOLDER / f"{name}.json")
    return OK


def _validate(options: argparse.Namespace) -> None:
    """Raise a ValueError for missing or contradictory arguments, before torch loads."""
    if len(options.model) != 1:
        raise ValueError("name one model: a shape of checks/facts/models, a folder with a config.json, or that file")
    if options.image_size and not options.images:
        raise ValueError("--image-size: the trace has no images; add --images 1")
    if options.four_bit and options.job not in INFERENCE:
        raise ValueError(f"--four-bit: {options.job} is no inference; use --job qlora-all, or prefill or decode")
    if not (options.input_gradients or options.checkpointed):
        raise ValueError("--no-input-gradients: it changes nothing without --checkpointed; add that, or leave this out")


def _job(root: Path, options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the transformers configuration and the settings that the arguments name."""
    from headroom.memory.tracing.configurations import configuration  # noqa: PLC0415 - imports transformers
    from headroom.memory.tracing.models import TraceSettings  # noqa: PLC0415 - imports torch

    fields = {name: getattr(options, name) for name in TraceSettings.__dataclass_fields__}
    return configuration(options.model[0], root), TraceSettings(**fields)


def _peaks(root: Path, options: argparse.Namespace) -> Mapping[str, Any]:
    from headroom.memory.tracing.images import image_tokens  # noqa: PLC0415 - imports torch
    from headroom.memory.tracing.models import has_audio, has_images, replaced_kernels  # noqa: PLC0415 - imports torch
    from headroom.memory.tracing.peaks import trace  # noqa: PLC0415 - imports torch

    config, settings = _job(root, options)
    found = trace(config, settings)
    if kernels := replaced_kernels(config):
        code = f"traced with transformers' PyTorch code in place of the kernels of {', '.join(kernels)}"
        _say(f"{code}; with these packages installed, a GPU allocates other tensors, so measure a step there")
    if settings.images:
        _say(f"traced with {image_tokens(config, settings)} image tokens of {settings.length} in each sequence")
    elif has_images(config):
        text = "traced with text alone: the image encoder counts with weights and optimizer states, without activations"
        _say(f"{text}; add --images 1 to trace it with images")
    if has_audio(config):
        _say("traced with 30 s of audio per sequence, to which each clip is padded; --length is the tokens of its text")
    return found


def _compare(root: Path, options: argparse.Namespace) -> int:
    """Print the traced and the measured peak of a job on this CPU; the measured one also if a trace is refused."""
    from headroom.execution.benchmark_run import MemoryMeter  # noqa: PLC0415 - imports torch
    from headroom.memory.tracing.real_step import measured_peak  # noqa: PLC0415 - imports torch

    if options.device != "cpu":
        raise ValueError("--measure runs on this CPU; add --device cpu")
    config, settings = _job(root, options)
    measured = measured_peak(config, settings, MemoryMeter("cpu"))
    traced: int | None = None
    try:
        traced = max(peak.total for phase, peak in _peaks(root, options).items() if phase != "setup")
    except ValueError as refused:
        _say(f"not traced: {refused}")
    if options.json:
        print(json.dumps({"traced": traced, "measured": measured}))
    elif traced is None:
        print(f"measured {measured / _GIB:.3f} GiB")
    else:
        error = traced / measured - 1
        print(f"traced {traced / _GIB:.3f} GiB, measured {measured / _GIB:.3f} GiB, error {error:+.2%}")
    return OK


def _print(peaks: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps({phase: dict(peak.parts) | {"total": peak.total} for phase, peak in peaks.items()}, indent=1))
    else:
        print("\n".join(_lines(peaks)))
    return OK if peaks else FAILED


def _lines(peaks: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per phase, with the categories that it consists of, in GiB."""
    shown = {phase: peak for phase, peak in peaks.items() if phase != "setup"}
    for phase, peak in shown.items():
        parts = ", ".join(f"{name} {size / _GIB:.2f}" for name, size in peak.parts.items() if size >= _GIB / 200)
        yield f"{phase:12} {peak.total / _GIB:8.2f} GiB in {peak.region}: {parts}"
    yield f"{'peak':12} {max(peak.total for peak in shown.values()) / _GIB:8.2f} GiB allocated"
    yield "assumed: no sequence is padded, and no layer is compiled"


def _say(message: str) -> None:
    print(f"headroom: {message}", file=sys.stderr)
