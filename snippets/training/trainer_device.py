# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# ablation = { "TrainingArguments(output_dir=\"out\", report_to=\"none\")" = "TrainingArguments(output_dir=\"out\", report_to=\"none\", use_cpu=True)" }
# ///
"""The Trainer takes the accelerator that PyTorch finds, without an argument: cuda, mps, xpu, hpu, neuron and tpu each have a branch, and use_cpu overrides them."""

import contextlib
import dataclasses
from unittest import mock

import torch
from accelerate.state import AcceleratorState, PartialState
from transformers import TrainingArguments, training_args

BACKENDS = ("cuda", "mps", "xpu", "hpu", "neuron", "tpu")


@contextlib.contextmanager
def machine_with(name):
    """Let the Trainer's own checks answer as on a machine with this accelerator."""
    with contextlib.ExitStack() as patches:
        for other in BACKENDS[1:]:
            check = f"is_torch_{other}_available"
            patches.enter_context(
                mock.patch.object(
                    training_args, check, lambda *_, found=other == name: found
                )
            )
        for module in ("xpu", "hpu", "neuron"):
            patches.enter_context(
                mock.patch.object(torch, module, mock.Mock(), create=True)
            )
        if name == "cuda":
            patches.enter_context(
                mock.patch("torch.cuda.is_available", return_value=True)
            )
            patches.enter_context(mock.patch("torch.cuda.set_device"))
        patches.enter_context(mock.patch("torch.accelerator.set_device_index"))
        if name in ("neuron", "tpu"):  # the package registers its name with PyTorch
            real = torch.device
            patches.enter_context(
                mock.patch(
                    "torch.device",
                    lambda text: (
                        real("privateuseone:0") if name in text else real(text)
                    ),
                )
            )
        yield


chosen, forced = {}, {}
for name in (*BACKENDS, None):
    AcceleratorState._reset_state(reset_partial_state=True)  # noqa: SLF001 - a new machine
    with machine_with(name):
        # --8<-- [start:enable]
        arguments = TrainingArguments(output_dir="out", report_to="none")
        chosen[name] = arguments.device.type
        # --8<-- [end:enable]
        on_cpu = TrainingArguments(output_dir="out", report_to="none", use_cpu=True)
        forced[name] = on_cpu.device.type
print(chosen)
if not torch.accelerator.is_available():
    assert chosen.pop(None) == "cpu"
    registered = {"neuron": "privateuseone", "tpu": "privateuseone"}
    for name in BACKENDS:
        assert chosen[name] == registered.get(name, name), (name, chosen)
else:
    assert chosen[None] == torch.accelerator.current_accelerator().type, chosen
assert forced == dict.fromkeys((*BACKENDS, None), "cpu"), forced
arguments_known = {field.name for field in dataclasses.fields(TrainingArguments)}
assert "use_cpu" in arguments_known
assert arguments_known.isdisjoint({"no_cuda", "use_mps_device"})
PartialState._reset_state()  # noqa: SLF001
