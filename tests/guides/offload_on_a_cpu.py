"""The page's statements about torchao's CPUOffloadOptimizer hold, with its GPU calls replaced on a CPU."""

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
offload = pytest.importorskip("torchao.optim.cpu_offload")

SIZE, SMALL = (128, 64), (8,)  # torchao leaves tensors below 4,096 numbers on the GPU


@pytest.fixture(autouse=True)
def no_gpu_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace streams and pinned memory, so that each copy happens at once, in the order of the calls."""
    event = SimpleNamespace(synchronize=lambda: None)
    stream = SimpleNamespace(wait_stream=lambda _: None, record_event=lambda: event, synchronize=lambda: None)
    empty_like = torch.empty_like
    monkeypatch.setattr(offload, "get_available_devices", lambda: ["cpu", "cuda"])
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda *_: None)
    monkeypatch.setattr(
        torch, "empty_like", lambda tensor, **options: empty_like(tensor, **options | {"pin_memory": False})
    )


def trained(step: Callable, **options: object) -> list:
    """Return a large and a small weight after a step of SGD in CPU memory with a learning rate of 1."""
    weights = [torch.nn.Parameter(torch.zeros(size)) for size in (SIZE, SMALL)]
    optimizer = offload.CPUOffloadOptimizer(weights, torch.optim.SGD, lr=1.0, **options)
    step(weights)
    optimizer.step()
    return [weight.detach().flatten()[0].item() for weight in weights]


def backward(weights: list, gradient: float) -> None:
    """Add a gradient of this size to each number."""
    sum(gradient * weight.sum() for weight in weights).backward()


def clipped(weights: list) -> None:
    """Make a backward pass, and clip its gradients to zero."""
    backward(weights, 1.0)
    torch.nn.utils.clip_grad_norm_(weights, 0.0)


def accumulated(weights: list) -> None:
    """Make two backward passes."""
    backward(weights, 1.0)
    backward(weights, 2.0)


def test_one_backward_pass_takes_the_whole_step() -> None:
    assert trained(lambda weights: backward(weights, 1.0)) == [-1, -1]


def test_clipping_does_not_reach_weights_whose_gradients_were_copied() -> None:
    assert trained(clipped) == [-1, 0]


def test_clipping_does_not_see_gradients_that_are_offloaded() -> None:
    def norm(weights: list) -> None:
        backward(weights, 1.0)
        seen = torch.nn.utils.clip_grad_norm_(weights, 1e9)
        assert seen.item() == pytest.approx(8**0.5), "the norm is that of the small weight alone"

    assert trained(norm, offload_gradients=True) == [-1, -1]


def test_accumulation_works_without_offloaded_gradients() -> None:
    assert trained(accumulated) == [-3, -3]


def test_accumulation_loses_all_but_the_last_gradient_with_offloaded_gradients() -> None:
    assert trained(accumulated, offload_gradients=True) == [-2, -3]


def test_a_scheduler_changes_the_learning_rate_of_the_optimizers_in_cpu_memory() -> None:
    weight = torch.nn.Parameter(torch.zeros(SIZE))
    optimizer = offload.CPUOffloadOptimizer([weight], torch.optim.SGD, lr=1.0)
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 0.5)
    backward([weight], 1.0)
    optimizer.step()
    assert weight.unique().item() == -0.5


def test_weights_loaded_after_the_optimizer_was_made_are_overwritten() -> None:
    weight = torch.nn.Parameter(torch.zeros(SIZE))
    optimizer = offload.CPUOffloadOptimizer([weight], torch.optim.SGD, lr=1.0)
    weight.data.fill_(5.0)
    backward([weight], 1.0)
    optimizer.step()
    assert weight.unique().item() == -1


def test_gradients_cannot_be_zeroed_in_place() -> None:
    weights = [torch.nn.Parameter(torch.zeros(SIZE))]
    with pytest.raises(AssertionError):
        offload.CPUOffloadOptimizer(weights).zero_grad(set_to_none=False)
