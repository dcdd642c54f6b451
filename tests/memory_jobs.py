"""Random jobs for the comparison of the browser's estimates with Python's, and Python's estimates of them."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate_architecture
from headroom.memory.job import INFERENCE, Job
from headroom.memory.layouts import Layout
from headroom.site.memory_tool.browser_data import JOBS, PRECISIONS

ROOT = Path(__file__).parents[1]
OPTIMIZERS = (
    "adamw_torch_fused",
    "adamw_torch",
    "adamw_torch_8bit",
    "adamw_torch_4bit",
    "adamw_bnb_8bit",
    "paged_adamw_8bit",
    "lion_8bit",
    "adafactor",
    "muon",
    "sgd",
    "sgd_momentum",
)


def random_jobs(models: Mapping[str, Architecture], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield jobs in the words of the browser, each with the id of its model."""
    chosen = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(count):
        kind = chosen.choice(JOBS)
        training = kind not in INFERENCE
        yield {
            "model": chosen.choice(list(models)),
            "job": kind,
            "precision": chosen.choice(PRECISIONS),
            "optimizer": chosen.choice(OPTIMIZERS),
            "batch": chosen.choice((1, 2, 3, 7, 16, 33)),
            "length": chosen.choice((1, 17, 129, 512, 1000, 2048, 4096, 8191, 32768)),
            "accumulation": chosen.choice((1, 1, 4)) if training else 1,
            "checkpointing": training and chosen.random() < 0.5,
            "loss": chosen.choice(("whole", "chunked", "fused")),
            "chunk": chosen.choice((64, 512, 1000)),
            "rank": chosen.choice((1, 8, 16, 64)),
            "offload": training and chosen.random() < 0.2,
            "cache": chosen.choice(("bf16", "fp32")),
            "quantization": "auto" if training else chosen.choice(("auto", "nf4", "nf4-double", "int4", "int8", "fp8")),
        }


def estimated(models: Mapping[str, Architecture], job: Mapping[str, Any]) -> Estimate | None:
    """Return Python's estimate of a job in the browser's words, or None if it cannot be made."""
    words = {name: value for name, value in job.items() if name not in ("model", "card", "offload")}
    layout = Layout(offload="optimizer") if job["offload"] else Layout()
    try:
        return estimate_architecture(models[job["model"]], Job(**words, layout=layout), ROOT)
    except EstimateError:
        return None


def figures(found: Estimate | None) -> list[Any] | None:
    """Return the figures of an estimate that the browser must reproduce to the byte."""
    if found is None:
        return None
    parts = [[each.phase, {part.name: part.bytes for part in each.components}] for each in found.phases]
    return [found.peak, *found.needed, parts]
