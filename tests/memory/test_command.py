"""`headroom estimate`: its text, its JSON, its errors and its options."""

import json
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest

from headroom.cli import OK, USAGE, main, trace
from headroom.cli.estimate_options import FIELDS
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from llama_coefficients import LLAMA_8B

ROOT = Path(__file__).parents[2]


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA_8B), "utf-8")
    return str(file)


def run(root: Path, *arguments: str) -> int:
    return main(["estimate", "--root", str(root), *arguments])


def test_text_has_the_peak_a_bar_per_component_and_the_answers(
    root: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, model, "--job", "lora", "--batch", "4", "--card", "24GB") == OK
    printed = capsys.readouterr().out
    assert "8,030,261,248 parameters: bf16 sdpa lora-all, batch 4 × 2,048 tokens" in printed
    assert "Peak per GPU: 99.56 GiB in the phase: start of backward (LM head); second: forward" in printed
    assert "  saved activations          72.14 GiB  █████████████████████████████···········" in printed
    assert "Memory of the card (24GB) that PyTorch can use: 23.64 GiB. The job does not fit." in printed
    assert "activation checkpointing: 70.14 GiB less" in printed
    assert "training.torchtune-flags.checkpointing-throughput" in printed
    assert "traced with torch 2.13.0" in printed
    assert "Known error of the peak: unknown, because no published row and no traced step is of this kind" in printed


def test_known_error_of_the_kind_of_job_is_in_text_and_json(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ROOT, model, "--job", "lora") == OK
    printed = capsys.readouterr().out
    assert run(ROOT, model, "--job", "lora", "--json") == OK
    found = json.loads(capsys.readouterr().out)["known_error"]
    assert (found["comparison"], found["kind"]) == ("published", "lora")
    assert found["count"] > 0 <= found["median"] <= found["high"] <= abs(found["largest"])
    assert f" % on {found['count']} published rows of this kind (median " in printed
    assert found["models"][0] == "llama-2-13b"
    assert f"  compared: {', '.join(found['models'])}, on one GPU\n" in printed


def test_known_error_on_several_gpus_names_the_models_and_gpus(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ROOT, model, "--strategy", "fsdp", "--data", "8") == OK
    printed = capsys.readouterr().out
    assert "  compared: mistral-7b-v0.1, on up to 2 GPUs\n" in printed
    assert "8 GPUs\n" in printed
    assert "pipeline stage" not in printed
    assert run(ROOT, model, "--pipeline", "2") == OK
    assert ", 2 GPUs, pipeline stage " in capsys.readouterr().out.splitlines()[0]


def test_json_has_the_same_peak_and_the_answers(root: Path, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, model, "--job", "lora", "--batch", "4", "--card", "24GB", "--json") == OK
    found = json.loads(capsys.readouterr().out)
    assert found["peak"]["phase"] == "start of backward"
    assert found["peak"]["bytes"] / 2**30 == pytest.approx(99.56, abs=0.01)
    assert found["fitting"]["verdict"] == "does not fit"
    assert found["fitting"]["largest_batch"] == 0
    assert {each["method"] for each in found["fitting"]["changes"]} >= {"activation-checkpointing", "qlora"}


def test_json_without_a_card_has_no_answers(root: Path, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, model, "--json") == OK
    assert "fitting" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch", "0"], "headroom: batch is 0; give a whole number from 1"),
        (["--strategy", "fsd"], "headroom: strategy is 'fsd'; use one of none, ddp"),
        (["--card", "big"], "headroom: card is `big`; give a size such as 24GB"),
        (["--optimizer", "sdg"], "headroom: optimizer is 'sdg'; use one of adamw_torch_fused"),
    ],
)
def test_a_wrong_option_is_named(
    root: Path, model: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, model, *arguments) == USAGE
    assert message in capsys.readouterr().err


def test_options_are_the_fields_of_job_and_layout() -> None:
    assert {*FIELDS} == {field.name for kind in (Job, Layout) for field in fields(kind)} - {"layout"}


@pytest.mark.parametrize("refused", [False, True])
def test_a_measured_peak_is_printed_even_if_the_trace_is_refused(
    refused: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With modules that stand for those that import torch."""

    def peaks(*_: object) -> dict[str, SimpleNamespace]:
        if refused:
            raise ValueError("modernbert: the model's code reads the values of a tensor")
        return {"setup": SimpleNamespace(total=2**40), "forward 0": SimpleNamespace(total=2**30)}

    monkeypatch.setitem(sys.modules, "headroom.execution.benchmark_run", SimpleNamespace(MemoryMeter=str))  # type: ignore[arg-type]
    step = SimpleNamespace(measured_peak=lambda *_: 2**31)
    monkeypatch.setitem(sys.modules, "headroom.memory.tracing.real_step", step)  # type: ignore[arg-type]
    monkeypatch.setattr(trace, "_job", lambda *_: (None, None))
    monkeypatch.setattr(trace, "_peaks", peaks)
    assert main(["trace", "any", "--measure", "--device", "cpu", "--root", str(ROOT)]) == OK
    printed = capsys.readouterr()
    if refused:
        assert printed.out == "measured 2.000 GiB\n"
        assert "not traced: modernbert: the model's code reads" in printed.err
    else:
        assert printed.out == "traced 1.000 GiB, measured 2.000 GiB, error -50.00%\n"
