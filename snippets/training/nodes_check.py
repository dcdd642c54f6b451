# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# timeout = 180
# ablation = { "dist.all_reduce(total)" = "total *= 1" }
# ///
"""Before a long run on several machines, check that every rank is there, on the node it should be on, and that data crosses the network."""

import os
import socket
from unittest.mock import patch

import torch
import torch.distributed as dist

# If all ranks are on this machine, and on its CPU, each gets what torchrun gives to a node of its own.
alone = os.environ["LOCAL_WORLD_SIZE"] == os.environ["WORLD_SIZE"]
if alone and not torch.cuda.is_available():
    os.environ |= {"GROUP_RANK": os.environ["RANK"], "LOCAL_RANK": "0"}
    os.environ["LOCAL_WORLD_SIZE"] = "1"

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:enable]
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
dist.init_process_group()
rank, world_size = dist.get_rank(), dist.get_world_size()

mine = (rank, int(os.environ["GROUP_RANK"]), local_rank, socket.gethostname())
ranks = [None] * world_size
dist.all_gather_object(ranks, mine)

total = torch.full((2**21,), rank + 1.0, device=device)  # 8 MiB
dist.all_reduce(total)
expected = world_size * (world_size + 1) / 2
wrong = (total != expected).sum().item()

if rank == 0:
    for number, node, local, host in ranks:
        print(f"rank {number}: node {node}, local rank {local}, host {host}")
    print(f"{world_size} ranks, {wrong} wrong sums")
# --8<-- [end:enable]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on every rank: each rank is there once, each node has as many as torchrun started, and every sum is right.
local_size = int(os.environ["LOCAL_WORLD_SIZE"])
assert world_size == int(os.environ["WORLD_SIZE"]) > 1, f"{world_size} ranks"
assert [each[0] for each in ranks] == list(range(world_size)), ranks
places = {(node, local) for _, node, local, _ in ranks}
nodes = world_size // local_size
wanted = {(node, local) for node in range(nodes) for local in range(local_size)}
assert places == wanted, f"nodes and local ranks: {sorted(places)}"
assert mine[3] == socket.gethostname(), mine
assert ranks[rank] == mine, ranks
assert total.nbytes == 8 * 2**20, f"{total.nbytes} bytes"
assert wrong == 0, f"rank {rank}: {wrong} of {total.numel()} sums are wrong"
lines = [
    f"rank {n}: node {n // local_size}, local rank {n % local_size}, host {ranks[n][3]}"
    for n in range(dist.get_world_size())
]
lines.append(f"{dist.get_world_size()} ranks, 0 wrong sums")
assert shown == (lines if dist.get_rank() == 0 else []), f"printed was {shown}"
dist.destroy_process_group()
