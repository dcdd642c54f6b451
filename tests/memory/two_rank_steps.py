"""Measure training steps of tiny models on two gloo ranks: pipeline, context and expert parallelism.

The argument is a JSON list of cases. The output is a JSON list with the figures of both ranks for each case: bytes of
weights, gradients and optimizer states, and the peak of the second step. Each rank runs in a process of its own.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor import DTensor
from transformers import AttentionInterface, AutoConfig, AutoModelForCausalLM
from transformers.distributed import DistributedConfig
from transformers.models.llama.modeling_llama import eager_attention_forward

from headroom.execution.benchmark_run import MemoryMeter

RANKS = 2


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """Return AdamW without temporary tensors."""
    return torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)


class Stage(nn.Module):
    """Half of the layers of a Llama, with the embedding on the first stage and the LM head on the last."""

    def __init__(self, model: Any, rank: int) -> None:
        super().__init__()
        half = len(model.model.layers) // RANKS
        self.embedding = None if rank else model.model.embed_tokens
        self.layers = model.model.layers[half * rank : half * (rank + 1)]
        self.norm, self.head = (model.model.norm, model.lm_head) if rank else (None, None)
        self.rotary = model.model.rotary_emb

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return hidden states, or logits on the last stage."""
        if self.embedding is not None:
            x = self.embedding(x)
        positions = self.rotary(x, torch.arange(x.shape[1])[None])
        for layer in self.layers:
            x = layer(x, position_embeddings=positions)
        return x if self.head is None else self.head(self.norm(x))


def pipeline(case: dict[str, Any], rank: int) -> tuple[nn.Module, Callable[[], None], torch.optim.Optimizer]:
    """Return a stage of a Llama, and a step with the schedule 1F1B."""
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**case["config"]), attn_implementation="sdpa")
    stage, model_loss = Stage(model, rank), model.loss_function
    del model
    batch = torch.randint(case["config"]["vocab_size"], (case["micro_batches"] * case["batch"], case["length"]))

    def loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return model_loss(logits=logits, labels=labels, vocab_size=logits.shape[-1])

    schedule = Schedule1F1B(
        PipelineStage(stage, rank, RANKS, torch.device("cpu")), case["micro_batches"], loss_fn=loss, scale_grads=False
    )

    def step() -> None:
        if rank:
            schedule.step(target=batch, return_outputs=False)
        else:
            schedule.step(batch, return_outputs=False)

    return stage, step, adamw(stage)


