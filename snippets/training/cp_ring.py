# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "for hop in range(ranks):" = "for hop in range(1):" }
# ///
"""Ring attention, forward: keys and values travel once around the ranks, and an online softmax merges the blocks to the output of one process."""

import math

import torch
import torch.distributed as dist
from torch.nn.functional import scaled_dot_product_attention

generator = torch.Generator().manual_seed(0)
Q = torch.randn(1, 8, 256, 32, generator=generator)  # the whole sequence, 8 heads
K, V = torch.randn(2, 1, 2, 256, 32, generator=generator)  # 2 key-value heads

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    torch.cuda.set_device(dist.get_node_local_rank())
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()


def pass_on(block):
    """Send a block to the next rank, and return that of the previous rank."""
    received = torch.empty_like(block)
    send = dist.P2POp(dist.isend, block, (rank + 1) % ranks)
    receive = dist.P2POp(dist.irecv, received, (rank - 1) % ranks)
    for work in dist.batch_isend_irecv([send, receive]):
        work.wait()
    return received


def scores_of(q, k, diagonal):
    """Return the scores of a block, with later tokens masked on the diagonal."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    mask = torch.ones_like(scores, dtype=torch.bool).tril()
    return scores.where(mask, -torch.inf) if diagonal else scores


def ring_attention(q, k, v):
    """Return causal attention; each rank has its part of the tokens of q, k and v."""
    groups = q.shape[1] // k.shape[1]  # query heads per key-value head
    block = torch.stack([k, v])
    out, total = torch.zeros_like(q), q.new_zeros(*q.shape[:-1], 1)
    top = torch.full_like(total, -torch.inf)  # the largest score so far
    for hop in range(ranks):
        source = (rank - hop) % ranks  # the rank whose tokens are in the block
        if source <= rank:  # blocks of later tokens are masked
            k, v = block.repeat_interleave(groups, dim=2)
            scores = scores_of(q, k, source == rank)
            new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
            weights, scale = (scores - new_top).exp(), (top - new_top).exp()
            out = out * scale + weights @ v
            total = total * scale + weights.sum(-1, keepdim=True)
            top = new_top
        if hop < ranks - 1:
            block = pass_on(block)
    return out / total


q, k, v = (x.chunk(ranks, dim=2)[rank].to(device) for x in (Q, K, V))
# --8<-- [end:enable]


sent = []
original = dist.batch_isend_irecv


def count_and_send(operations):
    """Note the bytes that this rank sends from point to point."""
    sent.extend(o.tensor.nbytes for o in operations if o.op is dist.isend)
    return original(operations)


dist.batch_isend_irecv = count_and_send
out = ring_attention(q, k, v)
sent_once = list(sent)

# The proof, on each rank: the output is that of one process, and N - 1 sends of 1/N of the keys and
# values each are (N - 1)/N of their bytes.
assert ranks == 4
whole = scaled_dot_product_attention(Q, K, V, is_causal=True, enable_gqa=True)
part = whole.chunk(ranks, dim=2)[rank].to(device)
assert torch.allclose(out, part, atol=1e-5), "the output differs"
alone = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
assert rank == 0 or not torch.allclose(out, alone, atol=1e-2), (
    "no other block counts"
)
block_bytes = (K.nbytes + V.nbytes) // ranks
assert sent_once == [block_bytes] * (ranks - 1), sent_once
# Scores of hundreds, which overflow if the largest score so far does not stay the reference.
whole = scaled_dot_product_attention(100 * Q, K, V, is_causal=True, enable_gqa=True)
part = whole.chunk(ranks, dim=2)[rank].to(device)
large = ring_attention(100 * q, k, v)
assert torch.allclose(large, part, atol=1e-4), "large scores: the output differs"
share = sum(sent_once) / (K.nbytes + V.nbytes)
print(f"rank {rank} sent {share:.2f} of the bytes of all keys and values")
dist.destroy_process_group()
