# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# ablation = { "return all_to_all_single_autograd(rows, to_receive, to_send, group)" = "return rows.clone()", "dist.all_to_all_single(arriving, leaving)" = "arriving.copy_(leaving)" }
# ///
"""Each rank holds a quarter of the experts; one all-to-all sends each token to the ranks of its experts, a second one brings the results back, as if each rank had all experts."""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed._functional_collectives import all_to_all_single_autograd
from torch.utils._python_dispatch import TorchDispatchMode

hidden, experts, top_k, tokens = 32, 8, 2, 64
torch.manual_seed(0)  # the same weights on each rank
router = nn.Linear(hidden, experts, bias=False)
every_expert = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(experts))

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    torch.cuda.set_device(dist.get_node_local_rank())
dist.init_process_group()
group, rank, ranks = dist.group.WORLD, dist.get_rank(), dist.get_world_size()
held = experts // ranks  # experts per rank
my_experts = every_expert[rank * held : (rank + 1) * held]


def exchange(rows, to_receive, to_send):
    """Send each rank its rows; both arguments are numbers of rows per rank."""
    return all_to_all_single_autograd(rows, to_receive, to_send, group)


def dispatch(rows, leaving):
    """Send rows to their experts' ranks; return those that arrive, and how many per expert."""
    arriving = torch.empty_like(leaving)  # (ranks, experts per rank)
    dist.all_to_all_single(arriving, leaving)
    sizes = arriving.sum(1).tolist(), leaving.sum(1).tolist()
    return exchange(rows, *sizes), arriving, sizes


def experts_layer(x):
    """Return the mixture's output; x has this rank's tokens."""
    weights, chosen = router(x).softmax(-1).topk(top_k)
    order = chosen.flatten().argsort(stable=True)  # by expert, so by rank
    leaving = chosen.flatten().bincount(minlength=experts).view(ranks, held)
    rows, arriving, sizes = dispatch(x[order // top_k], leaving)

    expert_of_row = torch.arange(held, device=x.device).repeat(ranks)
    expert_of_row = expert_of_row.repeat_interleave(arriving.flatten())
    out = torch.empty_like(rows)
    for number, expert in enumerate(my_experts):
        out[expert_of_row == number] = expert(rows[expert_of_row == number])

    back = out.new_empty(len(order), hidden)
    back[order] = exchange(out, sizes[1], sizes[0])  # combine: the same way back
    return (back.unflatten(0, (-1, top_k)) * weights[..., None]).sum(1)


# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes of rows that this rank sends to other ranks, and in all."""

    def __init__(self):
        super().__init__()
        self.sent, self.sent_away = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.name() == "_c10d_functional::all_to_all_single":
            rows, _, sizes = args[:3]
            self.sent.append(rows.nbytes)
            self.sent_away.append((len(rows) - sizes[rank]) * rows[:1].nbytes)
        return func(*args, **(kwargs or {}))


torch.manual_seed(1 + rank)  # other tokens on each rank
x = torch.randn(tokens, hidden, requires_grad=True)
reference_router, reference_experts = copy.deepcopy((router, every_expert))
with Payloads() as payloads:
    out = experts_layer(x)
    out.square().sum().backward()
dist.all_reduce(
    router.weight.grad
)  # the router and the dense layers are replicated

# The proof, on each rank: outputs and gradients are those of one process with all tokens and all
# experts, and t tokens with k experts each put t * k * h values into dispatch, and into its backward.
assert ranks == 4
assert len(my_experts) == 2
row_bytes = tokens * top_k * hidden * 4
assert len(payloads.sent) == 4, "not a dispatch and a combine, forward and backward"
assert payloads.sent[0] == row_bytes, payloads.sent
total = torch.tensor([sum(payloads.sent), sum(payloads.sent_away)])
dist.all_reduce(total)
assert total[0] == 4 * ranks * row_bytes, total
share = float(total[1] / total[0])
assert abs(share - (ranks - 1) / ranks) < 0.05, f"{share:.3f} left their rank"
if rank == 0:
    print(f"{share:.3f} of the rows left their rank; (N - 1) / N = 0.750")

everything = [torch.empty_like(x.detach()) for _ in range(ranks)]
dist.all_gather(everything, x.detach())
everything = torch.cat(everything).requires_grad_()
weights, chosen = reference_router(everything).softmax(-1).topk(top_k)
outputs = torch.stack([expert(everything) for expert in reference_experts], dim=1)
picked = outputs.gather(1, chosen[..., None].expand(-1, -1, hidden))
reference = (picked * weights[..., None]).sum(1)
reference.square().sum().backward()
assert torch.allclose(out, reference.chunk(ranks)[rank], atol=1e-5), (
    "the output differs"
)
assert torch.allclose(x.grad, everything.grad.chunk(ranks)[rank], atol=1e-5), (
    "the gradient of the tokens differs"
)
mine = reference_experts[rank * held : (rank + 1) * held]
pairs = [(router, reference_router), *zip(my_experts, mine, strict=True)]
for one, other in pairs:
    apart = (one.weight.grad - other.weight.grad).norm() / other.weight.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"
dist.destroy_process_group()
