"""Test the steps whose memory a lent machine measures for the estimator: kill, resume, pack, adoption, a real step."""

import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import yaml

from factories import MACHINE, load_clean, write, write_tree
from headroom.changes.adoption import adoption
from headroom.cli import OK, main
from headroom.execution import lent_pack
from headroom.memory.estimate import estimate
from headroom.memory.sizes import card_bytes
from headroom.records import load
from headroom.records.evidence import Environment
from headroom.records.memory_errors import ComparedStep, MeasuredStep, MemoryErrors, step_path
from headroom.records.paths import record_text
from killed_process import measure_wanted, wait_for

REPOSITORY = Path(__file__).parents[1]
STEPS = [ComparedStep(model="tiny", job={"precision": "fp32", "batch": batch, "length": 64}) for batch in (1, 2, 3)]
TINY = {
    "id": "tiny",
    "title": "Tiny",
    "names": ["somebody/tiny"],
    "architecture": "LlamaForCausalLM",
    "sources": {
        name: {"title": "none", "url": "https://example.org/", "locator": "none", "retrieved": "2026-11-20"}
        for name in ("config", "parameters")
    },
    "config": {
        "model_type": "llama",
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 256,
        "vocab_size": 1000,
        "tie_word_embeddings": False,
    },
    "config_source": "config",
    "parameters": {"value": 552576, "unit": "parameter", "source": "parameters", "confidence": "high"},
}


def a_repository(root: Path, steps: list[ComparedStep]) -> Path:
    """Write a tree whose lent machines measure some steps on a CPU, and commit it."""
    write(write_tree(root) / "checks/registry/.gitkeep", "")
    memory = {
        "cpu": {"seconds": 1, "why": "a test", "steps": [each.model_dump(exclude_defaults=True) for each in steps]}
    }
    write(root / "checks/facts/measuring-order.yml", yaml.safe_dump({"memory": memory}))
    write(root / "checks/facts/models/tiny.yml", yaml.safe_dump(TINY))
    write(root / ".gitignore", ".cache/\n")
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init"], ["add", "."], ["commit", "--message", "Add steps"]):
        environment = {**os.environ, **names}
        subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, env=environment)
    return root


def measured(root: Path) -> list[object]:
    """Return the batch of each measured step."""
    return sorted(step.job["batch"] for record in load(root).memory_errors.values() for step in record.measured)


def test_kill_loses_only_the_running_step_and_another_clone_adopts_the_pack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, file = a_repository(tmp_path / "lent", STEPS), tmp_path / "lent.tar"
    clone = Path(copytree(root, tmp_path / "clone"))
    doomed = measure_wanted(root, "--minutes", "2", wait=0.5)
    wait_for(lambda: measured(root), doomed)
    doomed.killed(signal.SIGKILL)
    assert doomed.survivors() == []
    assert measured(root) == [1]

    code, out, err = measure_wanted(root, "--minutes", "2", "--pack", str(file)).ends()
    assert code == OK, err
    assert measured(root) == [1, 2, 3]
    assert out.split() == [step_path("cpu", each) for each in STEPS[1:]]
    assert "3 records are packed" in err
    assert load_clean(root).problems == ()  # a kill may leave a temporary file, which git ignores

    assert main(["adopt", str(file), "--root", str(clone)]) == OK
    assert capsys.readouterr().out.count("added checks/memory-errors/measured-cpu-") == 3
    assert measured(clone) == [1, 2, 3]
    assert main(["adopt", str(file), "--root", str(clone)]) == OK
    assert capsys.readouterr().out.count("already here") == 3


def test_steps_that_do_not_fit_into_the_time_are_left_for_the_next_call(tmp_path: Path) -> None:
    root = a_repository(tmp_path / "lent", STEPS)
    code, _, err = measure_wanted(root, "--minutes", "0.2", wait=1.2).ends()  # two seconds are left for steps
    assert code == OK, err
    assert measured(root) in ([1], [1, 2])


def a_record(**changes: Any) -> MemoryErrors:
    """Return a lent machine's record of the first step, with some fields of the record or of its step changed."""
    step = {**STEPS[0].model_dump(), "device": "cpu", "traced": 90, "measured": 100, "reserved": 110, "process": 200}
    fields = {
        "versions": {"torch": "2.13.0"},
        "machine": MACHINE.product,
        "date": "2026-11-21",
        "hardware_class": "cpu",
        "environment": Environment(**asdict(MACHINE)),
    }
    own = {name: value for name, value in changes.items() if name in MemoryErrors.model_fields}
    step |= {name: value for name, value in changes.items() if name not in own}
    return MemoryErrors(**{**fields, "measured": (MeasuredStep(**step),), **own})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"reserved": 99}, "takes less than PyTorch allocated or reserved"),
        ({"job": {"precision": "fp32", "batch": 9}}, "lists no such step"),
        ({"device": "cuda"}, "lists no such step"),
        ({"environment": None}, "not of the hardware class `cpu`"),
        ({"environment": Environment(**asdict(MACHINE) | {"threads": 2})}, "not of the hardware class `cpu`"),
        ({"measured": ()}, "not one measured step"),
        ({"date": "2199-01-01"}, "is in the future"),
    ],
)
def test_record_that_cannot_count_is_refused(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    clone, record = a_repository(tmp_path / "clone", STEPS), a_record(**changes)
    lent = Path(copytree(clone, tmp_path / "lent"))
    write(lent / step_path("cpu", record.measured[0] if record.measured else STEPS[0]), record_text(record))
    lent_pack.write(load(lent), MACHINE, "cpu", tmp_path / "lent.tar")
    found = adoption(clone, tmp_path / "lent.tar")
    assert len(found.added) == (not reason)
    assert reason in "".join(found.refused.values())


def test_a_record_under_another_name_is_refused(tmp_path: Path) -> None:
    clone = a_repository(tmp_path / "clone", STEPS)
    lent = Path(copytree(clone, tmp_path / "lent"))
    write(lent / step_path("cpu", STEPS[1]), record_text(a_record()))
    lent_pack.write(load(lent), MACHINE, "cpu", tmp_path / "lent.tar")
    assert "has another name" in "".join(adoption(clone, tmp_path / "lent.tar").refused.values())


@pytest.mark.slow
def test_a_real_step_is_measured_traced_and_packed(tmp_path: Path) -> None:
    root, file = a_repository(tmp_path / "lent", STEPS[:1]), tmp_path / "lent.tar"
    command = ["measure", "--wanted", "--minutes", "2.5", "--device", "cpu", "--pack", str(file), "--root", str(root)]
    done = subprocess.run([sys.executable, "-m", "headroom.cli", *command], check=False, capture_output=True, text=True)
    assert done.returncode == OK, done.stderr
    (record,) = load(root).memory_errors.values()
    (step,) = record.measured
    assert step.traced == pytest.approx(step.measured, rel=0.02)
    assert step.measured > 4 * 4 * TINY["parameters"]["value"]  # type: ignore[index] - fp32 with gradients and AdamW
    assert file.read_bytes().count(b"checks/memory-errors/measured-") >= 1


def test_every_step_for_a_gpu_can_be_estimated_and_fits_24_gigabytes() -> None:
    order = load(REPOSITORY).measuring_order.memory_of("cuda")
    assert order is not None
    card = card_bytes("24GB", REPOSITORY)
    assert len({step_path("h200", each) for each in order.steps}) == len(order.steps) == 12
    for each in order.steps:
        options: dict[str, Any] = dict(each.job)
        assert estimate(each.model, root=REPOSITORY, **options).needed[1] <= card, each
