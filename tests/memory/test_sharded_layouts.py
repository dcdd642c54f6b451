"""Compare estimates of DDP, FSDP2 and HSDP with steps of a small Llama that were counted or are traced."""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headroom.memory.estimate import Estimate, estimate

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHAPE = {
    "model_type": "llama",
    "hidden_size": 768,
    "intermediate_size": 512,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "tie_word_embeddings": False,
}
CASES = [
    {"ranks": 2, "vocabulary": 1024, "layers": 4, "accumulation": 1, "bf16": 0, "shard": 2},
    {"ranks": 8, "vocabulary": 1024, "layers": 8, "accumulation": 4, "bf16": 0, "shard": 8},
    {"ranks": 8, "vocabulary": 16384, "layers": 4, "accumulation": 1, "bf16": 0, "shard": 8},
    {"ranks": 4, "vocabulary": 1024, "layers": 4, "accumulation": 1, "bf16": 1, "shard": 4},
    {"ranks": 4, "vocabulary": 1024, "layers": 4, "accumulation": 1, "bf16": 0, "shard": 2},
]


def predicted(vocabulary: int, layers: int, **options: Any) -> Estimate:
    config = SHAPE | {"vocab_size": vocabulary, "num_hidden_layers": layers}
    settings = {"length": 32, "attention": "sdpa", "precision": "fp32", **options}
    return estimate(config, job="full", root=ROOT, **settings)


@pytest.mark.parametrize("arm", ["DDP", "DDP, gradients as bucket views"])
def test_ddp_is_predicted_as_counted(arm: str) -> None:
    peaks = []
    for file in sorted((ROOT / "checks/evidence/sharded_training_step").glob("cpu-*.json")):
        runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
        peaks += [peak for run in runs if run["arm"] == arm for peak in run["samples"].get("peak_allocated", ())]
    assert len(peaks) >= 10
    job = predicted(1024, 4, strategy="ddp", data=2, batch=4, gradient_as_bucket_view="views" in arm)
    assert job.peak == pytest.approx(statistics.median(peaks), rel=0.02)


@pytest.mark.slow
def test_fsdp_is_predicted_as_traced() -> None:
    call = [sys.executable, str(HERE / "sharded_step.py"), json.dumps(CASES)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    for case, traced in zip(CASES, json.loads(done.stdout), strict=True):
        job = predicted(
            case["vocabulary"],
            case["layers"],
            strategy="hsdp" if case["shard"] < case["ranks"] else "fsdp",
            shard=case["shard"],
            data=case["ranks"],
            batch=4 // case["accumulation"],
            accumulation=case["accumulation"],
            precision="autocast" if case["bf16"] else "fp32",
        )
        assert job.peak == pytest.approx(traced, rel=0.05), case
        copies = [sum(c.bytes for c in m.components if c.name == "unreduced gradients") for m in job.phases]
        assert job.peak - max(copies) < 0.95 * traced, f"{case}: as near without the gradients that are being reduced"
