# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "model.model.layers[first:last]" = "model.model.layers[:]", ", return_outputs=False" = "" }
# ///
"""A Llama on two pipeline stages: each rank holds its layers, and sends only hidden states and their gradients."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, schedules
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
torch.manual_seed(0)
batch = torch.randint(100, (8, 65))
tokens, targets = batch[:, :-1].contiguous(), batch[:, 1:].contiguous()
sent = []


def record(operations, desc=None):
    """Note what this rank sends, and send it."""
    sent.extend(tuple(op.tensor.shape) for op in operations if op.op is dist.isend)
    return original(operations, desc)


original, schedules._batch_p2p = schedules._batch_p2p, record  # noqa: SLF001

# --8<-- [start:enable]
dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()
device = (
    torch.device("cuda", dist.get_node_local_rank())
    if torch.cuda.is_available()
    else torch.device("cpu")
)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
first, last = (len(model.model.layers) * r // ranks for r in (rank, rank + 1))


class Stage(nn.Module):
    """The layers of this rank, with the embedding on the first and the LM head on the last."""

    def __init__(self, model):
        super().__init__()
        self.embedding = model.model.embed_tokens if rank == 0 else None
        self.layers = model.model.layers[first:last]
        self.norm, self.head = (
            (model.model.norm, model.lm_head) if rank == ranks - 1 else (None, None)
        )
        self.rotary = model.model.rotary_emb

    def forward(self, x):
        """Return hidden states, or logits on the last stage."""
        x = self.embedding(x) if self.embedding else x
        positions = torch.arange(x.shape[1], device=x.device)[None]
        for layer in self.layers:
            x = layer(x, position_embeddings=self.rotary(x, positions))
        return self.head(self.norm(x)) if self.head else x


def loss_of(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


stage = PipelineStage(Stage(model).to(device), rank, ranks, device)
schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=loss_of)
if rank == 0:
    schedule.step(tokens.to(device))
else:  # with more than two stages, those between take no arguments
    schedule.step(target=targets.to(device), return_outputs=False)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
held = sum(p.numel() for p in stage.submod.parameters())
share = torch.zeros(ranks, device=device)
share[rank] = held / model.num_parameters()
dist.all_reduce(share)
if rank == 0:
    print("share of the parameters:", [round(x, 2) for x in share.tolist()])
    print(len(sent), "messages of", sent[0])
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: no logits of earlier micro-batches, its layers, one message per micro-batch, and the gradients of one process.
assert ranks == 2
assert not stage.output_chunks, (
    f"the last stage keeps {len(stage.output_chunks)} outputs"
)
layers, width = model.config.num_hidden_layers, model.config.hidden_size
assert len(stage.submod.layers) == layers // 2, "a rank has other layers, too"
hidden = (2, 64, width)  # two sequences per micro-batch
assert sent == [hidden] * 4, sent
whole = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
loss_of(whole(input_ids=tokens).logits, targets).backward()
ends = [whole.lm_head, whole.model.norm] if rank else [whole.model.embed_tokens]
mine = [*whole.model.layers[first:last], *ends]
expected = sum(p.numel() for m in mine for p in m.parameters())
assert abs(share[rank].item() - expected / whole.num_parameters()) < 1e-4, share
if rank == 0:
    held_by = [
        [whole.model.embed_tokens, *whole.model.layers[: layers // 2]],
        [*whole.model.layers[layers // 2 :], whole.model.norm, whole.lm_head],
    ]
    each = [sum(p.numel() for m in ms for p in m.parameters()) for ms in held_by]
    shares = [round(count / whole.num_parameters(), 2) for count in each]
    assert shown == [
        f"share of the parameters: {shares}",
        f"4 messages of {hidden}",
    ], f"printed was {shown}"
pairs = zip(
    stage.submod.layers.parameters(),
    whole.model.layers[first:last].parameters(),
    strict=True,
)
apart = max(float((p.grad.cpu() - q.grad).norm() / q.grad.norm()) for p, q in pairs)
assert apart < 1e-4, apart
# The embedding is tied, and its gradient is in two halves, which nobody adds.
tied = stage.submod.embedding if rank == 0 else stage.submod.head
gradient = tied.weight.grad.clone()
assert (
    gradient.cpu() - whole.lm_head.weight.grad
).norm() > 0.1 * whole.lm_head.weight.grad.norm()
dist.all_reduce(gradient)
assert (
    gradient.cpu() - whole.lm_head.weight.grad
).norm() < 1e-4 * whole.lm_head.weight.grad.norm()
# By default the last stage keeps the logits of all micro-batches, and step joins them.
everything = schedule.step(*([tokens] if rank == 0 else []), target=targets)
assert len(stage.output_chunks) == (4 if rank == 1 else 0)
if rank == 1:
    assert everything.shape[:2] == tokens.shape, everything.shape
# A stage holds a receive buffer per micro-batch, for hidden states or for their gradients.
received = stage.args_recv_info if rank == 1 else stage.grad_recv_info
buffers = [info.buffer for infos in received.values() for info in infos]
assert [tuple(buffer.shape) for buffer in buffers] == [hidden] * 4, buffers
assert len({buffer.data_ptr() for buffer in buffers}) == 4
dist.destroy_process_group()
