"""Random training runs for the comparison of the browser's plans with Python's, and Python's plans of them."""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headroom.memory.errors import EstimateError
from headroom.planner.plan import Plan, plan
from headroom.site.plan_form import OPTIMIZERS

ROOT = Path(__file__).parents[1]


def random_runs(models: Sequence[str], cards: Sequence[str], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield runs in the words of the browser; some of them cannot be planned."""
    chosen = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(count):
        gpus = chosen.choice((1, 2, 4, 4, 6, 8, 8, 8)) * (nodes := chosen.choice((1, 1, 1, 2, 2, 3, 4)))
        yield {
            "model": chosen.choice(models),
            "card": chosen.choice(cards),
            "perNode": gpus // nodes,
            "nodes": nodes,
            "network": chosen.choice((400, 100, 25.5, 3200)),
            "link": chosen.choice((None, None, 64, 450.5)),
            "batch": gpus * chosen.choice((1, 1, 2, 3, 8, 20)),
            "length": chosen.choice((512, 1000, 2048, 2048, 4096, 8192, 16384)),
            "precision": chosen.choice(("bf16", "bf16", "fp8")),
            "kernels": chosen.choice(("fused", "eager")),
            "overlap": chosen.random() < 0.3,
            "loss": chosen.choice(("whole", "chunked", "fused")),
            "optimizer": chosen.choice(OPTIMIZERS),
            "sure": chosen.random() < 0.3,
        }


def planned(run: Mapping[str, Any]) -> Plan | None:
    """Return Python's plan of a run in the browser's words, or None if it cannot be made."""
    names = {"perNode": "gpus_per_node", "overlap": "tensor_overlap"}
    words = {names.get(name, name): value for name, value in run.items() if name not in ("model", "nodes")}
    try:
        return plan(run["model"], gpus=run["perNode"] * run["nodes"], root=ROOT, **words)
    except EstimateError:
        return None


def figures(found: Plan) -> list[list[Any]]:
    """Return what the browser must reproduce of each layout, the best first."""
    return [
        [
            each.name,
            each.work.batch,
            each.work.accumulation,
            int(each.work.recompute),
            each.peak,
            *each.needed,
            each.slower,
            each.verdict == "fits",
            each.time.compute,
            each.time.communication,
            each.time.bubble,
            each.time.optimizer,
            each.time.straggling,
            each.time.seconds,
            each.time.rate,
        ]
        for each in found.layouts
    ]
