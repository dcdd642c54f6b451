# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "accelerate>=1.15"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "dp_shard_size=2, cp_size=2" = "dp_shard_size=4" }
# ///
"""Accelerate's mesh of dp_shard_size=2 and cp_size=2: context parallel ranks are next to each other and share a batch, and FSDP shards weights over all four ranks."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from accelerate import ParallelismConfig

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
parallelism = ParallelismConfig(
    dp_shard_size=2, cp_size=2
)  # for Accelerator or Trainer
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
mesh = parallelism.build_device_mesh(device)
print(mesh)
print("batches:", parallelism.data_parallel_size, "ranks:", parallelism.total_size)
shards = mesh[tuple(parallelism.dp_shard_cp_dim_names)]  # FSDP's part of the mesh
print("weights are sharded over", shards.size(), "ranks")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]


def ranks_of(axis):
    """Return the ranks of this rank's group."""
    return dist.get_process_group_ranks(mesh[axis].get_group())


# The proof, on each rank: the groups of each axis, and the layouts that are refused.
assert dist.get_world_size() == parallelism.total_size == 4
assert mesh.mesh_dim_names == ("dp_shard", "cp"), mesh
rank = dist.get_rank()
assert ranks_of("cp") == [rank // 2 * 2, rank // 2 * 2 + 1]
assert ranks_of("dp_shard") == [rank % 2, rank % 2 + 2]
assert shards.mesh.flatten().tolist() == [0, 1, 2, 3]
assert parallelism.data_parallel_size == 2
expected = [str(mesh), "batches: 2 ranks: 4", "weights are sharded over 4 ranks"]
assert shown == expected, f"printed was {shown}"
refused = {
    "mutually exclusive": {"cp_size": 2, "sp_size": 2},
    "cannot be used with pure data parallelism": {
        "dp_replicate_size": 2,
        "tp_size": 2,
    },
}
for reason, sizes in refused.items():
    try:
        ParallelismConfig(**sizes)
    except ValueError as error:
        assert reason in str(error)  # noqa: PT017
    else:
        raise AssertionError(f"{sizes} is accepted")
dist.destroy_process_group()
