"""Make the optimizers that a fake step can run, in the form that a GPU would choose."""

from collections.abc import Iterator
from typing import Any

import torch


def _adafactor(parameters: Any) -> torch.optim.Optimizer:
    from transformers.optimization import Adafactor  # noqa: PLC0415 - one optimizer of several

    return Adafactor(parameters, scale_parameter=False, relative_step=False, lr=1e-3)


_MADE: dict[str, Any] = {
    "adamw_torch": lambda p: torch.optim.AdamW(p, foreach=True),
    "adamw_torch_fused": lambda p: torch.optim.AdamW(p, fused=True),
    "adamw_torch_loop": lambda p: torch.optim.AdamW(p, foreach=False),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, foreach=True),
    "adafactor": _adafactor,
}


def make_optimizer(parameters: list[torch.nn.Parameter], name: str) -> torch.optim.Optimizer:
    """Return an optimizer by the name that transformers' ``optim`` has for it.

    Raises:
        ValueError: the optimizer's step reads values, so it cannot run under fake tensors; its states are counted in
            closed form.
    """
    if name not in _MADE:
        raise ValueError(f"optimizer: {name} cannot be traced, its step reads values; traced are {', '.join(_MADE)}")
    made: torch.optim.Optimizer = _MADE[name](parameters)
    return made


def state_tensors(optimizer: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of an optimizer's state."""
    for state in optimizer.state.values():
        yield from (value for value in state.values() if isinstance(value, torch.Tensor))