class Exchange(torch.autograd.Function):
    """Split a dimension over the ranks and join another one; the backward pass does the reverse."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor, split: int, joined: int) -> torch.Tensor:
        """Exchange the parts; the call returns when both ranks have them."""
        context.dimensions = split, joined
        given = torch.stack(x.chunk(RANKS, split))
        found = torch.empty_like(given)
        users = given._use_count()
        dist.all_to_all_single(found, given)
        while given._use_count() > users:  # gloo's thread may hold both for a moment longer than the call
            time.sleep(0.001)
        return torch.cat([*found], joined)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        """Exchange the gradient."""
        split, joined = context.dimensions
        return Exchange.apply(gradient, joined, split), None, None


def ulysses(module: Any, q: Any, k: Any, v: Any, mask: Any, scaling: float = 1.0, **_: Any) -> Any:
    """Exchange heads for tokens around the eager attention of transformers, which holds its scores."""
    q, k, v = (Exchange.apply(x, 1, 2) for x in (q, k, v))
    out, _ = eager_attention_forward(module, q, k, v, mask, scaling)
    return Exchange.apply(out, 1, 2), None


def context(case: dict[str, Any], rank: int) -> tuple[nn.Module, Callable[[], None], torch.optim.Optimizer]:
    """Return a Llama that has half of the tokens, and its step."""
    AttentionInterface.register("ulysses", ulysses)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**case["config"]), attn_implementation="ulysses")
    tokens = torch.randint(case["config"]["vocab_size"], (case["batch"], case["length"]))
    mine = tokens.chunk(RANKS, 1)[rank].contiguous()
    places = torch.arange(case["length"])[None].chunk(RANKS, 1)[rank]

    def step() -> None:
        model(input_ids=mine, position_ids=places, labels=mine).loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)

    return model.train(), step, adamw(model)


class HalfOfTheExperts(nn.Module):
    """The experts of this rank, which get the tokens of both; every expert gets equally many."""

    def __init__(self, experts: Any, rank: int) -> None:
        super().__init__()
        self.total, held = experts.num_experts, experts.num_experts // RANKS
        for name in ("gate_up_proj", "down_proj"):
            part = getattr(experts, name).detach()[held * rank : held * (rank + 1)].clone()
            setattr(experts, name, nn.Parameter(part))
        experts.num_experts, self.experts = held, experts

    def forward(self, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Send the rows to their experts, and return their results, weighted."""
        held, top_k = self.experts.num_experts, chosen.shape[1]
        rows = Exchange.apply(x.repeat(top_k, 1), 0, 0)
        expert_of_row = torch.arange(held).repeat(RANKS).repeat_interleave(len(rows) // self.total)[:, None]
        out = self.experts(rows, expert_of_row, torch.ones_like(expert_of_row, dtype=x.dtype))
        back = Exchange.apply(out, 0, 0).view(top_k, *x.shape)
        return (back * weights.mT[..., None]).sum(0)


def expert(case: dict[str, Any], rank: int) -> tuple[nn.Module, Callable[[], None], torch.optim.Optimizer]:
    """Return a mixture that has half of the experts, and its step, whose gradients exist throughout."""
    config = AutoConfig.for_model(**case["config"])
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", experts_implementation="grouped_mm")
    for layer in model.model.layers:
        layer.mlp.experts = HalfOfTheExperts(layer.mlp.experts, rank)
    tokens = torch.randint(case["config"]["vocab_size"], (case["batch"], case["length"]))
    shared = [p for name, p in model.named_parameters() if ".experts." not in name]

    def step() -> None:
        model(input_ids=tokens, labels=tokens).loss.backward()
        for parameter in shared:
            dist.all_reduce(parameter.grad)

    return model.train(), step, adamw(model)


def expert_in_transformers(
    case: dict[str, Any], rank: int
) -> tuple[nn.Module, Callable[[], None], torch.optim.Optimizer]:
    """Return a mixture as transformers divides it: experts by expert parallelism, other weights by FSDP2."""
    folder = Path(case["folder"]) / "model"
    if rank == 0:
        AutoModelForCausalLM.from_config(AutoConfig.for_model(**case["config"])).save_pretrained(folder)
    dist.barrier()
    distributed = DistributedConfig(fsdp_size=RANKS, ep_size=RANKS)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, distributed_config=distributed)
    tokens = torch.randint(case["config"]["vocab_size"], (case["batch"], case["length"]))

    def step() -> None:
        model(input_ids=tokens, labels=tokens).loss.backward()

    return model.train(), step, adamw(model)


KINDS = {"pipeline": pipeline, "context": context, "expert": expert, "transformers": expert_in_transformers}


def own(tensor: torch.Tensor) -> torch.Tensor:
    """Return this rank's part of a tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def measured(case: dict[str, Any], rank: int) -> dict[str, float]:
    """Return the bytes of one rank."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS), "GLOO_SOCKET_IFNAME": "lo"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"file://{case['folder']}/store", rank=rank, world_size=RANKS)
    meter, found = MemoryMeter("cpu"), {}
    with meter:
        model, step, optimizer = KINDS[case["kind"]](case, rank)

        def train() -> None:
            step()
            found["gradients"] = sum(own(p.grad).nbytes for p in model.parameters())
            optimizer.step()
            optimizer.zero_grad(set_to_none=case["kind"] != "expert")

        train()
        with meter.measuring():
            train()
    states = [own(x) for state in optimizer.state.values() for x in state.values() if x.dim()]
    found |= {
        "weights": sum(own(p).nbytes for p in model.parameters()),
        "optimizer states": sum(x.nbytes for x in states),
    }
    return found | {"peak": meter.read()["peak_allocated"]}


def main(cases: list[dict[str, Any]]) -> list[list[dict[str, float]]]:
    """Return the figures of both ranks for each case."""
    out = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("fork").Pool(RANKS) as pool:
            runs = [pool.apply_async(measured, ({**case, "folder": folder}, rank)) for rank in range(RANKS)]
            out.append([run.get(timeout=300) for run in runs])
    return out


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(json.loads(sys.argv[1]))))  # gloo prints, too
