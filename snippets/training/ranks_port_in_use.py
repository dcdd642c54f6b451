# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "MASTER_PORT\"] = str(free_port())" = "MASTER_PORT\"] = str(taken.port)" }
# ///
"""A second job on one machine cannot listen on the first job's port. On a free port, it starts."""

import os
import socket

import torch
import torch.distributed as dist

taken = dist.TCPStore("localhost", 0, is_master=True)  # the first job
os.environ.update(MASTER_ADDR="localhost", RANK="0", WORLD_SIZE="1")


# --8<-- [start:enable]
def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


os.environ["MASTER_PORT"] = str(free_port())
# --8<-- [end:enable]


def error_at_start():
    try:
        dist.init_process_group("gloo")
    except dist.DistNetworkError as raised:
        return str(raised)
    return ""


# The proof: the job starts on the free port, and on the first job's port it does not.
found = error_at_start()
assert found == "", f"on a free port: {found}"
with socket.socket() as other:
    other.bind(("", free_port()))
    assert free_port() != other.getsockname()[1]
total = torch.ones(2)
dist.all_reduce(total)
assert dist.get_world_size() == 1, f"{dist.get_world_size()} ranks"
dist.destroy_process_group()
os.environ["MASTER_PORT"] = str(taken.port)
found = error_at_start()
print(found.partition(". port")[0])
print(found.partition("name: ")[2])
assert (
    "The server socket has failed to listen on any local network address" in found
)
assert f"port: {taken.port}" in found, found
assert "EADDRINUSE, message: address already in use" in found, found
