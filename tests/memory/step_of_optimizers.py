"""Run one step of each optimizer, and print as JSON what its states take and what the step allocates.

A test starts this script: torch is imported here only. Trained are an embedding, two matrices and a bias.
"""

import json
import sys
import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import Trainer, TrainingArguments


class Allocated(TorchDispatchMode):
    """Count the bytes of storages that operations make, except those known before."""

    def __init__(self, known: list[torch.Tensor]) -> None:
        super().__init__()
        self.known = {each.untyped_storage()._cdata for each in known}
        self.live: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(self, operation: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = operation(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and (storage := tensor.untyped_storage())._cdata not in self.known:
                if storage._cdata not in self.live:
                    weakref.finalize(storage, self.live.pop, storage._cdata, None)
                self.live[storage._cdata] = storage.nbytes()
        self.peak = max(self.peak, sum(self.live.values()))
        return result


class Net(torch.nn.Module):
    """The trained tensors, in the order of the test."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(1000, 256)
        self.up = torch.nn.Linear(256, 1024, bias=False)
        self.down = torch.nn.Linear(1024, 256)


def optimizer(net: Net, name: str) -> Any:
    """Return an optimizer: AdamW of torch in the form that the name says, or that of the Trainer."""
    if name in ("adamw_torch", "adamw_torch_loop"):  # on a GPU, the Trainer's adamw_torch is the foreach form
        return torch.optim.AdamW(net.parameters(), foreach=name == "adamw_torch")
    if name == "muon":
        return torch.optim.Muon([net.up.weight, net.down.weight])
    made = {"sgd_momentum": (torch.optim.SGD, {"momentum": 0.9}), "adafactor_torch": (torch.optim.Adafactor, {})}
    made |= {"adagrad": (torch.optim.Adagrad, {}), "rmsprop": (torch.optim.RMSprop, {})}
    if name in made:
        kind, options = made[name]
        return kind(net.parameters(), lr=1e-3, foreach=True, **options)
    arguments = TrainingArguments(output_dir=sys.argv[1], optim=name, use_cpu=True, report_to=[])
    trainer = Trainer(model=net, args=arguments)
    return trainer.create_optimizer()


def measured(name: str, dtype: torch.dtype) -> dict[str, int]:
    """Return the bytes of an optimizer's states and those that its second step allocates."""
    net = Net().to(dtype)
    used = optimizer(net, name)
    trained = [each for group in used.param_groups for each in group["params"]]
    if hasattr(used, "train"):
        used.train()
    for each in trained:
        each.grad = torch.randn_like(each)
    used.step()
    states = [
        value
        for state in used.state.values()
        for key, value in state.items()
        if isinstance(value, torch.Tensor) and value.numel() > 1 and not key.startswith("qmap")
    ]
    with Allocated([*trained, *(each.grad for each in trained), *states]) as allocated:
        used.step()
    return {"states": sum(each.numel() * each.element_size() for each in states), "step": allocated.peak}


types = {2: torch.bfloat16, 4: torch.float32}
found = {name: {width: measured(name, types[width]) for width in types} for name in sys.argv[2:]}
sys.stdout.write(json.dumps(found) + "\n")
