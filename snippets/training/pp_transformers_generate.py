# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "config = DistributedConfig(pp_size=2)" = "config = DistributedConfig(tp_size=2)" }
# ///
"""DistributedConfig(pp_size=2) divides the layers for generation, returns no loss, and does not combine with FSDP."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"
config = DistributedConfig(pp_size=2)
torch.manual_seed(0)
batch = torch.randint(100, (2, 64))

given = []  # the arguments of each forward pass, for the proof
load = AutoModelForCausalLM.from_pretrained


def watched(*args, **rest):
    """Load a model that notes the names of its arguments."""
    model = load(*args, **rest)
    model.register_forward_pre_hook(
        lambda _module, _args, kwargs: given.append(set(kwargs)), with_kwargs=True
    )
    return model


AutoModelForCausalLM.from_pretrained = watched
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32, distributed_config=config
)
output = model(input_ids=batch.to(model.device), labels=batch.to(model.device))
print("loss:", output.loss)
# --8<-- [end:is-it-on]
shown = printed.call_args.args

# The proof, on each rank: half of the layers, one process's logits, no loss, and the error with FSDP.
assert dist.get_world_size() == 2
kept = [type(layer).__name__ for layer in model.model.layers]
half = len(kept) // 2
expected = ["LlamaDecoderLayer"] * half, ["PipelineIdentityLayer"] * half
assert kept == [*expected[dist.get_rank()], *expected[1 - dist.get_rank()]], kept
assert given == [{"input_ids", "labels"}], f"without labels: {given}"
assert output.loss is None
assert shown == ("loss:", None), f"printed was {shown}"
whole = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
# One process returns a loss for the same labels.
assert whole(input_ids=batch, labels=batch).loss > 0
labelled = model(input_ids=batch.to(model.device), labels=batch.to(model.device))
assert labelled.loss is None
assert torch.allclose(output.logits.cpu(), whole(input_ids=batch).logits, atol=1e-4)
assert not output.logits.requires_grad or dist.get_rank() == 1
try:
    DistributedConfig(pp_size=2, fsdp_size=2)
except ValueError as error:
    message = str(error)
assert message.startswith(
    "Combining FSDP with pipeline parallelism is not supported yet."
), message
dist.destroy_process_group()
