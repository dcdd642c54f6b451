"""What older libraries kept: bitsandbytes, FSDP with reentrant checkpoints, and linear layers per expert."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate
from headroom.memory.weight_formats import four_bit

ROOT = Path(__file__).parents[2]
LAYERS, HIDDEN, MLP, BATCH, LENGTH = 3, 256, 896, 2, 512
SMALL = {
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": MLP,
    "vocab_size": 512,
}
TRACED = f"""
import warnings
warnings.simplefilter("ignore")
import transformers
from headroom.memory.tracing import models
from headroom.memory.tracing.peaks import trace
plain = models._MatMul4bit.forward
def keeping(ctx, value, rows, bias):
    ctx.kept = value
    return plain(ctx, value, rows, bias)
def peak():
    settings = models.TraceSettings(job="qlora-qv", batch={BATCH}, length={LENGTH}, rank=4)
    found = trace(transformers.AutoConfig.for_model(**{SMALL}), settings)
    return max(each.total for each in found.values())
before = peak()
models._MatMul4bit.forward = staticmethod(keeping)
print(peak() - before)
"""
HELD = """
import sys, weakref, torch
from torch.autograd.graph import register_multi_grad_hook
from torch.utils.checkpoint import checkpoint
hooked, reentrant = (each == "1" for each in sys.argv[1:])
handles, inputs = [], []
weight = torch.randn(8, 8)
def layer(value):
    if torch.is_grad_enabled():
        inputs.append(weakref.ref(value))
        if hooked:
            handles.append(register_multi_grad_hook([value], lambda grads: None))
    return (value @ weight).relu()
value = torch.randn(4, 8, requires_grad=True) * 1
for _ in range(5):
    value = checkpoint(layer, value, use_reentrant=reentrant)
value.sum().backward()
found = [each() for each in inputs]
print(sum(each is not None and each.grad is not None for each in found))
del found
for handle in handles:
    handle.remove()
print(sum(each() is not None for each in inputs))
"""
END = "end of backward"
STEP: dict[str, Any] = {"batch": 2, "length": 512, "checkpointing": True}


def _run(script: str, *arguments: str) -> list[int]:
    command = [sys.executable, "-W", "ignore", "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


def _bytes(found: Estimate, phase: str, component: str) -> int:
    moment = next(each for each in found.phases if each.phase == phase)
    return sum(each.bytes for each in moment.components if each.name == component)


@pytest.mark.slow
def test_saved_inputs_are_those_of_a_traced_step() -> None:
    """But for the first layer's attention, whose input needs no gradient: no adapter is below it."""
    options: dict[str, Any] = {"job": "qlora", "targets": "qv", "rank": 4, "batch": BATCH, "length": LENGTH}
    plain, saving = (estimate(SMALL, root=ROOT, saved_inputs=each, **options).peak for each in (False, True))
    (traced,) = _run(TRACED)
    assert saving - plain == traced + 2 * BATCH * LENGTH * HIDDEN
    assert saving - plain == LAYERS * 2 * BATCH * LENGTH * (2 * HIDDEN + MLP)


@pytest.mark.slow
@pytest.mark.parametrize(("hooked", "reentrant", "held"), [(1, 1, 5), (1, 0, 0), (0, 1, 0), (0, 0, 0)])
def test_a_hook_on_an_input_keeps_it_with_reentrant_checkpoints(hooked: int, reentrant: int, held: int) -> None:
    """FSDP registers such a hook for frozen layers, and removes it when the backward pass has ended."""
    assert _run(HELD, str(hooked), str(reentrant)) == [held, 0]


def test_reentrant_checkpoints_under_fsdp_keep_inputs_and_gradients_of_frozen_layers() -> None:
    """In the first layer's backward pass, of all others. Without the hook, the largest moment is one layer earlier.

    A full fine-tuning and a single GPU have no such hook.
    """
    fsdp = {**STEP, "strategy": "fsdp", "data": 2}
    plain, kept = (estimate(SMALL, job="lora", root=ROOT, reentrant=each, **fsdp) for each in (False, True))
    more = _bytes(kept, END, "saved activations") - _bytes(plain, END, "saved activations")
    inputs_of_others, plain_inputs = 2 * (LAYERS - 1), 1
    assert more == (inputs_of_others - plain_inputs) * 2 * BATCH * LENGTH * HIDDEN
    assert any("frozen layers" in each for each in kept.assumptions)
    for job, options in (("full", fsdp), ("lora", STEP)):
        assert len({estimate(SMALL, job=job, root=ROOT, reentrant=each, **options).peak for each in (False, True)}) == 1


def test_scales_in_fp32_take_four_bytes_per_64_weights() -> None:
    assert four_bit(1 << 20, double=False) == (1 << 19) + 4 * (1 << 14) + 512
    double, single = (
        estimate(SMALL, job="qlora", root=ROOT, quantization=each, **STEP).peak for each in ("nf4-double", "nf4")
    )
    assert single > double


def test_quantized_experts_take_about_a_quarter_of_their_bytes() -> None:
    """The experts of Mixtral 8x7B are 45.1 of its 46.7 billion parameters."""
    plain, quantized = (
        estimate("mixtral-8x7b", job="qlora", root=ROOT, quantized_experts=each, length=512, checkpointing=True)
        for each in (False, True)
    )
    saved = _bytes(plain, "forward", "weights") - _bytes(quantized, "forward", "weights")
    assert saved / (32 * 8 * 3 * 4096 * 14336) == pytest.approx(2 - 0.516, abs=0.001)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"job": "lora", "saved_inputs": True}, "saved_inputs is set for the job lora; use it with qlora only"),
        ({"job": "full", "quantized_experts": True}, "quantized_experts is set for the job full"),
        ({"job": "lora", "reentrant": True}, "reentrant is set without checkpointing"),
        ({"job": "qlora", "quantization": "fp4"}, "quantization is 'fp4'; use one of auto, nf4-double, nf4"),
        ({"job": "qlora", "quantization": "int8"}, "quantization is int8 for the job qlora; use nf4-double or nf4"),
        ({"job": "decode", "quantized_experts": True}, "quantized_experts is set for the job decode; use it with"),
        ({"job": "lora", "quantization": "nf4-double"}, "quantization is set for the job lora"),
        (
            {"no_sync": True, "accumulation": 4},
            "no_sync is set without FSDP that accumulates; use it with",
        ),
        ({"no_sync": True, "strategy": "fsdp", "data": 8}, "no_sync is set without FSDP that accumulates"),
        (
            {"gradient_as_bucket_view": True, "strategy": "zero1", "data": 8},
            "is set with the strategy zero1; use it with ddp",
        ),
        ({"job": "decode", "context": 4096}, "context is 4096 for the job decode; it counts GPUs"),
    ],
)
def test_options_of_another_job_are_refused(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(EstimateError, match=fault):
        estimate(SMALL, root=ROOT, **options)


def test_saved_inputs_of_an_unknown_layer_are_refused() -> None:
    with pytest.raises(EstimateError, match="saved_inputs is not known for the layer"):
        estimate("phi-3-mini", job="qlora", root=ROOT, saved_inputs=True)
