"""The trace of Whisper: audio of a fixed length in the encoder, tokens in the decoder, and the page's printed peaks."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headroom.records.model_shapes import read_shape

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GIB = 2**30
SMALL = {"model_type": "whisper", "d_model": 128, "encoder_layers": 3, "decoder_layers": 2, "vocab_size": 4096}
SMALL |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 512, "decoder_ffn_dim": 512}
SMALL |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 2}
SMALL |= {"max_source_positions": 300, "num_mel_bins": 80}
DEEP = SMALL | {"decoder_layers": 24}
CPU = [
    {"precision": "fp32"},
    {"precision": "fp32", "checkpointed": True},
    {"precision": "bf16"},
    {"precision": "autocast", "accumulation": 2},
    {"precision": "fp32", "job": "lora-qv"},
    {"precision": "fp32", "job": "evaluate"},
]


def peaks(config: dict[str, Any], **settings: Any) -> Any:
    return {"kind": "peaks", "config": config, "settings": {"batch": 4, "length": 32, **settings}}


def measured(config: dict[str, Any], **settings: Any) -> Any:
    return peaks(config, device="cpu", **settings) | {"kind": "measured"}


def ask(requests: dict[str, Any]) -> dict[str, Any]:
    """Return what one child process answers to all requests: importing torch takes longer than most of them."""
    command = [sys.executable, HERE / "trace_in_a_child.py", json.dumps(list(requests.values()))]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(requests, json.loads(done.stdout.splitlines()[-1])["answers"], strict=True))


@cache
def found() -> dict[str, Any]:
    asked = {
        **{f"traced {case}": peaks(SMALL, device="cpu", **case) for case in CPU},
        **{f"measured {case}": measured(SMALL, **case) for case in CPU},
        "more text": peaks(SMALL, length=64),
        "more audio": peaks(SMALL | {"max_source_positions": 600}),
        "text": peaks(SMALL),
        "prefill": peaks(DEEP, job="prefill"),
        "no cache": peaks(DEEP, job="evaluate", length=1),
        "decode": peaks(SMALL, job="decode"),
        "chunks": peaks(SMALL, loss_chunk=8),
        "too long": peaks(SMALL, length=449),
    }
    return ask(asked)


def highest(name: str) -> int:
    return max(sum(parts.values()) for phase, parts in found()[name].items() if phase != "setup")


@pytest.mark.parametrize("case", CPU, ids=str)
def test_a_traced_step_of_whisper_is_what_this_cpu_allocates(case: dict[str, Any]) -> None:
    assert highest(f"traced {case}") == pytest.approx(found()[f"measured {case}"], rel=0.02)


def test_audio_and_text_both_add_saved_activations() -> None:
    held = {name: found()[name]["forward 0"]["saved activations"] for name in ("text", "more text", "more audio")}
    assert held["text"] < held["more text"] < held["more audio"]


def test_a_prefill_holds_the_keys_and_values_of_the_audio() -> None:
    """Two tensors of 300 frames for each of 24 layers and 4 clips, less what the other job holds at its peak."""
    cross = 24 * 2 * 300 * 128 * 2 * 4
    grown = highest("prefill") - highest("no cache")
    assert cross * 0.8 < grown <= cross * 1.01


@pytest.mark.parametrize("name", ["decode", "chunks"])
def test_a_job_of_tokens_alone_is_refused_with_what_to_do(name: str) -> None:
    assert "not traced; trace another job, or run a step on a GPU" in found()[name]["error"]


def test_a_text_longer_than_the_decoder_is_refused() -> None:
    assert "cannot exceed the maximum allowed length of 448 tokens" in found()["too long"]["error"]


def test_the_page_prints_the_peaks_that_the_trace_finds() -> None:
    text = (ROOT / "docs/models/speech.md").read_text("utf-8").replace(" \\\n", "")
    shown = re.findall(r"^\$ headroom trace (\S+) (.+)\npeak +([\d.]+) GiB allocated$", text, re.MULTILINE)
    assert len(shown) >= 3
    requests = {}
    for model, options, _ in shown:
        words = iter(options.split())
        settings: dict[str, Any] = {}
        for word in words:
            name = word.removeprefix("--")
            value = True if name == "checkpointed" else next(words)
            settings[name] = int(value) if name in ("batch", "length") else value
        requests[f"{model} {options}"] = peaks(dict(read_shape(model, ROOT).config), **settings)
    answers = ask(requests)
    for model, options, peak in shown:
        phases = answers[f"{model} {options}"]
        total = max(sum(parts.values()) for phase, parts in phases.items() if phase != "setup")
        assert f"{total / GIB:.2f}" == peak, f"{model} {options}"
