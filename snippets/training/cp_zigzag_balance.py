# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "[chunks[rank], chunks[-1 - rank]]" = "[chunks[2 * rank], chunks[2 * rank + 1]]" }
# ///
"""With causal attention, a rank that holds one chunk from the start and one from the end of the sequence has the same FLOPs as each other rank."""

import math

import torch
import torch.distributed as dist
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

generator = torch.Generator().manual_seed(0)
Q, K, V = torch.randn(3, 1, 4, 256, 32, generator=generator)  # the whole sequence

# --8<-- [start:enable]
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()


def split(x):
    """Return this rank's tokens: chunk `rank` and the chunk as far from the end."""
    chunks = x.chunk(2 * ranks, dim=-2)
    return torch.cat([chunks[rank], chunks[-1 - rank]], dim=-2)


positions = split(torch.arange(Q.shape[-2])[:, None])[
    :, 0
]  # also for the rotary embedding
# --8<-- [end:enable]


def gather(x):
    """Return the tokens of all ranks, in the order of the sequence."""
    parts = [torch.empty_like(x) for _ in range(ranks)]
    dist.all_gather(parts, x)
    places = [torch.empty_like(positions) for _ in range(ranks)]
    dist.all_gather(places, positions)
    return torch.cat(parts, dim=-2)[..., torch.cat(places).argsort(), :]


def attention(q, k, v):
    """Return attention of both of this rank's chunks over the tokens up to their ends."""
    out = []
    for chunk, place in zip(q.chunk(2, dim=-2), positions.chunk(2), strict=True):
        end = int(place[-1]) + 1
        scores = chunk @ k[..., :end, :].mT / math.sqrt(q.shape[-1])
        later = torch.arange(end) > place[:, None]
        weights = scores.masked_fill(later, -torch.inf).softmax(-1)
        out.append(weights @ v[..., :end, :])
    return torch.cat(out, dim=-2)


k, v = gather(split(K)), gather(split(V))
with FlopCounterMode(display=False) as counter:
    out = attention(split(Q), k, v)
flops = [None] * ranks
dist.all_gather_object(flops, counter.get_total_flops())
if rank == 0:
    print(
        "share of the attention FLOPs:", *(f"{f / sum(flops):.3f}" for f in flops)
    )

# The proof: equal FLOPs on all ranks, 2N + 1 of the N (2N + 1) blocks each, and the output of one
# process. With contiguous parts, rank r has 4r + 3 blocks.
assert ranks == 4
whole = scaled_dot_product_attention(Q, K, V, is_causal=True)
assert k.equal(K)
assert v.equal(V)
assert torch.allclose(out, split(whole), atol=1e-5), "the output differs"
assert min(flops) > 0
assert len(set(flops)) == 1, f"FLOPs per rank: {flops}"

positions = torch.arange(Q.shape[-2]).chunk(ranks)[rank]
with FlopCounterMode(display=False) as counter:
    attention(Q.chunk(ranks, dim=-2)[rank], K, V)
contiguous = [None] * ranks
dist.all_gather_object(contiguous, counter.get_total_flops())
assert [f / sum(contiguous) for f in contiguous] == [b / 36 for b in (3, 7, 11, 15)]
assert sum(contiguous) == sum(flops)
if rank == 0:
    shares = (f"{f / sum(contiguous):.3f}" for f in contiguous)
    print("with contiguous parts:", *shares)
dist.destroy_process_group()
