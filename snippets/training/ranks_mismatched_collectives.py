# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "dist.DebugLevel.DETAIL)" = "dist.DebugLevel.OFF)" }
# ///
"""Two ranks that reduce two tensors in another order mix them up without an error. At debug level DETAIL, every rank raises and prints both sides."""

from datetime import timedelta

import torch
import torch.distributed as dist

# --8<-- [start:enable]
dist.set_debug_level(dist.DebugLevel.DETAIL)  # or TORCH_DISTRIBUTED_DEBUG=DETAIL
dist.init_process_group("gloo")
# --8<-- [end:enable]
rank = dist.get_rank()
dist.set_debug_level(dist.DebugLevel.OFF)
unchecked = dist.new_group(backend="gloo", timeout=timedelta(seconds=4))


# --8<-- [start:fault]
def reduce_metrics(loss, hits, group):
    tensors = {"loss": loss, "hits": hits}
    names = (
        ["loss", "hits"] if rank == 0 else ["hits", "loss"]
    )  # such as a set's order
    for name in names:
        dist.all_reduce(tensors[name], group=group)


# --8<-- [end:fault]


def result_of(group):
    """Return each rank's error, and the sums of the loss and the hits."""
    loss, hits, error = torch.full((4,), 1.0), torch.full((2, 2), 10.0), ""
    try:
        reduce_metrics(loss, hits, group)
    except RuntimeError as raised:
        error = str(raised)
    results = [None] * 2
    dist.all_gather_object(
        results, (error, loss.tolist(), hits.tolist()), group=unchecked
    )
    return results


# The proof: without the check, no rank raises and every sum is 1 + 10. With it, both ranks raise in the group of
# init_process_group.
assert dist.get_world_size() == 2, f"{dist.get_world_size()} ranks"
for error, loss, hits in result_of(unchecked):
    assert error == "", f"without the check: {error}"
    assert loss == [11.0] * 4, f"the loss of both ranks, 1 + 1: {loss}"
    assert hits == [[11.0] * 2] * 2, f"the hits of both ranks, 10 + 10: {hits}"
for number, (error, _, _) in enumerate(result_of(dist.group.WORLD)):
    assert error.startswith("Detected mismatch between collectives on ranks."), (
        f"rank {number}: {error!r}"
    )
    shape = "[4]" if number == 0 else "[2, 2]"
    own = f"Rank {number} is running collective: CollectiveFingerPrint("
    assert own in error, error
    assert f"OpType=ALLREDUCE, TensorShape={shape}" in error, error
    if rank == number == 0:
        print(error.partition(", TensorDtypes")[0])
dist.destroy_process_group()
