# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "DistributedConfig(tp_size=2, enable_sequence_parallel=True)" = "DistributedConfig(tp_size=1)" }
# ///
"""enable_sequence_parallel=True changes nothing in transformers 5.23: the same collectives and the same saved bytes."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"


def load(config):
    return AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.float32, distributed_config=config
    )


torch.manual_seed(0)
batch = torch.randint(100, (2, 64))
stepped = []


def step(model) -> tuple[dict, int]:
    """Run a step; return its collectives by kind, and the bytes of the activations that this rank saves."""
    saved = {}
    stepped.append(model)

    def pack(tensor):
        local = tensor.to_local() if isinstance(tensor, DTensor) else tensor
        if not isinstance(tensor, torch.nn.Parameter):
            saved[local.untyped_storage().data_ptr()] = (
                local.untyped_storage().nbytes()
            )
        return tensor

    ids = batch.to(model.device)
    with (
        CommDebugMode() as counter,
        torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x),
    ):
        loss = model(input_ids=ids, labels=ids).loss
        size = sum(saved.values())
        loss.backward()
    return {op.__name__: n for op, n in counter.get_comm_counts().items()}, size


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
flagged = load(DistributedConfig(tp_size=2, enable_sequence_parallel=True))
plain = load(DistributedConfig(tp_size=2))
flagged_step, plain_step = step(flagged), step(plain)
if dist.get_rank() == 0:
    print("with the flag:   ", flagged_step)
    print("without the flag:", plain_step)
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

# The proof, on each rank: equal counts and bytes with and without the flag, no reduce-scatter, and norms that compute all tokens.
assert dist.get_world_size() == 2
assert stepped == [flagged, plain], "not a step of each"
assert flagged_step == plain_step, (flagged_step, plain_step)
assert flagged.config.distributed_config.enable_sequence_parallel, "no flag"
assert not plain.config.distributed_config.enable_sequence_parallel
counts, size = flagged_step
layers = len(flagged.model.layers)
expected = {"all_reduce": 7 * layers + 2, "all_gather_into_tensor": 1}
assert counts == expected, counts
if dist.get_rank() == 0:
    assert shown == [
        ("with the flag:   ", (expected, size)),
        ("without the flag:", (expected, size)),
    ], f"printed was {shown}"
_, undivided = step(load(DistributedConfig(tp_size=1)))
assert undivided / 2 < size < undivided, (size, undivided)
seen = []
flagged.model.layers[0].input_layernorm.register_forward_hook(
    lambda _, args, out: seen.append(out.shape)
)
flagged(input_ids=batch.to(flagged.device))
assert seen == [(2, 64, flagged.config.hidden_size)], seen
dist.destroy_process_group()
